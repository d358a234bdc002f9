/** The lines of docs/backups.md that copy backups elsewhere, as printed, to a folder here. */

import { afterAll, describe, expect } from 'bun:test';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAfter } from '../../src/backup/after.ts';
import { loadConfig } from '../../src/config/load.ts';
import { freshFolder } from '../support/app.ts';
import { testWith } from '../support/needs.ts';
import { readText } from '../support/tree.ts';

const folder = freshFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const away = join(folder, 'away');
const file = join(folder, 'gatepost-20261121T033000Z.backup');
writeFileSync(file, 'age-encryption.org/v1\nbytes');

/** Loads the printed block with a command, with the files and the place of this test. */
function settingsOf(program: string) {
  const blocks = readText('docs/backups.md').match(/```toml\n[^`]*```/g) ?? [];
  const [block = ''] = blocks.filter((one) =>
    new RegExp(`^after = .*\\b${program}\\b`, 'm').test(one),
  );
  const text = block
    .replaceAll(/^```.*$/gm, '')
    .replaceAll('/etc/gatepost', folder)
    .replaceAll('sftp:backup@example.com:/gatepost', away);
  const config = join(folder, `${program}.toml`);
  writeFileSync(config, text);
  return loadConfig({ configFile: config }, { GATEPOST_DATA: folder }).config;
}

const copy = (program: string) => runAfter(settingsOf(program), file, new AbortController().signal);

describe('rclone', () => {
  testWith('rclone')('copies the file', async () => {
    writeFileSync(join(folder, 'rclone.conf'), `[offsite]\ntype = alias\nremote = ${away}\n`);
    expect(await copy('rclone')).toMatchObject({ reason: null });
    expect(readdirSync(join(away, 'gatepost'))).toEqual(['gatepost-20261121T033000Z.backup']);
    rmSync(away, { recursive: true });
    writeFileSync(join(folder, 'rclone.conf'), '');
    const { reason, errors } = await copy('rclone');
    expect(reason).toMatch(/^the command of backup\.after exited with \d+$/);
    expect(errors).not.toBe('');
  });
});

describe('restic', () => {
  testWith('restic')('adds the file to its repository', async () => {
    mkdirSync(away, { recursive: true });
    writeFileSync(join(folder, 'restic-password'), 'a password\n');
    const common = ['restic', '--repo', away, '--password-file', join(folder, 'restic-password')];
    const run = (...words: string[]) => Bun.spawnSync([...common, '--no-cache', ...words]);
    expect(run('init').exitCode).toBe(0);
    expect(await copy('restic')).toEqual({ reason: null, errors: '' });
    expect(String(run('ls', 'latest').stdout)).toContain(file);
  });
});
