/** `gatepost link free`, `revoke` and `remove`. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { addLink, CODE, knock } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink } from '../support/links.ts';

let line: CommandLine;
let answers: (string | null)[];
beforeEach(async () => {
  answers = [];
  line = commandLine({ answers });
  await makeLink(line.dataDir, async ({ store }, { providerId, installId }) => {
    const key = { subscriptionKeyHash: subscriptionKeyHash('panel-key') };
    await store.updateLink(providerId, installId, key, ACT);
    await knock(store, 'phone');
    await knock(store, 'tablet');
    await addLink(store, providerId, { installCode: 'Spring000001', note: 'spring 1' });
    await addLink(store, providerId, { installCode: 'Spring000002', note: 'spring 2' });
  });
});
afterEach(() => line.close());

const link = (...words: string[]) => line.run('link', ...words);

async function json(...words: string[]) {
  const { code, stdout } = await link(...words, '--json');
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

const hwids = async () => {
  const { slots }: { slots: { hwid: string }[] } = await json('show', CODE);
  return slots.map(({ hwid }) => hwid);
};

test('free: one slot without a question, all of them after one', async () => {
  expect((await link('free', CODE, 'phone')).stdout).toBe(`1 slot freed on ${CODE}\n`);
  expect((await link('free', CODE, 'phone')).stdout).toBe(`phone has no slot on ${CODE}\n`);
  expect(await hwids()).toEqual(['tablet']);
  answers.push('n', 'y');
  expect((await link('free', CODE, '--all')).code).toBe(1);
  expect(await hwids()).toEqual(['tablet']);
  expect(await json('free', CODE, '--all')).toEqual({
    install_code: CODE,
    freed: 1,
    done: 'freed',
  });
  expect(line.questions).toEqual(
    Array(2).fill(`Free all slots of ${CODE} (note) with 1 HWID? [y/N] `),
  );
  for (const words of [[CODE], [CODE, 'phone', '--all']]) {
    expect((await link('free', ...words, '--yes')).code).toBe(2);
  }
});

test('free: a part of a note is asked about', async () => {
  answers.push('');
  expect((await link('free', 'note', 'phone')).code).toBe(1);
  expect(line.questions).toEqual([`Free the slot of phone of ${CODE} (note) with 2 HWIDs? [y/N] `]);
  expect(await hwids()).toEqual(['tablet', 'phone']);
});

test('revoke: another code, no key, and what to do at the panel', async () => {
  answers.push('no');
  expect((await link('revoke', CODE)).code).toBe(1);
  const { code, stdout, stderr } = await link('revoke', 'key:panel-key', '--yes');
  expect(code).toBe(0);
  const said = /^LinkCode0001 revoked, 2 slots freed; the code is (\w{12})\n$/.exec(stdout);
  expect(stderr).toContain('change the key at the panel too');
  expect((await link('show', CODE)).code).toBe(1);
  expect(await json('show', said?.[1] ?? '')).toMatchObject({
    install_count: 0,
    has_subscription_key: false,
    note: 'note',
  });
  const again = await json('revoke', 'spring 1', '--yes');
  expect(again).toMatchObject({ old_install_code: 'Spring000001', had_subscription_key: false });
});

test('remove: one, and many by a filter, after a question', async () => {
  answers.push(null, 'y', 'y');
  expect((await link('remove', CODE)).code).toBe(1);
  expect((await link('remove', CODE)).stdout).toBe(`${CODE} removed\n`);
  expect(line.questions[1]).toBe(`Remove ${CODE} (note) with 2 HWIDs? [y/N] `);
  const { stdout, stderr } = await link('remove', '--search', 'spring');
  expect(stdout).toBe('2 links removed\n');
  expect(stderr).toMatch(/Spring000002.*\n.*Spring000001/);
  expect(await json('list')).toEqual([]);
  const audit = await line.run('audit', 'list', '--limit', '1', '--json');
  expect(JSON.parse(audit.stdout)).toMatchObject([{ action: 'install.remove', who: 'operator' }]);
});

test('remove: an import does not bring a link back, by its code nor by its key', async () => {
  await json('remove', CODE, '--yes');
  const file = join(line.dataDir, '..', 'links.csv');
  writeFileSync(file, `code,key\n${CODE},\n,panel-key\n`);
  for (const more of [['--check'], []]) {
    const { stdout } = await link('import', file, ...more);
    expect(stdout.split('\n').slice(1, -1)).toEqual([
      'line 2: install_code is that of a link that was removed or revoked',
      'line 3: subscription_key is that of a link that was removed or revoked',
    ]);
  }
});
