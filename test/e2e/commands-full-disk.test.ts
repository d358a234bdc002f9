/**
 * Every command while the disk of the data is full: it works, or ends in one sentence. Beside a
 * server as well, where the database can be opened and only writes fail. Needs root, who may mount
 * a small disk.
 */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/program.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { knock } from '../store/contract/fixture.ts';
import { registration, send } from '../store/contract/message-fixture.ts';
import { runHere } from '../support/command-line.ts';
import { noPostgres } from '../support/postgres.ts';
import { bareDatabase, freshDatabase } from '../support/postgres-data.ts';
import { run } from '../support/process.ts';
import { MAY_MOUNT, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { useProcesses } from '../support/use-processes.ts';

const testIf = test.skipIf(!MAY_MOUNT);
useProcesses();

const CODE = 'Provide1';
const LINK = 'LinkCode0001';

let disk: SmallDisk;
let dataDir: string;
/** A file on the full disk, beside those that commands read. */
let at: (name: string) => string;

const here = (...words: string[]) => runHere([...words, '--data', dataDir]);

beforeEach(async () => {
  if (!MAY_MOUNT) return;
  disk = mountSmallDisk(24) as SmallDisk;
  dataDir = join(disk.folder, 'data');
  at = (name) => join(disk.folder, name);
  for (const words of [
    ['provider', 'add', '--name', 'n', '--code', CODE],
    ['domain', 'add', 'example.com'],
    ['link', 'add', '--code', LINK, '--limit', '3'],
    ['webhook', 'add', '--url', 'http://127.0.0.1:1/'],
    ['backup', at('good.backup')],
  ]) {
    expect(await here(...words)).toMatchObject({ code: 0 });
  }
  writeFileSync(at('links.csv'), 'key,limit\na-key,3\n');
  writeFileSync(at('settings.json'), '{"sniffing":"true"}');
  const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1 });
  await store.registerDevice(registration('phone', {}));
  await knock(store, 'phone');
  await send(store, 1);
  await store.close();
});
afterEach(() => disk?.unmount());

/** The words of each argument and required option, by its name. */
const GIVEN: Readonly<Record<string, string>> = {
  code: CODE,
  host: 'b.example.com',
  domain: 'example.com',
  link: LINK,
  hwid: 'phone',
  id: '1',
  bot: '1',
  reminder: '1',
  name: 'anna',
  gateway: 'fcm',
  url: 'http://127.0.0.1:1/',
};

/** Further words, and other ones for files. */
const MORE: Readonly<Record<string, () => string[]>> = {
  'provider set': () => ['--name', 'other'],
  'provider remove': () => ['--yes'],
  'link add': () => ['--count', '600'],
  'link import': () => [at('links.csv')],
  'link set': () => [LINK, '--limit', '4'],
  'link enable': () => [LINK],
  'link disable': () => [LINK],
  'link free': () => [LINK, 'phone'],
  'link name': () => [LINK, 'tablet'],
  'reminder add': () => ['traffic', '80', '--text', 'en=Hi'],
  'reminder set': () => ['--enabled', 'yes'],
  'bot add': () => ['example.com', '--name', 'anna'],
  'link tie': () => ['--all'],
  'link untie': () => ['--all'],
  'link revoke': () => ['--yes'],
  'link remove': () => [LINK, '--yes'],
  'link qr': () => [LINK, '--url', 'https://example.com/sub', '--out', at('codes')],
  'device forget': () => ['--yes'],
  forget: () => ['--yes'],
  notify: () => ['--hwid', 'phone', '--body', 'x'],
  'command update-subscription': () => ['--hwid', 'phone'],
  'command import-data': () => ['--hwid', 'phone', '--value', 'x'],
  'command set-settings': () => ['--hwid', 'phone', '--file', at('settings.json')],
  'command sub-change': () => ['--hwid', 'phone', '--value', 'b.example.com'],
  'webhook add': () => ['--url', 'https://other.example.com/'],
  'webhook set': () => ['--enable'],
  'webhook replay': () => ['--event', '1'],
  'webhook remove': () => ['--yes'],
  'audit export': () => [at('audit.jsonl')],
  backup: () => [at('other.backup')],
  restore: () => [at('good.backup'), '--force'],
  'move-database': () => ['--to', 'postgres://gatepost@127.0.0.1:1/gatepost'],
  import: () => [at('links.csv'), '--panel', 'marzban', '--code', CODE],
  export: () => [CODE, at('export.jsonl')],
};

/** Commands that run until they are stopped, or talk to another server alone. */
const LASTING = ['serve', 'demo', 'device simulate', 'device check', 'conformance'];

interface Named {
  path: string;
  command: Command;
}

function leavesOf(command: Command, path: readonly string[] = []): Named[] {
  if (command.commands.length === 0) return [{ path: path.join(' '), command }];
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}

/** The value of an option; none of a switch. */
const given = (name: string) => (GIVEN[name] === undefined ? [] : [GIVEN[name]]);

function wordsOf({ path, command }: Named): string[] {
  const more = MORE[path]?.() ?? [];
  const hasOwn = more.length > 0 && !more[0]?.startsWith('--');
  const names = command.registeredArguments.filter(({ required }) => required && !hasOwn);
  const options = command.options.filter(
    ({ mandatory, long }) => mandatory && !more.includes(long ?? ''),
  );
  return [
    ...path.split(' '),
    ...names.map((argument) => GIVEN[argument.name()] ?? argument.name()),
    ...options.flatMap((option) => [option.long ?? '', ...given(option.attributeName())]),
    ...more,
  ];
}

testIf.each([
  ['alone', false],
  ['beside a server', true],
])('all commands end in a sentence: %s', async (_, isBeside) => {
  const store = isBeside
    ? await openSqliteStore({ dataDir, create: false, commitBatchMax: 1 })
    : null;
  const program = buildProgram({ stdout: () => undefined, stderr: () => undefined } as never);
  disk.fill();
  const wrong: string[] = [];
  for (const leaf of leavesOf(program)) {
    if (LASTING.includes(leaf.path)) continue;
    const { code, stderr } = await here(...wordsOf(leaf));
    const isSentence = /^(?:[^\n]+\n)*gatepost: \S[^\n]*\n$/.test(stderr);
    if (code === 2 || (code !== 0 && !isSentence) || /\n {4}at |internal fault/.test(stderr)) {
      wrong.push(`${code} ${wordsOf(leaf).join(' ')}: ${stderr}`);
    }
    // What was begun is taken back.
    for (const file of ['other.backup', 'export.jsonl', 'audit.jsonl']) {
      if (existsSync(at(file))) wrong.push(`${leaf.path} left ${file}`);
    }
  }
  expect(wrong).toEqual([]);
  await store?.close();
});

testIf('a move from a full disk, or back to it: one sentence, and the data stay', async () => {
  if (noPostgres !== null) return;
  const database = await freshDatabase();
  const file = at('gatepost.toml');
  writeFileSync(file, `[database]\nurl = "${database.url}"\n`, { mode: 0o600 });
  const full = /^(?:[^\n]*\n)*gatepost: no space left on the disk of [^\n]+\n$/;
  try {
    const target = await bareDatabase();
    disk.fill();
    const there = await run(['move-database', '--to', target.url, '--data', dataDir]);
    expect(there).toMatchObject({ code: 1, stderr: expect.stringMatching(full) });
    await target.drop();
    disk.clear();
    const elsewhere = at('elsewhere');
    const back = ['move-database', '--to', 'sqlite', '--config', file, '--data', elsewhere];
    for (const leftBytes of [0, 64 * 1024, 256 * 1024]) {
      disk.fill(leftBytes);
      const { code, stderr } = await run(back);
      expect([leftBytes, code, stderr]).toEqual([leftBytes, 1, expect.stringMatching(full)]);
    }
    disk.clear();
    expect(await run(back)).toMatchObject({ code: 0 });
  } finally {
    await database.drop();
  }
});
