/**
 * The disk of the data turned read-only, as the system makes of one that has faults, or is full: a
 * backup to another disk is what one wants then. Needs root, who may mount a small disk.
 */

import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, freshFolder } from '../support/app.ts';
import { addProviderByCommand, cleanUp, run, startServe } from '../support/process.ts';
import { MAY_MOUNT, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const testIf = test.skipIf(!MAY_MOUNT);

let disk: SmallDisk;
let dataDir: string;
let folder: string;
beforeEach(() => {
  if (!MAY_MOUNT) return;
  disk = mountSmallDisk(24) as SmallDisk;
  dataDir = join(disk.folder, 'data');
  folder = freshFolder();
});
afterEach(() => {
  disk?.unmount();
  if (MAY_MOUNT) rmSync(folder, { recursive: true, force: true });
});
afterAll(cleanUp);

/** Backups of both kinds to another disk hold `rows`, verified wherever they lie. */
async function expectBackups(rows: Record<string, number>): Promise<void> {
  const secret = join(folder, 'passphrase');
  writeFileSync(secret, 'secret\n', { mode: 0o600 });
  const before = readdirSync(dataDir);
  for (const options of [[], ['--passphrase-file', secret]]) {
    const file = join(folder, `${options.length}.backup`);
    const made = await run(['backup', file, '--data', dataDir, '--json', ...options]);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(made.stdout).rows).toMatchObject(rows);
    const words = ['restore', file, '--verify', '--data', dataDir, '--json', ...options];
    const verified = await run(words);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(verified.stdout).rows).toMatchObject(rows);
    const elsewhere = join(folder, `${options.length}`);
    const restored = await run(['restore', file, '--data', elsewhere, ...options]);
    expect(restored).toMatchObject({ code: 0, stderr: '' });
  }
  expect(readdirSync(dataDir)).toEqual(before);
  const left = readdirSync(folder).filter((name) => name.startsWith('.'));
  expect(left).toEqual([]);
}

testIf('read-only: backups are made and verified, also of one that lies there', async () => {
  await addProviderByCommand(dataDir);
  const there = join(disk.folder, 'there.backup');
  expect(await run(['backup', there, '--data', dataDir])).toMatchObject({ code: 0 });
  disk.makeReadOnly();
  await expectBackups({ provider: 1 });
  const verified = await run(['restore', there, '--verify', '--data', dataDir]);
  expect(verified).toMatchObject({ code: 0, stderr: '' });
  for (const words of [
    ['backup', join(disk.folder, 'two.backup')],
    ['restore', there, '--force'],
  ]) {
    const { code, stderr } = await run([...words, '--data', dataDir]);
    expect(code).toBe(1);
    // One sentence, and no stack.
    expect(stderr).toMatch(/^gatepost: [^\n]*read-only[^\n]*\n$/);
  }
});

testIf('read-only with a log that was not worked off, as after a kill', async () => {
  const credentials = await addProviderByCommand(dataDir);
  const server = await startServe({ dataDir });
  const added = await call(server, '/api/add-install', credentials, { install_limit: 2 });
  expect(added.json.rc).toBe(1);
  await server.stop('SIGKILL');
  expect(readdirSync(dataDir)).toContain('gatepost.db-wal');
  disk.makeReadOnly();
  await expectBackups({ provider: 1, install: 1 });
});

testIf('full, beside a server: the same', async () => {
  await addProviderByCommand(dataDir);
  const server = await startServe({ dataDir });
  disk.fill();
  await expectBackups({ provider: 1 });
  await server.stop();
});

testIf('no place at all to unpack to: a sentence that names what is needed', async () => {
  await addProviderByCommand(dataDir);
  const file = join(folder, 'one.backup');
  expect(await run(['backup', file, '--data', dataDir])).toMatchObject({ code: 0 });
  const there = join(disk.folder, 'one.backup');
  copyFileSync(file, there);
  disk.fill(1024 ** 2);
  const env = { TMPDIR: disk.folder };
  const { code, stderr } = await run(['restore', there, '--verify', '--data', dataDir], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^gatepost: no space left on the disk of [^\n]+ 1 MiB are needed\n$/);
});
