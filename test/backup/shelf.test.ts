/** Scheduled backups: names, rotation, and one of several servers makes them. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPassphrase } from '../../src/backup/passphrase.ts';
import { yieldToOthers } from '../../src/backup/priority.ts';
import {
  addScheduledBackup,
  backupByChild,
  newestScheduled,
  type RunBackup,
} from '../../src/backup/shelf.ts';
import { makeLog } from '../../src/base/log.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import { startBackupJob } from '../../src/jobs/backup.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { freshFolder } from '../support/app.ts';
import { addProviders, verifyBackup } from '../support/backup.ts';
import { FakeClock } from '../support/clock.ts';
import { MAY_MOUNT, mountSmallDisk } from '../support/small-disk.ts';
import { ROOT } from '../support/tree.ts';

let dataDir: string;
let folder: string;
let clock: FakeClock;
beforeEach(() => {
  dataDir = freshFolder();
  folder = join(dataDir, 'backups');
  clock = new FakeClock();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const settings = () => ({
  dataDir,
  backupDirectory: '',
  backupKeep: 3,
  backupPassphrase: '',
  backupPassphraseFile: '',
});
const never = new AbortController().signal;
/** Writes what stands for a backup. */
const pretend: RunBackup = async (file) => {
  writeFileSync(file, 'backup');
  return { bytes: 6 };
};
const add = (run: RunBackup = pretend, more = {}) =>
  addScheduledBackup({ ...settings(), ...more }, clock.nowMs(), run, never);
const backups = () => readdirSync(folder).filter((name) => name.endsWith('.backup'));

async function days(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await add();
    clock.advance(86_400_000);
  }
}

test('the newest are kept, under the time of their making', async () => {
  await days(5);
  expect(backups().sort()).toEqual([
    'gatepost-20261122T120000Z.backup',
    'gatepost-20261123T120000Z.backup',
    'gatepost-20261124T120000Z.backup',
  ]);
});

test('other files in the directory stay, whatever they are called', async () => {
  const others = [
    'gatepost-20261120.backup',
    'mine.backup',
    'gatepost-20261101T000000Z.backup.old',
  ];
  mkdirSync(folder);
  for (const name of others) writeFileSync(join(folder, name), 'mine');
  await days(4);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(others));
});

test('one that fails deletes none of the old ones', async () => {
  await days(3);
  const before = backups();
  const failing = async () => {
    throw new OperatorError('no space left');
  };
  await expect(add(failing, { backupKeep: 1 })).rejects.toThrow('no space left');
  expect(backups()).toEqual(before);
});

test('a name from the future, of a clock that was wrong, does not push out the new one', async () => {
  mkdirSync(folder);
  const future = ['gatepost-20991231T000000Z.backup', 'gatepost-20991231T000001Z.backup'];
  for (const name of future) writeFileSync(join(folder, name), 'backup');
  const made = await add(pretend, { backupKeep: 1 });
  expect(backups()).toEqual(['gatepost-20261120T120000Z.backup']);
  expect(made?.removed.toSorted()).toEqual(future);
});

test('of two servers one makes it', async () => {
  let finish = () => {};
  const slow: RunBackup = (file) =>
    new Promise((resolve) => {
      finish = () => resolve(pretend(file, dataDir, null, never));
    });
  const first = add(slow);
  // The other one rings while it is being made, and once more just after.
  expect(await add()).toBeNull();
  finish();
  expect(await first).toMatchObject({ bytes: 6 });
  clock.advance(1_000);
  expect(await add()).toBeNull();
  expect(backups()).toHaveLength(1);
});

test('what a killed one left is cleared away', async () => {
  mkdirSync(folder);
  const left = '.gatepost-20261119T120000Z.backup.0123456789ab.copy';
  writeFileSync(join(folder, left), 'half');
  writeFileSync(join(folder, '.mine.copy'), 'mine');
  await add();
  expect(readdirSync(folder)).not.toContain(left);
  expect(readdirSync(folder)).toContain('.mine.copy');
});

test('the real thing, in a process of its own and encrypted', async () => {
  await addProviders(dataDir, 2);
  const program = [process.execPath, join(ROOT, 'src/main.ts')];
  const made = await add(backupByChild(program), { backupPassphrase: 'a secret of ours' });
  const manifest = await verifyBackup({
    dataDir,
    file: made?.file ?? '',
    passphrase: 'a secret of ours',
  });
  expect(manifest.rows['provider']).toBe(2);
  clock.advance(86_400_000);
  const stop = AbortSignal.abort();
  const run = backupByChild(program);
  await expect(addScheduledBackup(settings(), clock.nowMs(), run, stop)).rejects.toThrow(
    OperatorError,
  );
  expect(backups()).toHaveLength(1);
});

test('one that the system killed says so, and what it would have needed', async () => {
  const killed = backupByChild(['sh', '-c', 'kill -9 $$']);
  await expect(add(killed)).rejects.toThrow(
    'the backup process was killed, perhaps because memory is short: a backup takes',
  );
  const dumb = backupByChild(['sh', '-c', 'exit 3']);
  await expect(add(dumb)).rejects.toThrow('the backup process ended with 3');
});

test('the process that makes it is the first to go when memory is short, from its start', async () => {
  const isFirst = '[ "$(cat /proc/$$/oom_score_adj)" = 1000 ]';
  const waiting = backupByChild(['sh', '-c', `until ${isFirst}; do :; done; exit 3`]);
  await expect(add(waiting)).rejects.toThrow('the backup process ended with 3');
});

test('a system that does not let it give way is no reason to make none', () => {
  // A process that is not there is refused like one under a unit that forbids it.
  expect(() => yieldToOthers(2 ** 30)).not.toThrow();
});

test('the newest is known from its folder alone', async () => {
  expect(newestScheduled(settings())).toBeNull();
  await days(2);
  expect(newestScheduled(settings())).toMatchObject({
    file: join(folder, backups().sort().at(-1) ?? ''),
    bytes: 6,
  });
  expect(newestScheduled(settings())?.atMs).toBe(clock.nowMs() - 86_400_000);
  expect(backups()).toHaveLength(2);
});

test.skipIf(!MAY_MOUNT)('a folder on a disk that is read-only', async () => {
  const disk = mountSmallDisk(1);
  if (disk === null) throw new Error('the disk could not be mounted');
  try {
    for (const backupDirectory of [disk.folder, join(disk.folder, 'new')]) {
      disk.makeReadOnly();
      const said = await add(pretend, { backupDirectory }).catch((fault) => fault);
      expect(said).toMatchObject({
        message: `the disk of ${backupDirectory} is read-only for this process: nothing was changed`,
        code: 'disk_read_only',
      });
    }
  } finally {
    disk.unmount();
  }
});

test('the reason of a backup in another process is its sentence, with its code', async () => {
  const run = backupByChild([process.execPath, join(ROOT, 'src/main.ts')]);
  const file = join(folder, 'none', 'x.backup');
  const said = await run(file, dataDir, null, never).catch((fault) => fault);
  expect(said).toBeInstanceOf(OperatorError);
  expect([said.message, said.code]).toEqual([
    `the directory ${join(folder, 'none')} does not exist`,
    'failed',
  ]);
});

test('the job logs each backup, and notes the last success and failure', async () => {
  const lines: string[] = [];
  const log = makeLog({ logFormat: 'human', logLevel: 'info' }, clock.nowMs, (line) =>
    lines.push(line),
  );
  const at = { backupAt: '' };
  const lying = { file: 'y.backup', atMs: clock.nowMs() - 1, bytes: 5 };
  let isFull = false;
  let isElsewhere = false;
  let notedCount = 0;
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1 });
  const noted = async () => (await store.listUpkeep())[0];
  const job = await startBackupJob({
    settings: at,
    store,
    newest: () => lying,
    make: async () => {
      clock.advance(1_500);
      if (isFull) throw new OperatorError('no space left', 'disk_full');
      if (isElsewhere) return null;
      return { file: 'x.backup', bytes: 6, removed: [] };
    },
    onNoted: async () => void notedCount++,
    onMade: () => undefined,
    clock,
    log,
  });
  try {
    expect(job.nextMs()).toBeNull();
    // Made before the start.
    const { file, ...before } = lying;
    expect((await noted())?.success).toEqual({ ...before, result: file, tookMs: null });
    at.backupAt = '30 3 * * *';
    await job.reschedule();
    expect(await noted()).toMatchObject({ schedule: '30 3 * * *', scheduledAtMs: clock.nowMs() });
    expect(new Date(job.nextMs() ?? 0).toISOString()).toEndWith('T03:30:00.000Z');
    expect(await job.run()).toBeNull();
    expect((await noted())?.success).toMatchObject({ result: 'x.backup', bytes: 6, tookMs: 1_500 });
    isFull = true;
    expect(await job.run()).toBe('no space left');
    expect((await noted())?.failure).toMatchObject({ reason: 'no space left', code: 'disk_full' });
    expect(lines.join('')).toContain('info backup_made file=x.backup bytes=6 took_ms=1500');
    expect(lines.join('')).toContain('error backup_failed reason="no space left"');
    // Another process makes the next one.
    [isFull, isElsewhere] = [false, true];
    Object.assign(lying, { file: 'z.backup', atMs: clock.nowMs() });
    await job.run();
    expect(await noted()).toMatchObject({ success: { result: 'z.backup' }, isFailing: false });
    // A backup that the stop aborts is no failure that the operator must know.
    isFull = true;
    notedCount = 0;
    const running = job.run();
    await job.stop();
    await running;
    expect(notedCount).toBe(0);
    expect(await noted()).toMatchObject({ isFailing: false });
  } finally {
    await job.stop();
    await store.close();
  }
});

test('the passphrase in a file overrides the one in the settings', () => {
  const backupPassphraseFile = join(dataDir, 'passphrase');
  writeFileSync(backupPassphraseFile, 'from the file\nsecond line\n', { mode: 0o600 });
  const both = { backupPassphrase: 'from the setting', backupPassphraseFile };
  expect(readPassphrase(undefined, both)).toBe('from the file');
  expect(readPassphrase(undefined, { ...both, backupPassphraseFile: '' })).toBe('from the setting');
});
