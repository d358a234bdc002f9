/** `gatepost link enable --disabled-by-import`, and `link free --since`. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { addProvider, CODE, FACTS, knock, NOW_MS } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink, openData } from '../support/links.ts';

let line: CommandLine;
let answers: (string | null)[];
beforeEach(async () => {
  answers = [];
  line = commandLine({ answers });
  await makeLink(line.dataDir, async ({ store }, { providerId }) => {
    await knock(store, 'phone');
    const { id: other } = await addProvider(store, 'Provide2');
    const users = [
      [providerId, 'anna', 5],
      [providerId, 'boris', 5],
      [providerId, 'clara', 10],
      [other, 'dmitri', 5],
    ] as const;
    for (const [of, name, status] of users) {
      const user = {
        id: null,
        installCode: codeOf(name),
        installLimit: 3,
        status,
        note: name,
        createdAtMs: NOW_MS - 99,
        panelUser: `marzban:${name}`,
        slots: [],
        terms: { ...NO_TERMS, subscriptionKeyHash: subscriptionKeyHash(`marzban/${name}`) },
      };
      await store.importLink(of, user, { installCountMax: 100, updates: false }, ACT);
    }
  });
});
afterEach(() => line.close());

const codeOf = (name: string) => name.padStart(12, '0');
const link = (...words: string[]) => line.run('link', ...words);
const BY_IMPORT = ['enable', '--disabled-by-import'];

async function disabled(): Promise<string[]> {
  const { stdout } = await link('list', '--disabled', '--json');
  return JSON.parse(stdout).map(({ note }: { note: string }) => note);
}

test('the links are listed, and none changes until it is given, or --all', async () => {
  const { code, stdout, stderr } = await link(...BY_IMPORT);
  expect(code).toBe(0);
  for (const name of ['anna', 'boris', 'dmitri']) expect(stdout).toContain(codeOf(name));
  expect(stdout).not.toContain(codeOf('clara'));
  expect(stderr).toBe(
    '3 links that an import disabled; nothing was changed: give a link, or --all to enable them\n',
  );
  const listed = await link(...BY_IMPORT, '--provider', 'Provide2', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { install_code: codeOf('dmitri'), provider_code: 'Provide2', active: false },
  ]);
  expect(listed.stderr).toBe('');
  expect(await disabled()).toEqual(['dmitri', 'boris', 'anna']);
});

test('one is enabled by its name; one that no import disabled is refused', async () => {
  expect((await link(...BY_IMPORT, codeOf('anna'))).stdout).toBe(`${codeOf('anna')} enabled\n`);
  expect(await disabled()).toEqual(['dmitri', 'boris']);
  const again = await link(...BY_IMPORT, codeOf('anna'));
  expect([again.code, again.stderr]).toEqual([
    1,
    `gatepost: ${codeOf('anna')}: no import disabled it, or its state was changed since\n`,
  ]);
  expect((await link(...BY_IMPORT, codeOf('boris'), '--all')).code).toBe(2);
});

test('--all enables those of the filter after a question, and no other', async () => {
  await link('disable', CODE);
  answers.push('n', 'y');
  expect((await link(...BY_IMPORT, '--all', '--provider', 'Provide1')).code).toBe(1);
  expect(await disabled()).toHaveLength(4);
  const { stdout } = await link(...BY_IMPORT, '--all', '--provider', 'Provide1');
  expect(stdout).toBe('2 links enabled\n');
  expect(line.questions).toEqual(Array(2).fill('Enable 2 links? [y/N] '));
  expect(await disabled()).toEqual(['dmitri', 'note']);
  expect((await link(...BY_IMPORT, '--provider', 'Provide1')).stdout).toBe(
    'No import disabled a link.\n',
  );
});

test('free --since: the slots since a time, listed first', async () => {
  const later = NOW_MS + 3_600_000;
  const { store } = await openData(line.dataDir);
  await knock(store, 'thief', CODE, FACTS, later);
  await store.close();
  const since = ['--since', new Date(later).toISOString()];
  const rehearsed = await link('free', CODE, ...since, '--dry-run', '--json');
  expect(JSON.parse(rehearsed.stdout)).toMatchObject({
    install_code: CODE,
    freed: 0,
    done: 'listed',
    slots: [{ hwid: 'thief' }],
  });
  answers.push('n', 'y');
  expect((await link('free', CODE, ...since)).code).toBe(1);
  const { stdout, stderr } = await link('free', CODE, ...since);
  expect(stdout).toBe(`1 slot freed on ${CODE}\n`);
  expect(stderr).toContain('thief');
  expect(line.questions).toEqual(Array(2).fill(`Free 1 slot on ${CODE}? [y/N] `));
  const { slots } = JSON.parse((await link('show', CODE, '--json')).stdout);
  expect(slots).toMatchObject([{ hwid: 'phone' }]);
  expect((await link('free', CODE, ...since)).stdout).toBe('No slot was taken since then.\n');
  for (const words of [
    ['phone', ...since],
    ['--all', ...since],
    ['--all', '--dry-run'],
  ]) {
    expect((await link('free', CODE, ...words)).code).toBe(2);
  }
});
