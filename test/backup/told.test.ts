/** How backups went: doctor, metrics, console and Telegram say the same, on either store. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../src/base/operator-error.ts';
import { DAY_MS, HOUR_MS } from '../support/delivery.ts';
import { Nights } from '../support/nights.ts';
import { parseMetrics, seriesValue } from '../support/prometheus.ts';

const FULL = new OperatorError('no space left on the disk of /b: nothing was changed', 'disk_full');
const START = Date.UTC(2026, 10, 20, 12);
const iso = (ms: number) => new Date(ms).toISOString();

let nights: Nights;
beforeEach(async () => {
  nights = await Nights.open({ GATEPOST_BACKUP_AT: '03:30' });
});
afterEach(() => nights.close());

/** Goes to the next night and runs its backup. */
async function night(error: OperatorError | null = null) {
  const { clock } = nights.engine;
  clock.set(Math.floor(clock.nowMs() / DAY_MS) * DAY_MS + DAY_MS + 3.5 * HOUR_MS);
  nights.error = error;
  return (await nights.start()).run();
}

/** The first finding of the doctor: how the last backup went. */
const doctor = async () => (await nights.doctor())[0];

async function metric(name: string, labels: Record<string, string> = {}) {
  return seriesValue(parseMetrics(await nights.metrics()), `gatepost_backup_${name}`, labels);
}

test('a failure, and its end, are the same for doctor, metrics, console and chat', async () => {
  const chat = await nights.addChat('1');
  await night();
  const goodMs = START + 15.5 * HOUR_MS;
  expect(await doctor()).toMatchObject({
    level: 'ok',
    what: `the last good one is from ${iso(goodMs)}`,
  });
  expect(await metric('failing', { what: 'backup' })).toBe(0);
  expect((await nights.console()).lastFailure).toBeNull();

  expect(await night(FULL)).toBe(FULL.message);
  const failedMs = goodMs + DAY_MS;
  // A restart forgets none of it.
  await nights.start();
  const said = await doctor();
  expect(said).toMatchObject({ name: 'backup_failed', level: 'problem' });
  expect(said?.what).toBe(
    `the backup of ${iso(failedMs)} failed: ${FULL.message}; the last good one is from ${iso(goodMs)}`,
  );
  expect(said?.todo).toContain('free space');
  expect(await metric('failing', { what: 'backup' })).toBe(1);
  expect(await metric('last_failure_timestamp_seconds', { what: 'backup' })).toBe(failedMs / 1000);
  expect(await metric('last_success_timestamp_seconds')).toBe(goodMs / 1000);
  expect(await metric('last_duration_seconds')).toBe(1.5);
  expect((await nights.console()).lastFailure).toMatchObject({
    atMs: failedMs,
    reason: FULL.message,
  });
  await nights.deliver();
  expect(chat.messages).toEqual([
    expect.stringMatching(/^Backup failed\nReason: no space left on the disk of \/b: nothing/),
  ]);

  await night(FULL);
  expect((await doctor())?.what).toContain('failed (failure 2 in a row)');
  await night();
  expect(await doctor()).toMatchObject({ level: 'ok' });
  expect(await metric('failing', { what: 'backup' })).toBe(0);
  expect((await nights.console()).lastFailure).toBeNull();
  await nights.deliver();
  expect(chat.messages[1]).toMatch(
    /^Backups work again\nFailed in a row: 2\nFailing since: .* 03:30.*\nTime: /,
  );
  expect(chat.messages).toHaveLength(2);
});

test('one that never succeeded is a problem at once if it failed, else after its first time', async () => {
  expect(await doctor()).toMatchObject({ name: 'backup_never_made', level: 'warning' });
  await nights.start();
  expect(await doctor()).toMatchObject({
    level: 'ok',
    what: `the first is due at ${iso(START + 15.5 * HOUR_MS)}`,
  });
  nights.engine.clock.advance(16 * HOUR_MS);
  expect((await doctor())?.level).toBe('ok');
  // The server was away at that time.
  nights.engine.clock.advance(HOUR_MS);
  expect(await doctor()).toMatchObject({ name: 'backup_overdue', level: 'problem' });
  await night(FULL);
  expect((await doctor())?.what).toEndWith('; none was ever made');
});

test('one missed run is a problem, a changed schedule is not', async () => {
  await night();
  nights.engine.clock.advance(DAY_MS + HOUR_MS - 2_000);
  expect((await doctor())?.level).toBe('ok');
  nights.engine.clock.advance(2_000);
  expect(await doctor()).toMatchObject({ name: 'backup_overdue' });
  Object.assign(nights.settings, { backupAt: '0 20 * * *' });
  await nights.start();
  expect((await doctor())?.level).toBe('ok');
  nights.engine.clock.advance(17 * HOUR_MS);
  expect(await doctor()).toMatchObject({ name: 'backup_overdue' });
});

test('a long backup, and one by hand shortly before, are not missed', async () => {
  await night();
  const [row] = await nights.engine.core.store.listUpkeep();
  const long = { ...row?.success, atMs: row?.success?.atMs ?? 0, result: 'x', bytes: 1 };
  await nights.engine.core.store.noteSuccess('backup', { ...long, tookMs: 3 * HOUR_MS });
  nights.engine.clock.advance(DAY_MS + 5 * HOUR_MS);
  expect((await doctor())?.level).toBe('ok');
  const beforeMs = nights.engine.clock.nowMs() + 10 * DAY_MS;
  nights.engine.clock.set(Math.floor(beforeMs / DAY_MS) * DAY_MS + 3.5 * HOUR_MS - 20_000);
  await (await nights.start()).run();
  nights.engine.clock.advance(2 * HOUR_MS);
  expect((await doctor())?.level).toBe('ok');
});

test('a backup of another process, or newer than a restored database, ends the failure', async () => {
  await night(FULL);
  const atMs = nights.engine.clock.nowMs() + HOUR_MS;
  const name = `gatepost-${iso(atMs).replaceAll(/[-:]|\.\d+/g, '')}.backup`;
  nights.makeFolder();
  writeFileSync(join(nights.folder, name), 'made elsewhere');
  // The doctor sees the file before the server does.
  expect((await doctor())?.level).toBe('ok');
  nights.engine.clock.advance(2 * HOUR_MS);
  await nights.start();
  expect(await metric('failing', { what: 'backup' })).toBe(0);
  expect(await metric('last_bytes')).toBe(14);
  expect((await nights.console()).lastFailure).toBeNull();
});

test('a file that is gone, and a folder that cannot be read', async () => {
  await night();
  expect(await nights.doctor()).toHaveLength(2);
  rmSync((await nights.console()).files.map(({ name }) => join(nights.folder, name))[0] ?? '');
  expect((await nights.doctor())[1]).toMatchObject({ name: 'backup_gone', level: 'warning' });
  chmodSync(nights.folder, 0o000);
  try {
    expect((await doctor())?.level).toBe('ok');
  } finally {
    chmodSync(nights.folder, 0o700);
  }
});

test('a failure of backups that are no longer scheduled stands nowhere', async () => {
  const chat = await nights.addChat('1');
  await night(FULL);
  Object.assign(nights.settings, { backupAt: '' });
  await nights.start();
  expect((await nights.doctor()).map(({ name }) => name)).toEqual(['backups_not_scheduled']);
  expect(/^gatepost_backup_failing\{/m.test(await nights.metrics())).toBe(false);
  expect((await nights.console()).lastFailure).toBeNull();
  await nights.deliver();
  expect(chat.messages).toHaveLength(1);
});

test('a chat that comes after the end of a failure gets nothing about it', async () => {
  await night(FULL);
  await night();
  const chat = await nights.addChat('1');
  await night();
  await nights.deliver();
  expect(chat.messages).toEqual([]);
});

test('a disk that is read-only for the service alone: the drop-in of its unit', async () => {
  const words = 'the disk of /b is read-only for this process: nothing was changed';
  await night(new OperatorError(words, 'disk_read_only'));
  const found = await doctor();
  expect(found?.what).toContain(words);
  expect(found?.todo).toStartWith('it is writable here, so the unit of the service forbids it: ');
  expect(found?.todo).toContain(`ReadWritePaths=-${nights.folder}\\n`);
});
