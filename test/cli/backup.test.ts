/** `gatepost backup`, `restore` and `doctor`, as the operator runs them. */

import { expect, test } from 'bun:test';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { examineDatabase } from '../../src/store/sqlite/file/copy.ts';
import { call } from '../support/app.ts';
import {
  addProviderByCommand,
  ROOT,
  run,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

async function makeData() {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  const credentials = await addProviderByCommand(dataDir);
  return { folder, dataDir, credentials, file: join(folder, 'one.backup') };
}

test('a backup of a running server, moved to another place', async () => {
  const { folder, dataDir, credentials, file } = await makeData();
  const server = await startServe({ dataDir });
  const add = (code: string) =>
    call(server, '/api/add-install', credentials, { install_limit: 2, install_code: code });
  expect((await add('beforeBackup')).json.rc).toBe(1);
  const made = await run(['backup', file, '--data', dataDir, '--json']);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(made.stdout)).toMatchObject({ file, encrypted: false, rows: { install: 1 } });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await add('afterwards01')).json.rc).toBe(1);

  const live = await run(['restore', file, '--data', dataDir, '--force']);
  expect(live).toMatchObject({ code: 1, stdout: '' });
  expect(live.stderr).toContain("is in use: stop 'gatepost serve'");
  expect((await add('stillServing')).json.rc).toBe(1);
  await server.stop();

  const newer = await run(['restore', file, '--data', dataDir]);
  // Figures are saved with a later commit, which may have come.
  const since = /since: 2 of audit, 2 of install, 1 of provider(, 1 of provider_day)?; --force/;
  expect(newer.stderr).toMatch(since);
  const elsewhere = join(folder, 'elsewhere');
  expect(await run(['restore', file, '--data', elsewhere])).toMatchObject({ code: 0, stderr: '' });
  const moved = await startServe({ dataDir: elsewhere });
  const list = await call(moved, '/api/list-install', credentials);
  expect(list.json.data).toMatchObject([{ install_code: 'beforeBackup' }]);
  expect(await moved.stop()).toMatchObject({ code: 0 });
  // A server that ran since has stored the time, which is nothing to lose.
  const fresh = join(folder, 'fresh');
  expect(await run(['restore', file, '--data', fresh])).toMatchObject({ code: 0, stderr: '' });
  await (await startServe({ dataDir: fresh })).stop();
  const again = await run(['restore', file, '--data', fresh]);
  expect(again).toMatchObject({ code: 0, stderr: '' });
});

test('a passphrase comes from a file or a setting, and is nowhere to be read', async () => {
  const { folder, dataDir, file } = await makeData();
  const secret = 'a passphrase that is hard to guess';
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, `${secret}\nand a second line\n`);
  chmodSync(passphraseFile, 0o644);
  const words = ['backup', file, '--data', dataDir, '--passphrase-file', passphraseFile];
  expect((await run(words)).stderr).toContain('open to all users');
  chmodSync(passphraseFile, 0o600);
  const made = await run(words);
  expect(made).toMatchObject({ code: 0 });
  expect(made.stdout).toContain('encrypted   yes');
  expect(made.stdout).not.toContain(secret);

  expect((await run(['restore', file, '--verify'])).stderr).toContain('is encrypted');
  const env = { GATEPOST_BACKUP_PASSPHRASE: secret };
  const verified = await run(['restore', file, '--verify'], { env });
  expect(verified).toMatchObject({ code: 0 });
  expect(verified.stdout).toContain(`${file} is good`);
});

test.each(['backup', 'restore', 'restore --verify'])(
  '%s - is a mistake of usage, not a file of that name',
  async (words) => {
    const cwd = temporaryFolder();
    const { code, stdout, stderr } = await run([...words.split(' '), '-', '--data', 'data'], {
      cwd,
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toStartWith(
      'gatepost: a backup must be a file, because it is read more than once: -',
    );
    expect(readdirSync(cwd)).toEqual([]);
  },
);

test.each(['list', 'now', '2026-11-28'])('backup %s writes no file of that name', async (word) => {
  const cwd = temporaryFolder();
  const { code, stderr } = await run(['backup', word, '--data', 'data'], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain(`write ./${word}; scheduled backups are files in backup.directory`);
  expect(readdirSync(cwd)).toEqual([]);
});

test('an interrupted backup leaves nothing behind', async () => {
  const { folder, dataDir, file } = await makeData();
  const words = [
    join(ROOT, 'src/main.ts'),
    'backup',
    file,
    '--data',
    dataDir,
    '--passphrase-file',
    '-',
  ];
  const child = Bun.spawn([process.execPath, ...words], {
    stdin: Buffer.from('secret\n'),
    stderr: 'pipe',
    stdout: 'ignore',
  });
  await until('a beginning', () => readdirSync(folder).some((name) => name.endsWith('.part')));
  child.kill('SIGTERM');
  expect(await new Response(child.stderr).text()).toBe('gatepost: the backup was interrupted\n');
  expect(await child.exited).toBe(1);
  expect(readdirSync(folder)).toEqual(['data']);
});

test('commands that start while a restore is at it never meet half of it', async () => {
  const { dataDir, file } = await makeData();
  await run(['backup', file, '--data', dataDir]);
  for (let round = 0; round < 4; round++) {
    const results = await Promise.all([
      run(['restore', file, '--data', dataDir, '--force']),
      run(['provider', 'add', '--name', 'a', '--data', dataDir]),
      run(['provider', 'list', '--data', dataDir]),
      run(['restore', file, '--data', dataDir, '--force']),
      run(['provider', 'add', '--name', 'b', '--data', dataDir]),
    ]);
    for (const { code, stderr } of results) {
      if (code !== 0) expect(stderr).toMatch(/is in use|a restore into/);
    }
    // Whole, and with the provider of the backup, in any order.
    const { rows } = examineDatabase(join(dataDir, 'gatepost.db'));
    expect(rows['provider']).toBeGreaterThanOrEqual(1);
  }
  const names = readdirSync(dataDir).filter((name) => name.startsWith('gatepost-replaced'));
  for (const name of names) {
    expect(examineDatabase(join(dataDir, name)).rows['provider']).toBeGreaterThanOrEqual(1);
  }
  expect(readdirSync(dataDir).filter((name) => name.includes('unpacked'))).toEqual([]);
});

test('a server makes scheduled backups by itself, and hands them to a command', async () => {
  const { folder, dataDir } = await makeData();
  const shelf = join(folder, 'shelf');
  const away = join(folder, 'away');
  const file = join(folder, 'gatepost.toml');
  const copy = `after = ["sh", "-c", 'env >${away}.env; cp "$1" ${away}']\nafter_clear = true`;
  writeFileSync(file, `[backup]\n${copy}\n`, { mode: 0o600 });
  const schedule = { GATEPOST_BACKUP_AT: '* * * * * *', GATEPOST_BACKUP_DIRECTORY: shelf };
  const env = { ...schedule, GATEPOST_CONFIG: file };
  const servers = await Promise.all([startServe({ dataDir, env }), startServe({ dataDir, env })]);
  const log = () => servers.map(({ stderr }) => stderr()).join('');
  await until('a backup', () => log().includes('backup_made'));
  const names = readdirSync(shelf).filter((name) => name.endsWith('.backup'));
  expect(names).toHaveLength(1);
  expect(await run(['restore', join(shelf, names[0] ?? ''), '--verify'])).toMatchObject({
    code: 0,
  });
  await until('a copy', () => log().includes('backup_copied'));
  expect(await run(['restore', away, '--verify'])).toMatchObject({ code: 0 });
  expect(readFileSync(`${away}.env`, 'utf8')).not.toContain('GATEPOST');
  for (const server of servers) expect(await server.stop()).toMatchObject({ code: 0 });
  expect(log()).not.toMatch(/backup_(?:copy_)?failed/);
});

test('doctor: exit code 1 and a way out for each problem', async () => {
  const { dataDir } = await makeData();
  const env = { GATEPOST_PORT: '0' };
  const server = await startServe({ dataDir });
  const well = await run(['doctor', '--data', dataDir, '--json'], { env });
  expect(well).toMatchObject({ code: 0, stderr: '' });
  await server.stop();
  const { findings } = JSON.parse(well.stdout);
  expect(findings.length).toBeGreaterThan(6);
  writeFileSync(join(dataDir, 'gatepost.toml'), 'nonsense = 1\n');
  const ill = await run(['doctor', '--data', dataDir], { env: { ...env, GATEPOST_CONFIG: '' } });
  expect(ill).toMatchObject({ code: 1, stderr: 'gatepost: 1 problem\n' });
  // No default is judged in place of the file.
  expect(ill.stdout).toMatch(/^PROBLEM {3}configuration: .*\n.*\n$/);
  expect(existsSync(join(dataDir, 'gatepost.toml'))).toBe(true);
});
