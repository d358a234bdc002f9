/** Copies of backups by the command of the operator: its bounds, and what each door says. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAfter } from '../../src/backup/after.ts';
import { freshFolder } from '../support/app.ts';
import { DAY_MS, HOUR_MS } from '../support/delivery.ts';
import { Nights } from '../support/nights.ts';
import { parseMetrics, seriesValue } from '../support/prometheus.ts';
import { until } from '../support/until.ts';

const TOKEN = 'ya29.token-in-stderr';

let nights: Nights;
let folder: string;
beforeEach(async () => {
  nights = await Nights.open({ GATEPOST_BACKUP_AT: '03:30' });
  folder = freshFolder();
  Object.assign(nights.settings, { backupPassphrase: 'secret' });
});
afterEach(() => nights.close());

const after = (...backupAfter: string[]) => Object.assign(nights.settings, { backupAfter });
const shell = (script: string, ...more: string[]) => after('sh', '-c', script, ...more);
const out = (name = 'out') => join(folder, name);
const read = (name = 'out') => readFileSync(out(name), 'utf8');

async function night() {
  const { clock } = nights.engine;
  clock.set(Math.floor(clock.nowMs() / DAY_MS) * DAY_MS + DAY_MS + 3.5 * HOUR_MS);
  await (await nights.start()).run();
  await nights.copied();
}

/** The findings of the doctor about copies. */
const doctor = async () =>
  (await nights.doctor()).filter(({ check }) => check === 'copies of backups');
const failing = async () =>
  seriesValue(parseMetrics(await nights.metrics()), 'gatepost_backup_failing', { what: 'copy' });

test('it gets the file after --, PATH alone, no input, and its words as they are', async () => {
  shell(`printf '%s|' "$0" "$@" >${out()}; env >${out('env')}; cat >${out('in')}`, 'a, "b', '$c');
  await night();
  const { files } = await nights.console();
  const file = join(nights.folder, files[0]?.name ?? '');
  expect(read()).toBe(`a, "b|$c|--|${file}|`);
  const names = read('env')
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(
    names.filter((name) => !['PATH', 'PWD', '_', 'SHLVL', 'OLDPWD'].includes(`${name}`)),
  ).toEqual([]);
  expect(read('in')).toBe('');
  expect(await failing()).toBe(0);
  expect((await doctor()).map(({ level }) => level)).toEqual(['ok']);
  expect((await nights.console()).copies).toMatchObject({
    lastMs: expect.any(Number),
    lastFailure: null,
  });
});

test('of a failure all get the exit code, and only the log what it wrote', async () => {
  const chat = await nights.addChat('1');
  shell(`echo ${TOKEN} >&2; exit 7`);
  await night();
  const reason = 'the command of backup.after exited with 7';
  expect(await failing()).toBe(1);
  expect((await nights.console()).copies?.lastFailure).toMatchObject({ reason });
  const [found] = await doctor();
  expect(found).toMatchObject({ name: 'copy_failed', level: 'problem' });
  expect(found?.what).toEndWith(`failed: ${reason}; none was ever made`);
  await nights.deliver();
  expect(chat.messages).toEqual([
    expect.stringMatching(new RegExp(`^Copy of the backup failed\nReason: ${reason}\n`)),
  ]);
  const logged = nights.lines.filter((line) => line.includes('"backup_copy_failed"'));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain(TOKEN);
  const others = [
    await nights.metrics(),
    await nights.console(),
    await nights.doctor(),
    chat.messages,
  ];
  expect(JSON.stringify(others)).not.toContain(TOKEN);
  const rows = nights.engine.db.query<{ data: string }, []>('SELECT data FROM event').all();
  expect(JSON.stringify([rows, await nights.engine.core.store.listUpkeep()])).not.toContain(TOKEN);
  // The backup itself succeeded.
  expect((await nights.console()).lastFailure).toBeNull();

  shell('true');
  await night();
  await nights.deliver();
  expect(chat.messages[1]).toStartWith('Copies of backups work again\n');
  expect(await failing()).toBe(0);
});

test('what takes too long is ended with all that it started', async () => {
  const deaf = `trap "" TERM; echo $$ >${out()}; sleep 600`;
  shell(`sh -c '${deaf}' & sleep 600`);
  const bounds = nights.settings;
  writeFileSync(out('backup'), nights.contents);
  const { reason } = await runAfter(bounds, out('backup'), new AbortController().signal, 300);
  expect(reason).toBe('the command of backup.after did not end within its time of ten minutes');
  await until('it ends', () => !isAlive(Number(read())));
});

test('what it leaves behind ends with it, and its output is bounded', async () => {
  shell(`sleep 600 & echo $! >${out()}; head -c 3000000 /dev/zero | tr '\\0' x >&2`);
  writeFileSync(out('backup'), nights.contents);
  const signal = new AbortController().signal;
  const { reason, errors } = await runAfter(nights.settings, out('backup'), signal);
  expect([reason, errors.length]).toEqual([null, 4096]);
  await until('it ends', () => !isAlive(Number(read())));
});

/** Returns whether a process runs; one that ended and waits for its parent does not. */
function isAlive(pid: number): boolean {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : 'Z';
  return !/\) [ZX]|^Z/.test(stat);
}

test('a program that is not there, and one that a signal ends', async () => {
  writeFileSync(out('backup'), nights.contents);
  const signal = new AbortController().signal;
  const run = () => runAfter(nights.settings, out('backup'), signal);
  after('/nowhere/rclone');
  const words = 'the command of backup.after was not run: its program cannot be started';
  expect((await run()).reason).toBe(words);
  shell('kill -9 $$');
  expect((await run()).reason).toBe('the command of backup.after was ended by SIGKILL');
});

test('a backup in clear is handed on only if the operator agreed, which the doctor warns of', async () => {
  shell(`touch ${out()}`);
  nights.contents = 'gatepost-backup 1\n';
  await night();
  expect(existsSync(out())).toBe(false);
  expect((await doctor())[0]?.what).toContain(
    'the backup is not encrypted: backup.after was not run',
  );
  Object.assign(nights.settings, { backupAfterClear: true });
  await night();
  expect(existsSync(out())).toBe(true);
  // With a passphrase there is nothing to warn of.
  expect((await doctor()).map(({ name }) => name)).toEqual(['copies_of_backups']);
  Object.assign(nights.settings, { backupPassphrase: '' });
  expect((await doctor())[0]).toMatchObject({ name: 'copies_in_clear', level: 'warning' });
});

test('a backup whose copy a stop cut off is copied by the next start, once', async () => {
  shell(`echo begun >>${out()}; sleep 600`);
  const { clock } = nights.engine;
  clock.set(Date.UTC(2026, 10, 21, 3, 30));
  await (await nights.start()).run();
  void nights.copied();
  await until('it runs', () => existsSync(out()) && read() === 'begun\n');
  shell(`echo done >>${out()}`);
  await nights.start();
  await nights.copied();
  await nights.start();
  await nights.copied();
  expect(read()).toBe('begun\ndone\n');
  expect(nights.lines.join('')).not.toContain('backup_copy_failed');
});

test('a copy that was never tried is a problem after a while', async () => {
  await night();
  shell('true');
  expect((await doctor()).map(({ level }) => level)).toEqual(['ok']);
  nights.engine.clock.advance(21 * 60_000);
  expect((await doctor())[0]).toMatchObject({ name: 'copy_missing', level: 'problem' });
});
