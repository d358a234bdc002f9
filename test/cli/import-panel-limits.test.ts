/** `gatepost import --panel`: the limits of links whose users have none. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from '../support/app.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { mysqlDump, pgDump, writeSqlite } from '../support/panel-tables.ts';
import { makeUser, tablesOf, type WorldUser } from '../support/panel-world.ts';

let line: CommandLine;
let file: string;
beforeEach(async () => {
  line = commandLine();
  file = join(freshFolder(), 'panel');
  await line.run('provider', 'add', '--name', 'shop', '--code', 'MYSHOP01');
});
afterEach(() => line.close());

const bring = (panel: string, ...more: string[]) =>
  line.run('import', file, '--panel', panel, '--code', 'MYSHOP01', ...more);
const summaryOf = async (panel: string, ...more: string[]) =>
  JSON.parse((await bring(panel, '--json', ...more)).stdout);
const limits = async () => {
  const { stdout } = await line.run('link', 'list', '--json');
  const links: { install_limit: number; note: string }[] = JSON.parse(stdout);
  return Object.fromEntries(
    links.map(({ note, install_limit }) => [note.split(' ')[0], install_limit]),
  );
};

/** Writes a dump of Hiddify with users of these limits: `user_0`, `user_1` and so on. */
function writeHiddify(...maxIps: number[]): void {
  const users = maxIps.map((limit, n): WorldUser => ({ ...makeUser(n), limit, isDisabled: false }));
  writeFileSync(file, mysqlDump(tablesOf.hiddify(users)));
}

const MOSTLY =
  'WARNING: most links have the limit 100, which stops no device: choose one by --unlimited-as 3 --apply-to-existing.';

test('the default limit of Hiddify is none; the summary counts links by limit, and warns', async () => {
  writeHiddify(100, 100, 5, 1000);
  const check = await bring('hiddify', '--check');
  expect(check.stdout).toContain('Limits that the links would have: 1 link: 5; 3 links: 100.\n');
  expect(check.stdout).toContain(MOSTLY);
  const chosen = await bring('hiddify', '--check', '--unlimited-as', '3');
  expect(chosen.stdout).toContain('Limits that the links would have: 3 links: 3; 1 link: 5.\n');
  expect(chosen.stdout).not.toContain('WARNING');
  expect(await summaryOf('hiddify', '--unlimited-as', '3')).toMatchObject({
    links: { added: 4, limits: { 3: 3, 5: 1 }, mostly_unlimited: false },
    without_limit: { users: 3, as: 3 },
  });
  expect(await limits()).toEqual({ user_0: 3, user_1: 3, user_2: 5, user_3: 3 });
});

test('without the option the upstream of the panel decides, by its provider and its panel', async () => {
  writeHiddify(100);
  const upstream = (host: string, provider: string, more: string) => `
[[gate.upstream]]
host = "${host}"
url = "http://127.0.0.1:1"
provider = "${provider}"
key_path = ["/x/{key}"]
default_limit = 1
${more}
`;
  const config = join(freshFolder(), 'gatepost.toml');
  writeFileSync(
    config,
    [
      upstream('a.example.org', 'OTHER001', 'panel = "hiddify"\nunlimited_as = 7'),
      upstream('b.example.org', 'MYSHOP01', 'panel = "marzban"\nunlimited_as = 8'),
      upstream('c.example.org', 'MYSHOP01', 'panel = "hiddify"\nunlimited_as = 4'),
    ].join(''),
  );
  expect(await summaryOf('hiddify', '--check')).toMatchObject({ without_limit: { as: 100 } });
  const own = await summaryOf('hiddify', '--check', '--config', config);
  expect(own).toMatchObject({ without_limit: { as: 4 }, links: { limits: { 4: 1 } } });
  const given = await summaryOf('hiddify', '--check', '--config', config, '--unlimited-as', '9');
  expect(given).toMatchObject({ without_limit: { as: 9 } });
});

test('existing links go down when that is wanted, as devices leave: not edited ones', async () => {
  const users = [1, 2, 3, 4].map((n) => ({ ...makeUser(n), limit: n === 4 ? 50 : 0 }));
  // Remnawave has devices: users 1, 2 and 3 have as many.
  const write = () => writeFileSync(file, pgDumpOf(users));
  write();
  expect(await summaryOf('remnawave')).toMatchObject({ links: { limits: { 50: 1, 100: 3 } } });
  const links = JSON.parse((await line.run('link', 'list', '--json')).stdout);
  const codeOf = (name: string) =>
    links.find(({ note }: { note: string }) => note.startsWith(name)).install_code;
  await line.run('link', 'set', codeOf('user_1'), '--limit', '60');

  const without = await summaryOf('remnawave', '--unlimited-as', '2');
  expect(without).toMatchObject({ links: { updated: 0 }, without_limit: { lowered: 0, kept: 3 } });
  expect(await limits()).toEqual({ user_1: 60, user_2: 100, user_3: 100, user_4: 50 });

  const words = ['--unlimited-as', '2', '--apply-to-existing'];
  const check = await bring('remnawave', '--check', ...words);
  expect(check.stdout).toContain('Limits that the links would have: 2 links: 2; 1 link: 50;');
  expect(check.stdout).toContain(
    '2 links whose user has no limit: lowered to 2, as their devices leave',
  );
  expect(await limits()).toMatchObject({ user_2: 100 });
  expect(await summaryOf('remnawave', ...words)).toMatchObject({
    links: { updated: 2, limits: { 2: 2, 50: 1, 60: 1 } },
    without_limit: { lowered: 2, kept: 1 },
  });
  expect(await limits()).toEqual({ user_1: 60, user_2: 2, user_3: 3, user_4: 50 });
  // Again: nothing is left to lower, and nothing goes up.
  expect(await summaryOf('remnawave', ...words)).toMatchObject({
    links: { updated: 0 },
    without_limit: { lowered: 0, kept: 3 },
  });
  expect(await summaryOf('remnawave', '--unlimited-as', '9', '--apply-to-existing')).toMatchObject({
    links: { updated: 0 },
    without_limit: { lowered: 0 },
  });
  expect(await limits()).toEqual({ user_1: 60, user_2: 2, user_3: 3, user_4: 50 });
});

const pgDumpOf = (users: readonly WorldUser[]) => pgDump(tablesOf.remnawave(users));

test('a limit of skip applies to no link', async () => {
  writeHiddify(100);
  const refused = await bring('hiddify', '--unlimited-as', 'skip', '--apply-to-existing');
  expect({ code: refused.code, stderr: refused.stderr }).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('--apply-to-existing needs a limit');
});

test('users that Hiddify has marked as deleted are none', async () => {
  writeSqlite(file, [
    {
      name: 'user',
      definition: 'CREATE TABLE user (id, uuid, name, enable, max_ips, deleted, deleted_at)',
      rows: [
        [1, 0, null],
        [2, 1, null],
        [3, 0, '2026-01-02 03:04:05'],
        [4, 0, '0000-00-00 00:00:00'],
      ].map(([id, deleted, at]) => ({
        id,
        uuid: `key-${id}`,
        name: `user_${id}`,
        enable: 1,
        max_ips: 2,
        deleted,
        deleted_at: at ?? null,
      })) as never,
    },
  ]).close();
  expect(await summaryOf('hiddify')).toMatchObject({ users: 2, links: { added: 2 } });
  expect(await limits()).toEqual({ user_1: 2, user_4: 2 });
});
