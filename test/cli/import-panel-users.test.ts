/** `gatepost import --panel`: which user is which customer, and which of them can be served. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { Maybe } from '../../src/core/port/maybe.ts';
import type { Store } from '../../src/core/port/store.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { openCore } from '../../src/parts/open-core.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { mysqlDump, type Row, writeSqlite } from '../support/panel-tables.ts';
import { makeUser, tablesOf, writePanel } from '../support/panel-world.ts';

let line: CommandLine;
let file: string;
let ends: (() => unknown)[];
beforeEach(async () => {
  line = commandLine();
  file = join(freshFolder(), 'panel');
  ends = [line.close];
  await line.run('provider', 'add', '--name', 'shop', '--code', 'MYSHOP01');
});
afterEach(async () => {
  for (const end of ends) await end();
});

const bring = (panel: string, ...more: string[]) =>
  line.run('import', file, '--panel', panel, '--code', 'MYSHOP01', ...more);
const summaryOf = async (panel: string, ...more: string[]) =>
  JSON.parse((await bring(panel, '--json', ...more)).stdout);

interface Listed {
  install_code: string;
  note: string;
  active: boolean;
}
const links = async (): Promise<Listed[]> =>
  JSON.parse((await line.run('link', 'list', '--json')).stdout);
const statesOf = async () =>
  Object.fromEntries((await links()).map(({ note, active }) => [note.split(' ')[0], active]));

/** Uses the store of the command line. */
async function withStore<T>(use: (store: Store, providerId: number) => Maybe<T>): Promise<T> {
  const { config } = loadConfig({ dataDir: line.dataDir }, { GATEPOST_CONFIG: 'none' });
  const { store } = await openCore(config, false);
  try {
    return await use(store, (await store.findProvider('MYSHOP01'))?.id ?? 0);
  } finally {
    await store.close();
  }
}

test('users that are disabled in the panel have active links, unless the operator chose otherwise', async () => {
  const user = (n: number, isDisabled: boolean) => ({ ...makeUser(n), isDisabled });
  writePanel('marzban', file, [user(0, true), user(1, false)]);
  const active = await bring('marzban');
  expect(active.stdout).toContain(
    '1 user disabled in the panel: their links stay active, because the panel itself refuses them\n',
  );
  expect(await statesOf()).toEqual({ user_0: true, user_1: true });

  const ended = await bring('marzban', '--disable-disabled');
  expect(ended.stdout).toContain('1 user disabled in the panel: their links are disabled\n');
  expect(await statesOf()).toEqual({ user_0: false, user_1: true });

  // As after an import by 0.17.0: the link stays as it is until the panel lets the user in.
  const kept = await bring('marzban', '--update');
  expect(kept.stdout).toContain(
    '1 link that an earlier import disabled: they stay disabled until the panel enables the user\n',
  );
  expect(kept.stdout).not.toContain('stay active');
  expect(await statesOf()).toEqual({ user_0: false, user_1: true });
  expect(await summaryOf('marzban')).toMatchObject({ links: { disabled_before: 1, updated: 0 } });
  writePanel('marzban', file, [user(0, false), user(1, false)]);
  expect(await summaryOf('marzban')).toMatchObject({ links: { updated: 1 } });
  expect(await statesOf()).toEqual({ user_0: true, user_1: true });
});

/** Writes the database of 3x-ui with a client for each sub id, whose name is its place. */
function writeXui(...subIds: string[]): void {
  writeSqlite(file, [
    {
      name: 'clients',
      definition: 'CREATE TABLE clients (email, sub_id, enable, limit_hwid)',
      rows: subIds.map((sub_id, n) => ({ email: `c${n}`, sub_id, enable: 1, limit_hwid: 2 })),
    },
  ]).close();
}
const keyHash = (key: string) => subscriptionKeyHash(key);

test('each sub id of 3x-ui is the key of a link, in its exact spelling', async () => {
  const odd = ['a!b', 'a(b)', "a'b", 'a*b', 'a,b', 'a;b', 'a&b', 'a$b', 'a%b', 'a%41b', 'a😀b'];
  writeXui(...odd, 'a+b', 'a@b', 'a#b', 'a?b', 'a=b');
  const { code, stderr } = await bring('3x-ui');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await links()).toHaveLength(odd.length + 5);
  for (const key of odd) {
    const found = await withStore((store, id) => store.findLinkByKey(id, keyHash(key)));
    expect(found?.installLimit).toBe(2);
  }
});

test('keys that are equal in NFKC are two links, and are named', async () => {
  writeXui('oddﬁ17', 'oddfi17', 'other');
  const { code, stdout } = await bring('3x-ui');
  expect(code).toBe(0);
  expect(stdout).toContain('(Unicode NFKC), which some apps and proxies make one:\n  c0, c1\n');
  expect(await links()).toHaveLength(3);
  expect((await summaryOf('3x-ui')).alike).toEqual([['c0', 'c1']]);
});

test('a link that an older import noted by the NFKC form is that of the user who has it', async () => {
  await withStore(async (store, providerId) => {
    const install = {
      id: null,
      installCode: 'OldImport001',
      installLimit: 2,
      status: 10,
      note: 'c0',
      createdAtMs: 1,
      slots: [],
      panelUser: `3x-ui:${keyHash('oddfi17')}`,
      terms: { ...NO_TERMS, subscriptionKeyHash: keyHash('oddfi17') },
    };
    await store.importLink(providerId, install, { installCountMax: 9, updates: false }, ACT);
  });
  writeXui('oddﬁ17');
  expect(await summaryOf('3x-ui')).toMatchObject({ links: { added: 0 }, gone: 0, alike: [] });
  const found = await withStore((store, id) => store.findLinkByKey(id, keyHash('oddﬁ17')));
  expect(found?.installCode).toBe('OldImport001');
  writeXui('oddﬁ17', 'oddfi17');
  expect(await summaryOf('3x-ui')).toMatchObject({ links: { added: 1, present: 1 }, gone: 0 });
});

test('users who cannot be served are listed with the true reason: exit code 3', async () => {
  writeXui('a/b', 'c\\d', 'x'.repeat(257), 'fine', '', '');
  const { code, stdout, stderr } = await bring('3x-ui');
  expect(code).toBe(3);
  const why = 'its subscription key must be 1 to 256 visible characters without / and \\';
  expect(stdout).toContain(
    `Users that cannot be served:\n  c0: ${why}\n  c1: ${why}\n  c2: ${why}\n`,
  );
  expect(stdout).toContain('1 user omitted: they have no subscription key');
  expect(stderr).toContain('3 users of the panel cannot be served: see the list');
  const again = await bring('3x-ui', '--json');
  expect(again.code).toBe(3);
  expect(JSON.parse(again.stdout).unserved).toEqual(
    ['c0', 'c1', 'c2'].map((user) => ({ user, why })),
  );
  expect(JSON.parse(again.stderr).error.code).toBe('users_not_served');
  expect(await links()).toHaveLength(1);

  // A client without a sub id has no subscription in the panel either.
  writeXui('fine', '');
  expect(await bring('3x-ui')).toMatchObject({ code: 0, stderr: '' });
});

test('a name that no token can have is named', async () => {
  const users = [{ ...makeUser(0), name: 'n'.repeat(129) }, makeUser(1)];
  writePanel('marzban', file, users);
  const { code, stdout } = await bring('marzban');
  expect(code).toBe(3);
  expect(stdout).toContain(`  ${'n'.repeat(129)}: its name must be 1 to 128 letters`);
});

test('a user that was made again is another customer: the old link ends', async () => {
  const many = Array.from({ length: 12 }, (_, n) => makeUser(n));
  writePanel('marzban', file, many);
  await bring('marzban');
  const old = (await links()).find(({ note }) => note === 'user_0');
  const again = (by: number) =>
    many.map((user, n) => (n === 0 ? { ...user, createdMs: user.createdMs + by } : user));

  // Databases round times.
  for (const by of [1_000, -86_400_000]) {
    writePanel('marzban', file, again(by));
    expect(await summaryOf('marzban')).toMatchObject({ links: { replaced: 0, added: 0 } });
  }
  writePanel('marzban', file, again(3_600_000));
  const check = await bring('marzban', '--check');
  expect(check.stdout).toContain('1 link ended: the panel made the user again');
  expect((await links()).map((one) => one.install_code)).toContain(old?.install_code ?? '');
  expect(await summaryOf('marzban')).toMatchObject({
    links: { replaced: 1, added: 1, removed_here: 0 },
    gone: 0,
  });
  const now = (await links()).find(({ note }) => note === 'user_0');
  expect(now?.install_code).not.toBe(old?.install_code ?? '');
  const facts = await withStore((store, id) => store.findPanelFacts(id, keyHash('marzban/user_0')));
  expect(facts?.panelCreatedAtMs).toBe(makeUser(0).createdMs + 3_600_000);
  expect(await summaryOf('marzban')).toMatchObject({ links: { replaced: 0, present: 12 } });
});

test('links of Hiddify that were known by a hash are known by the number, and follow a new UUID', async () => {
  const [user] = tablesOf.hiddify([makeUser(0)])[0]?.rows ?? [];
  const write = (more: Row) => {
    const [table] = tablesOf.hiddify([makeUser(0)]);
    if (table !== undefined)
      writeFileSync(file, mysqlDump([{ ...table, rows: [{ ...user, ...more }] }]));
  };
  const uuid = '0229b9dd-e6d7-46d9-9c6e-2daf24487acc';
  await withStore(async (store, providerId) => {
    const install = {
      id: null,
      installCode: 'OldImport001',
      installLimit: 100,
      status: 10,
      note: 'user_0',
      createdAtMs: 1,
      slots: [],
      panelUser: `hiddify:${keyHash(uuid)}`,
      terms: { ...NO_TERMS, subscriptionKeyHash: keyHash(uuid) },
    };
    await store.importLink(providerId, install, { installCountMax: 9, updates: false }, ACT);
  });
  const page = { afterUser: '', countMax: 9 };
  const users = () => withStore((store, id) => store.listPanelLinks(id, 'hiddify', page));
  write({ uuid: uuid.toUpperCase(), max_ips: 100 });
  expect(await summaryOf('hiddify', '--disable-gone')).toMatchObject({
    links: { added: 0 },
    gone: 0,
  });
  expect(await users()).toMatchObject([{ panelUser: 'hiddify:1', installCode: 'OldImport001' }]);
  write({ uuid: uuid.replace('0', '1'), max_ips: 100, start_date: '2026-11-01' });
  expect(await summaryOf('hiddify', '--disable-gone')).toMatchObject({
    links: { updated: 1 },
    gone: 0,
  });
  expect(await users()).toMatchObject([{ panelUser: 'hiddify:1', installCode: 'OldImport001' }]);
  expect(await links()).toHaveLength(1);
});

/** Answers as Marzban does: an admin who is not sudo sees the first users alone. */
function startMarzban(users: readonly { username: string }[], ofReseller: number): string {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      const username = request.headers.get('authorization')?.split(' ')[1] ?? '';
      if (pathname === '/api/admin')
        return Response.json({ username, is_sudo: username === 'root' });
      const seen = username === 'root' ? users : users.slice(0, ofReseller);
      return Response.json({ users: seen, total: seen.length });
    },
  });
  ends.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

test('a token that sees a part of the users ends no other links', async () => {
  const users = Array.from({ length: 30 }, (_, n) => ({
    username: `user_${n}`,
    status: 'active',
    note: '',
    created_at: '2026-01-01T00:00:00',
  }));
  const ask = async (by: string, url: string, ...more: string[]) => {
    const words = ['--panel', 'marzban', '--code', 'MYSHOP01', '--json', ...more];
    const key = line.secretFile(`${by}\n`);
    return line.run('import', '--from', url, '--key-file', key, '--rate', '1000', ...words);
  };
  const all = startMarzban(users, 4);
  expect(JSON.parse((await ask('root', all)).stdout)).toMatchObject({
    view: null,
    links: { added: 30 },
  });
  const part = JSON.parse((await ask('reseller', all, '--disable-gone')).stdout);
  expect(part).toMatchObject({ view: 'reseller', users: 4, gone: 0, out_of_view: 26 });
  expect(Object.values(await statesOf()).every(Boolean)).toBe(true);

  // One of the reseller's own is gone: the same view shows it.
  const fewer = startMarzban(users.slice(1), 3);
  const own = JSON.parse((await ask('reseller', fewer, '--disable-gone')).stdout);
  expect(own).toMatchObject({ gone: 1, out_of_view: 26, links: { updated: 1 } });
  expect((await statesOf())['user_0']).toBe(false);
  // The whole panel shows it too.
  expect(JSON.parse((await ask('root', fewer)).stdout)).toMatchObject({ gone: 1, out_of_view: 0 });
});

test('over a tenth of the links end by --yes alone', async () => {
  const users = Array.from({ length: 20 }, (_, n) => ({ ...makeUser(n), isDisabled: false }));
  writePanel('marzban', file, users);
  await bring('marzban');
  writePanel('marzban', file, users.slice(2));
  expect(await summaryOf('marzban', '--disable-gone', '--check')).toMatchObject({ gone: 2 });
  expect(await summaryOf('marzban', '--disable-gone')).toMatchObject({
    gone: 2,
    links: { updated: 2 },
  });
  writePanel('marzban', file, users.slice(5));
  // Those that were disabled before do not count.
  const { code, stdout, stderr } = await bring('marzban', '--disable-gone', '--json');
  expect({ code, stdout, stderr: JSON.parse(stderr).error }).toEqual({
    code: 1,
    stdout: '',
    stderr: {
      code: 'many_links',
      message:
        'nothing was stored: 3 of 20 links would end, because their users are not there (--yes agrees to it)',
    },
  });
  expect((await statesOf())['user_3']).toBe(true);
  expect(await summaryOf('marzban')).toMatchObject({ gone: 5, links: { updated: 0 } });
  const agreed = await summaryOf('marzban', '--disable-gone', '--yes');
  expect(agreed).toMatchObject({ gone: 5, links: { updated: 3 } });
  expect((await statesOf())['user_3']).toBe(false);

  const again = users.map((user) => ({ ...user, createdMs: user.createdMs + 9_000 }));
  writePanel('marzban', file, again.slice(5));
  const refused = await bring('marzban');
  expect(refused.stderr).toContain('15 of 20 links would end, because their users were made again');
  expect(await summaryOf('marzban', '--yes')).toMatchObject({ links: { replaced: 15, added: 15 } });
});
