/** `gatepost link …` but for `qr` and `why`, which have files of their own. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addLink, addProvider, CODE, knock, OTHER_CODE } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink } from '../support/links.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

let line: CommandLine;
beforeAll(async () => {
  line = commandLine();
  await makeLink(line.dataDir, async ({ store }, { providerId }) => {
    await knock(store, 'phone');
    await knock(store, 'tablet');
    const id = await addLink(store, providerId, { installCode: OTHER_CODE, note: null });
    await store.updateInstall(providerId, id, { status: 5 }, ACT);
    const { id: other } = await addProvider(store, 'Provide2');
    await addLink(store, other, { installCode: 'LinkCode0003', note: 'a\u001b[2J' });
  });
});
afterAll(() => line.close());

const link = (...words: string[]) => line.run('link', ...words);

async function json(...words: string[]) {
  const { code, stdout, stderr } = await link(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

test('list has the links of all providers, by filters', async () => {
  const codes = async (...words: string[]) => {
    const listed: { install_code: string }[] = await json('list', ...words);
    return listed.map((row) => row.install_code);
  };
  expect(await codes()).toEqual(['LinkCode0003', OTHER_CODE, CODE]);
  expect(await codes('--provider', 'Provide1')).toEqual([OTHER_CODE, CODE]);
  expect(await codes('--full')).toEqual([CODE]);
  expect(await codes('--disabled')).toEqual([OTHER_CODE]);
  expect((await json('list', '--full'))[0]).toEqual({
    install_code: CODE,
    provider_code: 'Provide1',
    id: expect.any(Number),
    active: true,
    install_limit: 2,
    install_count: 2,
    note: 'note',
    created_at: TIME,
  });
});

test('list for people ends at a limit and says so', async () => {
  const { stdout, stderr } = await link('list', '--limit', '1');
  expect(stderr).toBe('1 of 3 links: --all or --limit shows more\n');
  const [heading = '', row = ''] = stdout.split('\n');
  expect(heading).toMatch(/^CODE +PROVIDER +STATE +HWIDS +LIMIT +CREATED +NOTE$/);
  expect(row).toMatch(/^LinkCode0003 +Provide2 +active +0 +2 +\S+ +a\\u001b\[2J$/);
});
