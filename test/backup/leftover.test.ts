/** Files in the making: whatever kills their maker, no clear text lies about, and nothing stays. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '../../src/disk/lock.ts';
import { removeLeftovers, Scratch } from '../../src/disk/scratch.ts';
import { freshFolder } from '../support/app.ts';
import { addProviders, makeBackup, NOW_MS } from '../support/backup.ts';
import { openBeside } from '../support/database.ts';
import { plainEnv, startServe } from '../support/process.ts';
import { scaleOf } from '../support/scale.ts';
import { ROOT } from '../support/tree.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let folder: string;
let dataDir: string;
beforeEach(() => {
  folder = freshFolder();
  dataDir = join(folder, 'data');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const none = () => false;
const list = (path: string) => readdirSync(path).sort();

/** Enough rows for each step to take a while, which do not compress. */
async function addData(): Promise<void> {
  await addProviders(dataDir, 1);
  const db = openBeside(dataDir);
  db.run(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO install (provider_id, install_code, install_limit, status, note, created_at_ms)
    SELECT 1, printf('seed%08d', i), 3, 10, hex(randomblob(120)), 0 FROM n`);
  db.close();
}

/** Starts a command from source with a passphrase on its standard input. */
function start(...words: string[]) {
  const program = [process.execPath, join(ROOT, 'src/main.ts')];
  return Bun.spawn([...program, ...words, '--data', dataDir, '--passphrase-file', '-'], {
    stdin: Buffer.from('secret\n'),
    stdout: 'ignore',
    stderr: 'pipe',
    env: plainEnv(),
  });
}

/** Names and sizes of what lies in a folder besides `known`, seen again and again until the end. */
async function watch(
  path: string,
  known: readonly string[],
  child: { exitCode: number | null; signalCode: unknown },
  onSight: (name: string, bytes: number) => void,
): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    for (const name of readdirSync(path)) {
      if (known.includes(name)) continue;
      onSight(name, statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0);
    }
    await new Promise((done) => setImmediate(done));
  }
}

const OWN = ['gatepost.db', 'gatepost.db-shm', 'gatepost.db-wal', 'gatepost.lock'];

test('an encrypted backup that is killed leaves no clear text but in the data directory', async () => {
  await addData();
  const file = join(folder, 'one.backup');
  // At its first file; when the copy is under way; when the packed file is there, at any size.
  const parts = Array<'part'>(scaleOf('BACKUP_KILLS', { short: 1, long: 5 })).fill('part');
  for (const mark of ['lock', 'copy', ...parts] as const) {
    const child = start('backup', file);
    const seen = new Set<string>();
    const outside = watch(folder, ['data'], child, (name, bytes) => {
      seen.add(name.replace(/^\.gatepost-[0-9a-f]{12}/, ''));
      if (name.endsWith('.part') && mark === 'part' && bytes > 0) child.kill('SIGKILL');
    });
    const inside = watch(dataDir, OWN, child, (name) => {
      if (name.endsWith(`.${mark}`)) child.kill('SIGKILL');
    });
    await Promise.all([outside, inside, child.exited]);
    expect([mark, child.signalCode]).toEqual([mark, 'SIGKILL']);
    const strange = [...seen].filter((end) => !/^\.(part|lock|lock-journal)$/.test(end));
    expect(strange).toEqual([]);
    for (const name of list(folder)) {
      if (name.endsWith('.part')) {
        const start = await Bun.file(join(folder, name)).slice(0, 21).text();
        expect('age-encryption.org/v1').toStartWith(start);
      }
    }
  }
  const last = start('backup', file);
  expect([await last.exited, await new Response(last.stderr).text()]).toEqual([0, '']);
  expect(list(folder)).toEqual(['data', 'one.backup']);
  expect(list(dataDir)).toEqual(['gatepost.db', 'gatepost.lock']);

  const seen: string[] = [];
  const verify = start('restore', '--verify', file);
  const look = (name: string, bytes: number) => {
    if (bytes > 0) seen.push(name);
  };
  await Promise.all([
    watch(folder, ['data', 'one.backup'], verify, look),
    watch(dataDir, OWN, verify, look),
  ]);
  expect(verify.exitCode).toBe(0);
  // An unpacked file has no name once it has content.
  expect(seen.filter((name) => !/\.lock(-journal)?$/.test(name))).toEqual([]);
});

/** Files of killed processes: one with its lock, one that lost it, one of a restore. */
const LEFT = [
  '.gatepost-0123456789ab.copy',
  '.gatepost-0123456789ab.copy-journal',
  '.gatepost-0123456789ab.lock',
  '.gatepost-aaaaaaaaaaaa.part',
  '.gatepost-bbbbbbbbbbbb.unpacked',
  '.gatepost-bbbbbbbbbbbb.unpacked-wal',
];
const KEPT = ['.gatepost-backup.lock', '.gatepost-0123456789a.copy', '.mine.copy', 'x.part'];

function leave(path: string, ...more: string[]): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // SQLite takes an empty file for a lock, and nothing else.
  for (const name of [...LEFT, ...KEPT, ...more]) {
    writeFileSync(join(path, name), name.endsWith('lock') ? '' : 'left', { mode: 0o600 });
  }
}

test('leftovers of killed processes are deleted; files in use and of others stay', () => {
  leave(folder, '.one.backup.0123456789ab.copy', '.two.backup.0123456789ab.part');
  // A lock that is a link to a file of another user is not taken.
  writeFileSync(join(folder, 'empty'), '', { mode: 0o600 });
  symlinkSync(join(folder, 'empty'), join(folder, '.gatepost-cccccccccccc.lock'));
  const scratch = new Scratch(folder);
  const file = scratch.file('copy');
  writeFileSync(file, 'in use');
  removeLeftovers(folder, (name) => name === 'one.backup');
  const stayed = list(folder).filter(
    (name) => !name.startsWith('.gatepost-') || KEPT.includes(name) || name.includes('-cc'),
  );
  const others = ['.gatepost-cccccccccccc.lock', '.two.backup.0123456789ab.part', 'empty'];
  expect(stayed).toEqual([...KEPT, ...others].sort());
  expect(list(folder).filter((name) => LEFT.includes(name))).toEqual([]);
  expect(existsSync(file)).toBe(true);
  scratch.drop();
  expect(list(folder)).toEqual(stayed);
  // Neither a folder that is not there nor one that is a file is a reason to stop.
  removeLeftovers(join(folder, 'none'), none);
  removeLeftovers(join(folder, 'x.part'), none);
});

test('a lock that is held is a maker that lives, whatever its process', () => {
  leave(folder);
  const lock = join(folder, '.gatepost-0123456789ab.lock');
  const release = takeLock(lock, 'exclusive', 0);
  removeLeftovers(folder, none);
  expect(list(folder).filter((name) => /ab\.(copy|lock)$/.test(name))).toHaveLength(2);
  release?.();
  removeLeftovers(folder, none);
  expect(list(folder)).toEqual([...KEPT].sort());
});

test('a backup clears the data directory and the folder of its target', async () => {
  await addProviders(dataDir, 1);
  const target = join(folder, 'target');
  const old = ['.one.backup.0123456789ab.copy', '.one.backup.0123456789ab.part'];
  leave(dataDir);
  leave(target, ...old);
  const file = join(target, 'one.backup');
  await makeBackup({ dataDir, file, passphrase: null, replaces: false, nowMs: NOW_MS });
  expect(list(target)).toEqual([...KEPT, 'one.backup'].sort());
  expect(list(dataDir)).toEqual([...KEPT, 'gatepost.db', 'gatepost.lock'].sort());
});

test('so does the start of a server, with the folder of its own backups', async () => {
  await addProviders(dataDir, 1);
  const shelf = join(folder, 'shelf');
  leave(dataDir);
  leave(shelf, '.gatepost-20261119T120000Z.backup.0123456789ab.copy');
  const env = { GATEPOST_BACKUP_DIRECTORY: shelf };
  const server = await startServe({ dataDir, env, from: 'source' });
  expect(list(shelf)).toEqual([...KEPT].sort());
  expect(list(dataDir).filter((name) => LEFT.includes(name))).toEqual([]);
  await server.stop();
});
