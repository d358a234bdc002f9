/** The table of scenarios: every answer of every endpoint has one. */

import { describe, expect, test } from 'bun:test';
import { answersOf } from '../../../src/http/endpoint.ts';
import { endpoints } from '../../../src/http/endpoints/index.ts';
import { messages } from '../../../src/http/messages.ts';
import { isThere } from '../../support/tree.ts';
import { DEEDS } from '../scenarios/deeds.ts';
import { scenarios } from '../scenarios/index.ts';
import { FILES } from '../scenarios/play.ts';
import { SPEC_MESSAGES, SPEC_NOTICES } from '../scenarios/spec-messages.ts';

describe('the table of scenarios', () => {
  test('every endpoint is in one file, and every file is there', () => {
    const counts = endpoints.map(({ path }) => ({
      path,
      count: Object.values(FILES).filter((pattern) => pattern.test(path)).length,
    }));
    expect(counts.filter(({ count }) => count !== 1)).toEqual([]);
    const files = Object.keys(FILES).map((file) => `test/http/coverage/${file}.test.ts`);
    expect(files.filter((file) => !isThere(file))).toEqual([]);
  });

  test('every scenario belongs to an endpoint and says what its answer is', () => {
    for (const { answer, name, path, says } of scenarios) {
      const endpoint = endpoints.find((candidate) => candidate.path === path);
      expect({ name, answers: endpoint && answersOf(endpoint) }).toEqual({
        name,
        answers: expect.arrayContaining([says]),
      });
      const { rc, msg } = messages[says];
      expect(JSON.parse(answer)).toMatchObject({ rc, msg });
    }
  });

  test('every answer of every endpoint is provoked', () => {
    const provoked = new Set(scenarios.map(({ path, says }) => `${path} ${says}`));
    const all = endpoints.flatMap((endpoint) =>
      answersOf(endpoint).map((says) => `${endpoint.path} ${says}`),
    );
    expect(all.filter((answer) => !provoked.has(answer))).toEqual([]);
  });

  test('"Unknown error" is also provoked by a fault of ours, everywhere', () => {
    const broken = new Set(scenarios.filter(({ fault }) => fault).map(({ path }) => path));
    expect(endpoints.map(({ path }) => path).filter((path) => !broken.has(path))).toEqual([]);
  });

  test('no endpoint for providers changes anything without a deed in the audit log', () => {
    const silent = scenarios.filter(({ path, name, changed = [] }) => {
      const isForProviders = endpoints.some((e) => e.path === path && e.audience === 'provider');
      // Reports something again, and changes nothing that was set.
      if (path === '/api/webhook-replay') return false;
      return isForProviders && changed.length > 0 && !DEEDS[path]?.[name]?.length;
    });
    expect(silent.map(({ path, name }) => `${path} ${name}`)).toEqual([]);
    const named = Object.entries(DEEDS).flatMap(([path, deeds]) =>
      Object.keys(deeds).map((name) => `${path} ${name}`),
    );
    const known = new Set(scenarios.map(({ path, name }) => `${path} ${name}`));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test('every text of the specification is reached, and no other is said', () => {
    const said: Record<string, string[]> = {};
    for (const path of Object.keys(SPEC_MESSAGES)) {
      const own = scenarios.filter((scenario) => scenario.path === path);
      said[path] = [...new Set(own.map(({ answer }) => JSON.parse(answer).msg as string))].sort();
    }
    const specified = Object.entries(SPEC_MESSAGES).map(([path, texts]) => [
      path,
      ['Ok', ...(SPEC_NOTICES[path] ?? []), ...texts].sort(),
    ]);
    expect(said).toEqual(Object.fromEntries(specified));
  });

  test('the specification has a row for every endpoint for providers', () => {
    const forProviders = endpoints.filter(({ audience }) => audience === 'provider');
    expect(Object.keys(SPEC_MESSAGES).sort()).toEqual(forProviders.map(({ path }) => path).sort());
  });
});
