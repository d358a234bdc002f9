/** The one setting that runs a command: from the file alone, which no other user may change. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeBetween, loadConfig, reloaded } from '../../src/config/load.ts';
import { shownSettings } from '../../src/config/render.ts';
import { freshFolder } from '../support/app.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = freshFolder();
  mkdirSync(join(folder, 'etc'), { mode: 0o750 });
  file = join(folder, 'etc', 'gatepost.toml');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const COMMAND = 'after = ["sh", "-c", "echo \\"a, b\\"", ""]';

function load(lines = `${COMMAND}\npassphrase_file = "/etc/p"`, env = {}) {
  writeFileSync(file, `[backup]\n${lines}\n`, { mode: 0o640 });
  return loadConfig({ configFile: file }, { GATEPOST_DATA: join(folder, 'data'), ...env });
}

test('words with commas, blanks and quotes come as they are written', () => {
  const loaded = load();
  expect(loaded.config.backupAfter).toEqual(['sh', '-c', 'echo "a, b"', '']);
  const [shown] = shownSettings(loaded).filter(({ key }) => key === 'backup.after');
  expect(shown).toMatchObject({ variable: '', origin: `${file}:2` });
  expect(load('').config.backupAfter).toEqual([]);
  expect(load('after = []').config.backupAfter).toEqual([]);
});

test.each([
  ['after = "rclone"', 'backup.after must be an array of strings'],
  ['after = ["rclone", 1]', 'backup.after must be an array of strings'],
  ['after = [""]', 'backup.after: the program has no name'],
  [`after = ["a"${', ""'.repeat(64)}]`, 'backup.after: more than 64 arguments'],
  ['after = ["a", "\\u0000"]', 'backup.after: an argument has a NUL'],
  [COMMAND, 'backup.after needs backup.passphrase_file'],
])('%#: %s', (lines, words) => {
  expect(() => load(lines)).toThrow(words);
});

test('a passphrase, or consent to clear text, is enough', () => {
  load(`${COMMAND}\npassphrase = "secret"`);
  load(`${COMMAND}\nafter_clear = true`);
});

test('it is reloaded', () => {
  const before = load('keep = 3');
  const after = load(`keep = 3\n${COMMAND}\nafter_clear = true`);
  const live = ['backup.after', 'backup.after_clear'];
  expect(changeBetween(before, after)).toEqual({ live, waiting: [] });
  expect(reloaded(before, after).config.backupAfter[0]).toBe('sh');
});

test('no variable sets it', () => {
  expect(() => load(undefined, { GATEPOST_BACKUP_AFTER: '["id"]' })).toThrow(
    'unknown setting GATEPOST_BACKUP_AFTER',
  );
});

test('a file or folder that others may write to', () => {
  load();
  for (const [place, mode, bad] of [
    [file, 0o640, 0o660],
    [file, 0o640, 0o642],
    [file, 0o640, 0o1660],
    [join(folder, 'etc'), 0o750, 0o770],
    [join(folder, 'etc'), 0o750, 0o757],
  ] as const) {
    chmodSync(place, bad);
    const words = new RegExp(`backup.after is not run: ${place} .*open to .*: run 'chmod`);
    expect(() => load()).toThrow(words);
    chmodSync(place, mode);
  }
  // Others cannot replace a file there.
  chmodSync(join(folder, 'etc'), 0o1777);
  load();
  // Without a command it does not matter.
  chmodSync(file, 0o666);
  load('keep = 3');
});

test.skipIf(process.getuid?.() !== 0)('a file of another user than root and the service', () => {
  load();
  chownSync(file, 12_345, 12_345);
  expect(() => load()).toThrow(
    `${file} belongs to user 12345, not to user 0: run 'chown 0 ${file}'`,
  );
  // The owner of the data directory is the user of the service.
  mkdirSync(join(folder, 'data'));
  chownSync(join(folder, 'data'), 12_345, 12_345);
  load();
});

test('a file of the folder beside it, by the same rule', () => {
  writeFileSync(file, '', { mode: 0o640 });
  const beside = join(folder, 'etc', 'gatepost.d');
  mkdirSync(beside, { mode: 0o750 });
  const own = join(beside, '10-copy.toml');
  writeFileSync(own, `[backup]\n${COMMAND}\nafter_clear = true\n`, { mode: 0o640 });
  const loadBoth = () => loadConfig({ configFile: file }, { GATEPOST_DATA: join(folder, 'data') });
  expect(loadBoth().config.backupAfter).toHaveLength(4);
  chmodSync(own, 0o660);
  expect(loadBoth).toThrow(`${own} has mode 0660`);
});
