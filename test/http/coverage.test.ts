/**
 * Every answer of every endpoint, provoked: what was so before, what was asked, the whole answer,
 * what changed in the database and, by comparing all of it, what did not.
 */

import { describe, expect, test } from 'bun:test';
import { WriteFailed } from '../../src/core/port/store.ts';
import { addProvider, type Credentials } from '../../src/core/provider.ts';
import { hashKey, keyFingerprint } from '../../src/core/secret.ts';
import { answersOf } from '../../src/http/endpoint.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { messages } from '../../src/http/messages.ts';
import { call, type Reply, startTestApp, type TestApp } from '../support/app.ts';
import { auditEntries, deedOf } from '../support/audit.ts';
import { Faults } from '../support/faults.ts';
import { answerAt, answerBreaches, answerSchemaAt } from '../support/openapi.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';
import { DEEDS } from './scenarios/deeds.ts';
import { deviceScenarios } from './scenarios/device.ts';
import { domainScenarios } from './scenarios/domain.ts';
import { hwidScenarios } from './scenarios/hwid.ts';
import { installScenarios } from './scenarios/install.ts';
import { installTermScenarios } from './scenarios/install-terms.ts';
import { messagingScenarios } from './scenarios/messaging.ts';
import { registerScenarios } from './scenarios/register.ts';
import { remoteScenarios } from './scenarios/remote.ts';
import { commandScenarios } from './scenarios/remote-command.ts';
import { formScenarios } from './scenarios/remote-form.ts';
import { notificationScenarios } from './scenarios/remote-notification.ts';
import { DRAWN_TOKEN, FOREIGN, OWN, posted, type Scenario } from './scenarios/scenario.ts';
import { SPEC_MESSAGES, SPEC_NOTICES } from './scenarios/spec-messages.ts';
import { statsScenarios } from './scenarios/stats.ts';
import { webhookScenarios } from './scenarios/webhook.ts';
import { deliveryScenariosOfWebhooks } from './scenarios/webhook-deliveries.ts';

const scenarios: readonly Scenario[] = [
  ...installScenarios,
  ...installTermScenarios,
  ...hwidScenarios,
  ...domainScenarios,
  ...deviceScenarios,
  ...notificationScenarios,
  ...formScenarios,
  ...commandScenarios,
  ...remoteScenarios,
  ...registerScenarios,
  ...messagingScenarios,
  ...statsScenarios,
  ...webhookScenarios,
  ...deliveryScenariosOfWebhooks,
];

/** Stands for what an error of ours may hold: paths, SQL, values. No client may ever see it. */
const SECRET = 'secret-of-the-fault';

/** What has tests of its own: the audit log, and counts that follow every change. */
const COUNTED = new RegExp(
  [
    '^audit ',
    '^appliance ',
    '^device \\d+ holder_count:',
    '^(provider_day|install_refusal) ',
    '^provider \\d+ (kept_bytes|ledger_count|send(s_from_ms|_count)|change(s_from_ms|_count)):',
  ].join('|'),
);

for (const { path } of endpoints) {
  describe(path, () => {
    for (const scenario of scenarios.filter((candidate) => candidate.path === path)) {
      test(`${scenario.says}: ${scenario.name}`, () => play(scenario));
      if (scenario.says !== 'ok') continue;
      // A store may answer at once or not: nothing that goes on without waiting may rely on it.
      test(`${scenario.name}, on a store that answers nothing at once`, () =>
        play({ ...scenario, options: { ...scenario.options, isSlow: true } }));
    }
  });
}

/** What every entry about a request says beside the deed. */
function whoAndWhen(app: TestApp, credentials: Credentials | null) {
  return {
    at: new Date(app.clock.nowMs()).toISOString(),
    who: 'provider',
    name: credentials?.code,
    key: keyFingerprint(hashKey(credentials?.authKey ?? '')),
    from: '127.0.0.1',
  };
}

async function play(scenario: Scenario): Promise<void> {
  const faults = new Faults();
  const app = await startTestApp(scenario.options ?? {}, faults.wrap);
  try {
    await settle(app, scenario);
    const before = await takeSnapshot(app);
    const noted = await auditEntries(app.core);
    const { fault, path, request, headers = {}, credentials = OWN } = scenario;
    if (fault) {
      const error = fault.kind === 'broken' ? new Error(SECRET) : new WriteFailed(SECRET);
      faults.arm(fault.method, error);
      app.expectFault(SECRET);
    }
    const init = { ...posted(scenario.body), headers };
    const reply = await call(app, path, credentials, request, init);

    expect(withoutRandomness(reply.text)).toBe(scenario.answer);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(hwidHeaders(reply.headers)).toEqual(scenario.answerHeaders ?? {});
    const changes = difference(before, await takeSnapshot(app));
    const told = changes.filter((line) => !COUNTED.test(line)).map(withoutRandomness);
    expect(told).toEqual([...(scenario.changed ?? [])]);
    const entries = (await auditEntries(app.core)).slice(noted.length);
    expect(entries.map(deedOf)).toEqual([...(DEEDS[path]?.[scenario.name] ?? [])]);
    for (const entry of entries) expect(entry).toMatchObject(whoAndWhen(app, credentials));
    expectDocumented(path, reply);
    const detail = reply.headers.get('x-error-detail');
    if (fault) {
      expectReported(app, scenario, detail ?? '');
    } else {
      expect(detail).toBe(scenario.detail ?? null);
      expect(app.logLines).toEqual([]);
    }
  } finally {
    await app.close();
  }
}

/** A text in which tokens and secrets that were drawn are all the same. */
function withoutRandomness(text: string): string {
  return text
    .replace(/"device_token":"[-_A-Za-z0-9]{43}"/, DRAWN_TOKEN)
    .replace(/wh(?:sec|pk)_[A-Za-z0-9+/]{43}=/g, '(drawn)');
}

/** The OpenAPI document has this answer, with these headers. */
function expectDocumented(path: string, { headers, json }: Reply): void {
  expect(answerBreaches(answerSchemaAt(path), json)).toEqual([]);
  const own = [...headers.keys()].filter((name) => name.startsWith('x-'));
  expect(Object.keys(answerAt(path).headers)).toEqual(expect.arrayContaining(own));
}

async function settle(app: TestApp, { given = [] }: Scenario): Promise<void> {
  for (const { code, authKey } of [OWN, FOREIGN]) {
    const draft = { name: code, plan: 'basic' as const, code, authKey };
    const rest = { activeUntilMs: null, installCountMax: null };
    await addProvider(app.core, { ...draft, ...rest }, app.clock.nowMs());
  }
  for (const step of given) await step(app);
}

/** The client learns an id and nothing else; under the same id the log has the reason. */
function expectReported(app: TestApp, scenario: Scenario, detail: string): void {
  const [, id = ''] =
    /internal fault ([0-9a-f]{8}-\d+), see the log of the server$/.exec(detail) ?? [];
  expect(detail).toBe(`${scenario.detail}${id}, see the log of the server`);
  expect(app.logLines).toHaveLength(1);
  const line = JSON.parse(app.logLines[0] ?? '');
  expect(line).toMatchObject({ level: 'error', event: 'fault', id, path: scenario.path });
  expect(line.reason).toContain(SECRET);
  expect(app.logLines[0]).not.toContain(OWN.authKey);
}

function hwidHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-hwid')));
}

describe('the table of scenarios', () => {
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
      // Tells of something again, and changes nothing that anybody set.
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
