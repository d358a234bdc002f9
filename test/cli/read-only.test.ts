/** A disk that has turned read-only, as a system makes of one with faults: what can be read is. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { MAY_MOUNT, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

describe.skipIf(!MAY_MOUNT)('on a disk that takes no writes', () => {
  let disk: SmallDisk;
  let line: CommandLine;
  beforeEach(async () => {
    disk = mountSmallDisk(32) as SmallDisk;
    line = commandLine({ dataDir: join(disk.folder, 'data') });
    const added = await line.run('provider', 'add', '--name', 'Shop', '--code', 'Provide1');
    expect(added.stderr).toBe('');
  });
  afterEach(() => {
    line.close();
    disk.unmount();
  });

  const READ = [
    'provider list',
    'provider show Provide1',
    'link list',
    'device list',
    'distribution list',
    'audit list',
    'audit verify',
    'export Provide1',
    'config',
  ];

  test.each(READ)('%s works', async (words) => {
    disk.makeReadOnly();
    const before = readdirSync(line.dataDir);
    const { code, stdout, stderr } = await line.run(...words.split(' '));
    expect(stderr).not.toContain('gatepost:');
    expect(code).toBe(0);
    if (words.startsWith('provider')) expect(stdout).toContain('Shop');
    expect(readdirSync(line.dataDir)).toEqual(before);
  });

  test('also what a server that was killed has left in the log alone', async () => {
    // A disk with a file that is open for writing cannot be turned here: the files are copied.
    const other = commandLine();
    await other.run('provider', 'add', '--name', 'Shop', '--code', 'Provide1');
    const store = await openSqliteStore({
      dataDir: other.dataDir,
      create: true,
      commitBatchMax: 1,
    });
    expect((await other.run('provider', 'set', 'Provide1', '--name', 'Store')).code).toBe(0);
    rmSync(line.dataDir, { recursive: true });
    cpSync(other.dataDir, line.dataDir, { recursive: true });
    await store.close();
    other.close();
    chmodSync(line.dataDir, 0o700);
    expect(readdirSync(line.dataDir)).toContain('gatepost.db-wal');
    disk.makeReadOnly();
    for (const words of [
      ['provider', 'list'],
      ['export', 'Provide1'],
    ]) {
      expect((await line.run(...words)).stdout).toContain('Store');
    }
  });

  const WRITE = [
    'provider add --name Other',
    'provider set Provide1 --name Other',
    'provider suspend Provide1',
    'provider rotate-key Provide1',
    'provider remove Provide1 --yes',
    'device forget unknown --yes',
  ];

  test.each(WRITE)('%s is refused in a sentence', async (words) => {
    disk.makeReadOnly();
    const { code, stdout, stderr } = await line.run(...words.split(' '));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^gatepost: [^\n]+\n$/);
  });

  test('a directory without a database is reported as one', async () => {
    mkdirSync(join(disk.folder, 'empty'), { mode: 0o700 });
    disk.makeReadOnly();
    const empty = commandLine({ dataDir: join(disk.folder, 'empty') });
    const { stderr } = await empty.run('provider', 'list');
    expect(stderr).toContain('there is no Gatepost database in');
    empty.close();
  });
});
