/** `gatepost import --panel`: its options, its summary and its refusals. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from '../support/app.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { pgInserts } from '../support/panel-tables.ts';
import { makeUser, tablesOf, writePanel } from '../support/panel-world.ts';

let line: CommandLine;
let file: string;
beforeEach(async () => {
  line = commandLine();
  file = join(freshFolder(), 'panel');
  await line.run('provider', 'add', '--name', 'shop', '--code', 'MYSHOP01');
});
afterEach(() => line.close());

const bring = (...more: string[]) =>
  line.run('import', file, '--panel', 'marzban', '--code', 'MYSHOP01', ...more);
const summaryOf = async (...more: string[]) => JSON.parse((await bring('--json', ...more)).stdout);
const limits = async () => {
  const { stdout } = await line.run('link', 'list', '--json');
  return JSON.parse(stdout).map((link: { install_limit: number }) => link.install_limit);
};

test('a check stores nothing and says what would come', async () => {
  writePanel('marzban', file, [0, 1, 4].map(makeUser));
  const { code, stdout } = await bring('--check', '--unlimited-as', '2');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `3 users, 1 of them disabled, and 0 devices in the panel.
Limits that the links would have: 3 links: 2.
1 user disabled in the panel: their links stay active, because the panel itself refuses them
3 users without a limit, or above 100: their links get 2
1 link corrected: long or multi-line notes, times in the future
Marzban stores neither limits nor devices: each device takes a slot when it first comes.

Nothing was stored: run the command without --check.
`,
  });
  expect(await limits()).toEqual([]);
});

test('users without a limit get the one of the command, and keep it', async () => {
  writePanel('marzban', file, [0, 1].map(makeUser));
  expect(await summaryOf('--unlimited-as', 'skip')).toMatchObject({
    links: { added: 0 },
    without_limit: { users: 2, as: null, left_out: 2 },
  });
  expect((await summaryOf('--unlimited-as', '2')).links.added).toBe(2);
  expect(await limits()).toEqual([2, 2]);
  expect(await summaryOf('--unlimited-as', '5')).toMatchObject({
    links: { present: 2, updated: 0 },
    without_limit: { kept: 2 },
  });
  expect(await limits()).toEqual([2, 2]);
});

test('users that are gone are counted, disabled when that is wanted, and come back', async () => {
  const users = [0, 1, 2].map(makeUser);
  writePanel('marzban', file, users);
  await bring();
  writePanel('marzban', file, users.slice(1));
  expect(await summaryOf()).toMatchObject({ gone: 1, links: { present: 2, updated: 0 } });
  const ending = ['--disable-gone', '--yes'];
  expect(await summaryOf(...ending)).toMatchObject({ gone: 1, links: { updated: 1 } });
  expect(await summaryOf('--disable-gone')).toMatchObject({
    gone: 1,
    links: { present: 2, updated: 0 },
  });
  writePanel('marzban', file, users);
  expect(await summaryOf()).toMatchObject({ gone: 0, links: { present: 2, updated: 1 } });
});

test('panels of a kind with labels leave each other alone', async () => {
  writePanel('marzban', file, [makeUser(0)]);
  await bring('--label', 'de');
  writePanel('marzban', file, [makeUser(1)]);
  expect(await summaryOf('--label', 'fr', '--disable-gone')).toMatchObject({ gone: 0 });
  expect(await limits()).toHaveLength(2);
});

test('users whose key can be none are named', async () => {
  const users = [{ ...makeUser(0), name: 'a/b' }, makeUser(1), makeUser(1)];
  writeFileSync(file, pgInserts(tablesOf.marzban(users)));
  const { links, unusable, problems } = await summaryOf();
  expect({ added: links.added, unusable }).toEqual({ added: 1, unusable: 2 });
  expect(problems[0]).toContain('user a/b: its name must be 1 to 128 letters');
  expect(problems[1]).toBe('user user_1: the panel lists it twice');
});

test('by the API, with a token in a file', async () => {
  const users = [{ email: 'e', subId: 's1', enable: true, limitHwid: 4, comment: '' }];
  const panel = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ headers, url }) =>
      headers.get('authorization') === 'Bearer my-token' && url.includes('/secret/panel/api/')
        ? Response.json({ success: true, obj: users })
        : new Response('', { status: 404 }),
  });
  const from = ['--from', `http://127.0.0.1:${panel.port}/secret`];
  const words = ['import', ...from, '--panel', '3x-ui', '--code', 'MYSHOP01'];
  const token = line.secretFile('my-token\n');
  const { code, stdout, stderr } = await line.run(...words, '--key-file', token);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('The API of 3x-ui has no devices');
  expect(await limits()).toEqual([4]);
  const none = await line.run(...words);
  expect({ code: none.code, stderr: none.stderr }).toMatchObject({ code: 2 });
  expect(none.stderr).toContain('--key-file is needed');
  await panel.stop(true);
});

test('by the API behind an access gateway, whose headers go to no other host', async () => {
  const users = [{ email: 'e', subId: 's1', enable: true, limitHwid: 4, comment: '' }];
  const seen: (string | null)[] = [];
  const other = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ headers }) => {
      seen.push(headers.get('cf-access-client-secret'));
      return Response.json({ success: true, obj: users });
    },
  });
  let leads = false;
  const panel = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ headers }) => {
      if (leads) return Response.redirect(`${other.url}`, 307);
      const isLetIn = headers.get('cf-access-client-secret') === 'PLANTED';
      const isBearer = headers.get('authorization') === 'Bearer my-token';
      if (!isLetIn || !isBearer) return new Response('sign in', { status: 403 });
      return Response.json({ success: true, obj: users });
    },
  });
  const from = ['--from', panel.url.origin, '--panel', '3x-ui', '--code', 'MYSHOP01'];
  const words = ['import', ...from, '--key-file', line.secretFile('my-token\n')];
  expect((await line.run(...words)).code).toBe(1);
  const headers = line.secretFile('CF-Access-Client-Secret: PLANTED\nAuthorization: Basic x\n');
  expect(await line.run(...words, '--headers-file', headers)).toMatchObject({
    code: 0,
    stderr: '',
  });
  expect(await limits()).toEqual([4]);
  leads = true;
  const led = await line.run(...words, '--headers-file', headers);
  expect([led.code, seen]).toEqual([1, []]);
  const wrong = await line.run(...words, '--headers-file', line.secretFile('PLANTED\n'));
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('is not 1 to 16 lines NAME: VALUE');
  expect(`${led.stdout}${led.stderr}${wrong.stderr}`).not.toContain('PLANTED');
  await Promise.all([panel.stop(true), other.stop(true)]);
});

test.each([
  [['--panel', 'marzban'], 2, '--code is needed'],
  [['--panel', 'other', '--code', 'MYSHOP01'], 2, '--panel is one of remnawave, 3x-ui'],
  [['--panel', 'marzban', '--code', 'NOBODY01'], 1, 'no provider NOBODY01'],
  [['--panel', 'marzban', '--code', 'MYSHOP01', '--name', 'x'], 2, '--name has no effect'],
  [['--panel', 'marzban', '--code', 'MYSHOP01', '--unlimited-as', '0'], 2, 'neither skip nor'],
  [
    ['--panel', 'marzban', '--code', 'MYSHOP01', '--label', 'a:b'],
    2,
    'is not a name of 1 to 32 letters',
  ],
  [['--check'], 2, '--check needs --panel'],
])('refuses %p', async (words, code, message) => {
  writePanel('marzban', file, [makeUser(0)]);
  const refused = await line.run('import', file, ...words);
  expect({ code: refused.code, stderr: refused.stderr }).toMatchObject({ code });
  expect(refused.stderr).toContain(message);
  expect(await limits()).toEqual([]);
});
