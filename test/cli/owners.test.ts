/** Lists without a provider have the records of all, and say whose each is. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { commandTree } from '../../packaging/command-tree.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { hashKey } from '../../src/core/secret.ts';
import { HASH, knock } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openData } from '../support/links.ts';

const OPERATOR = null;
const CODES = ['Provide1', 'Provide2'];

/** The owners of the records that each list of this program must show. */
const OWNERS: Readonly<Record<string, readonly (string | null)[]>> = {
  'account list': [OPERATOR, ...CODES],
  'distribution list': CODES,
  'domain list': CODES,
  'link list': CODES,
  'provider list': CODES,
  'bot list': CODES,
  'reminder list': CODES,
  'webhook list': [OPERATOR, ...CODES],
};
/** Lists of what has no single owner, or names it in another way. */
const WITHOUT = [
  'audit list',
  'cuts list',
  'device list',
  'follow list',
  'gateway list',
  'node list',
];

let line: CommandLine;
const done = async (...words: string[]) => {
  const { code, stdout, stderr } = await line.run(...words);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  return stdout;
};

async function addDevice(hwid: string, link: string): Promise<void> {
  const { store } = await openData(line.dataDir);
  await knock(store, hwid, link);
  await store.close();
}

async function addMembersAndBots(): Promise<void> {
  const { store } = await openData(line.dataDir);
  for (const [n, code] of [null, ...CODES].entries()) {
    const provider = code === null ? null : await store.findProvider(code);
    const role = code === null ? ('operator' as const) : ('owner' as const);
    const grant = { providerId: provider?.id ?? null, role };
    const draft = { name: `member${n}`, grant, countMax: 9, createdAtMs: 1, invitation: null };
    expect(await store.addAccount(draft, ACT)).toMatchObject({ grant });
    if (provider == null) continue;
    const host = `sub${n}.example.com`;
    const secretHash = hashKey(host);
    const bot = { providerId: provider.id, host, name: 'bot', secretHash, createdAtMs: 1 };
    await store.addBot({ ...bot, countMax: 1 }, ACT);
  }
  await store.close();
}

beforeAll(async () => {
  line = commandLine();
  for (const [n, code] of CODES.entries()) {
    await done('provider', 'add', '--name', `Shop ${n}`, '--code', code, '--plan', 'enterprise');
    const of = ['--provider', code];
    await done('domain', 'add', HASH, '--name', `sub${n}.example.com`, ...of);
    await done('webhook', 'add', '--url', `https://bot${n}.example.com/hook`, ...of);
    const { install_code: link } = JSON.parse(await done('link', 'add', ...of, '--json'));
    await addDevice(`phone${n}`, link);
    await done('reminder', 'add', 'traffic', '80%', '--text', 'en=Hi', ...of);
    await done('notify', '--all', '--body', 'x', ...of);
  }
  await done('webhook', 'add', '--url', 'https://own.example.com/hook');
  await addMembersAndBots();
});
afterAll(() => line.close());

test('every list of the program is known here', () => {
  const tree = commandTree(buildProgram({} as Parameters<typeof buildProgram>[0]));
  const lists = tree.map(({ path }) => path.join(' ')).filter((path) => path.endsWith(' list'));
  expect(lists.sort()).toEqual([...Object.keys(OWNERS), ...WITHOUT].sort());
});

test.each(Object.entries(OWNERS))('%s', async (words, owners) => {
  const shown = JSON.parse(await done(...words.split(' '), '--json'));
  const found = shown.map((row: { provider_code: string | null }) => row.provider_code);
  expect(new Set(found)).toEqual(new Set(owners));
  const text = await done(...words.split(' '));
  for (const owner of owners) expect(text).toContain(owner ?? 'operator');
});

test.each(Object.keys(OWNERS).filter((words) => words !== 'provider list'))(
  '%s of one provider',
  async (words) => {
    const list = [...words.split(' '), '--provider', 'Provide2', '--json'];
    expect(JSON.parse(await done(...list))).toMatchObject([{ provider_code: 'Provide2' }]);
  },
);

test.each([...Object.keys(OWNERS), 'device list'].filter((words) => words !== 'provider list'))(
  '%s of a provider that does not exist',
  async (words) => {
    const { code, stderr } = await line.run(...words.split(' '), '--provider', 'Provide9');
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is no provider 'Provide9'"),
    });
  },
);

test('domains of all providers are one list, the newest first, with its bound', async () => {
  const { stdout, stderr } = await line.run('domain', 'list', '--limit', '1', '--json');
  expect(JSON.parse(stdout)).toMatchObject([{ domain_name: 'sub1.example.com' }]);
  expect(stderr).toBe('the first 1 domain: --all or --limit shows more\n');
});

test('an owner without records is no line', async () => {
  await done('webhook', 'remove', '1', '--yes');
  const shown = JSON.parse(await done('webhook', 'list', '--json'));
  expect(shown.map(({ id }: { id: number }) => id)).toEqual([3, 2]);
});
