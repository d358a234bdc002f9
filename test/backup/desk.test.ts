/** Backups as the operator's pages have them: one work at a time, copies for one session. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackupDesk } from '../../src/backup/desk.ts';
import type { Upkeep } from '../../src/core/port/upkeep.ts';

const NAME = 'gatepost-20261120T033000Z.backup';

let dataDir: string;
let stopping: AbortController;
let upkeep: Upkeep[];
let failure: string | null;
let commands: string[];
let ending: Promise<{ exitCode: number; printed: string; complaint: string }>;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gatepost-desk-'));
  mkdirSync(join(dataDir, 'backups'));
  writeFileSync(join(dataDir, 'backups', NAME), 'bytes');
  writeFileSync(join(dataDir, 'backups', 'other.txt'), 'bytes');
  stopping = new AbortController();
  [upkeep, failure] = [[], null];
  commands = [];
  ending = Promise.resolve({ exitCode: 0, printed: '{}', complaint: '' });
});
afterEach(() => {
  stopping.abort();
  rmSync(dataDir, { recursive: true });
});

const desk = () =>
  new BackupDesk({
    settings: {
      dataDir,
      backupDirectory: '',
      backupKeep: 7,
      backupAt: '03:30',
      backupAfter: [],
      backupPassphrase: 'secret',
      backupPassphraseFile: '',
    },
    job: { nextMs: () => 5, run: async () => failure },
    store: { listUpkeep: () => upkeep },
    copy: async (file, _, passphrase) => {
      writeFileSync(file, `${passphrase}`);
      return { bytes: 9 };
    },
    command: (words) => {
      commands.push(words.join(' '));
      return ending;
    },
    stopping: stopping.signal,
  });

const note = async () => undefined;

const copies = () => {
  const folder = join(dataDir, 'downloads');
  return existsSync(folder) ? readdirSync(folder) : [];
};

test('the list has the files of the folder and the schedule, and no secret', async () => {
  const listed = await desk().list();
  expect(listed).toEqual({
    folder: join(dataDir, 'backups'),
    files: [{ name: NAME, atMs: Date.UTC(2026, 10, 20, 3, 30), bytes: 5 }],
    schedule: '03:30',
    keep: 7,
    nextMs: 5,
    isEncrypted: true,
    lastFailure: null,
    copies: null,
  });
  expect(JSON.stringify(listed)).not.toContain('secret');
});

test('the last failure is listed until a backup is made', async () => {
  const last = { atMs: 1, reason: 'long ago', code: null };
  const row = {
    task: 'backup' as const,
    schedule: '03:30',
    scheduledAtMs: 0,
    success: null,
    failure: last,
    isFailing: true,
    failingSinceMs: 1,
    failureCount: 1,
  } satisfies Upkeep;
  for (const [more, said] of [
    [{}, last],
    [{ isFailing: false }, null],
    // No backups are scheduled any more.
    [{ schedule: '' }, null],
  ] as const) {
    upkeep = [{ ...row, ...more }];
    expect((await desk().list()).lastFailure).toEqual(said);
  }
});

test('a failure of the work itself is said', async () => {
  expect(await desk().make()).toBeNull();
  failure = 'the disk is full';
  expect(await desk().make()).toBe('the disk is full');
});

test('a backup of the folder is verified by its name alone', async () => {
  const own = desk();
  expect(await own.verify(NAME)).toEqual({ problem: null });
  expect(commands).toEqual([`restore ${join(dataDir, 'backups', NAME)} --verify --json`]);
  for (const name of ['other.txt', '../gatepost.db', `backups/${NAME}`, '']) {
    expect(await own.verify(name)).toBe('not_found');
  }
  const complaint = '{"error":{"code":"failed","message":"it is \\"damaged\\""}}';
  ending = Promise.resolve({ exitCode: 1, printed: '', complaint });
  expect(await own.verify(NAME)).toEqual({ problem: 'it is "damaged"' });
});

test('one work at a time', async () => {
  const { promise, resolve } = Promise.withResolvers<Awaited<typeof ending>>();
  ending = promise;
  const own = desk();
  const first = own.verify(NAME);
  expect(await own.verify(NAME)).toBe('busy');
  expect(await own.prepare('a passphrase', 1, 0, note)).toBe('busy');
  resolve({ exitCode: 0, printed: '{}', complaint: '' });
  expect(await first).toEqual({ problem: null });
});

test('a copy is for its session and ten minutes; the next one takes its place', async () => {
  const own = desk();
  expect(await own.prepare('a passphrase', 1, 1_000, note)).toEqual({ bytes: 9 });
  const copy = own.copyOf(1, 1_000 + 599_999);
  expect(copy).toMatchObject({ bytes: 9 });
  expect(copy?.file).toStartWith(join(dataDir, 'downloads'));
  expect(own.copyOf(2, 1_000)).toBeNull();
  expect(own.copyOf(1, 601_000)).toBeNull();
  await own.prepare('a passphrase', 2, 2_000, note);
  expect([own.copyOf(1, 2_000), copies().length]).toEqual([null, 1]);
  stopping.abort();
  expect(copies()).toEqual([]);
});

test('a copy that the audit log does not record is not there, and leaves nothing', async () => {
  const own = desk();
  const failing = () => Promise.reject(new Error('the disk is full'));
  await expect(own.prepare('a passphrase', 1, 0, failing)).rejects.toThrow('the disk is full');
  expect([own.copyOf(1, 0), copies()]).toEqual([null, []]);
  expect(await own.prepare('a passphrase', 1, 0, note)).toEqual({ bytes: 9 });
});

test('copies that a killed process left are deleted at the start', () => {
  mkdirSync(join(dataDir, 'downloads'));
  writeFileSync(join(dataDir, 'downloads', 'left.backup'), 'bytes');
  desk();
  expect(copies()).toEqual([]);
});
