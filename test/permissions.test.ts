/** Secrets that others can read are found, with the command that mends them. */

import { afterEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  checkDataDirectory,
  checkSecretFile,
  closeFreshDirectory,
  giveToOwnerOfFolder,
  makeOwnFile,
  makeOwnFolder,
  readSecretFile,
} from '../src/base/permissions.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { freshFolder } from './support/app.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = freshFolder();
  folders.push(made);
  return made;
}

function file(path: string, mode: number): string {
  writeFileSync(path, 'secret');
  chmodSync(path, mode);
  return path;
}

test.each([0o600, 0o400, 0o640, 0o440])('a secret file with mode %o is fine', (mode) => {
  expect(checkSecretFile(file(join(folder(), 'key.pem'), mode))).toEqual([]);
});

test.each([
  [0o644, 'all users', 'chmod 600'],
  [0o604, 'all users', 'chmod 600'],
  [0o602, 'all users', 'chmod 600'],
  [0o660, 'its group (to write)', 'chmod 640'],
])('a secret file with mode %o is refused', (mode, users, command) => {
  const path = file(join(folder(), 'key.pem'), mode);
  const problem = `the file ${path} holds secrets and has mode 0${mode.toString(8)}, open to ${users}: run '${command} ${path}'`;
  expect(checkSecretFile(path)).toEqual([{ path, problem, isRefused: true }]);
});

test('a symbolic link is as open as what it leads to', () => {
  const place = folder();
  const link = join(place, 'link.pem');
  symlinkSync(file(join(place, 'key.pem'), 0o644), link);
  expect(checkSecretFile(link)).toMatchObject([{ path: link, isRefused: true }]);
});

test('what is not there has no findings', () => {
  expect(checkSecretFile(join(folder(), 'absent'))).toEqual([]);
  expect(checkDataDirectory(join(folder(), 'absent'))).toEqual([]);
});

test('a data directory of its owner alone is fine', () => {
  const data = folder();
  file(join(data, 'gatepost.db'), 0o600);
  mkdirSync(join(data, 'acme'), { mode: 0o700 });
  file(join(data, 'acme', 'account.pem'), 0o600);
  expect(checkDataDirectory(data)).toEqual([]);
});

test.each([
  [0o755, true],
  [0o701, true],
  [0o770, true],
  [0o750, false],
])('a data directory with mode %o: refused %p, or else a warning', (mode, isRefused) => {
  const data = folder();
  chmodSync(data, mode);
  const [finding, ...more] = checkDataDirectory(data);
  expect(finding).toMatchObject({ path: data, isRefused });
  expect(finding?.problem).toEndWith(`run 'chmod 700 ${data}'`);
  expect(more).toEqual([]);
});

test('every file that is open to others is named', () => {
  const data = folder();
  mkdirSync(join(data, 'acme'), { mode: 0o700 });
  const open = [
    file(join(data, 'gatepost.db'), 0o644),
    file(join(data, 'gatepost.db-wal'), 0o644),
    file(join(data, 'acme', 'account.pem'), 0o604),
  ];
  // The operator's own files are not Gatepost's to judge.
  file(join(data, 'notes.txt'), 0o644);
  const found = checkDataDirectory(data).map(({ path }) => path);
  expect(found.sort()).toEqual(open.sort());
});

test.each([
  [0o755, []],
  [0o777, ['lost+found']],
])('a directory of one\u2019s own with mode %o in which nothing lies is closed', (mode, names) => {
  const data = folder();
  for (const name of names) mkdirSync(join(data, name));
  chmodSync(data, mode);
  closeFreshDirectory(data);
  expect(statSync(data).mode & 0o777).toBe(0o700);
});

test('one in which something lies is left as it is, for the operator to look at', () => {
  const data = folder();
  file(join(data, 'notes.txt'), 0o600);
  chmodSync(data, 0o755);
  closeFreshDirectory(data);
  expect(statSync(data).mode & 0o777).toBe(0o755);
});

describe.skipIf(process.getuid?.() !== 0)('what root makes', () => {
  const SERVICE = 65_123;
  function serviceFolder(): string {
    const data = folder();
    chownSync(data, SERVICE, SERVICE);
    return data;
  }
  const owner = (path: string) => [lstatSync(path).uid, lstatSync(path).gid];

  test('in a directory of another user belongs to that user', () => {
    const data = serviceFolder();
    makeOwnFile(join(data, 'file'));
    makeOwnFolder(join(data, 'folder'));
    expect(owner(join(data, 'file'))).toEqual([SERVICE, SERVICE]);
    expect(owner(join(data, 'folder'))).toEqual([SERVICE, SERVICE]);
    expect(statSync(join(data, 'file')).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, 'folder')).mode & 0o777).toBe(0o700);
  });

  test('never by way of a link: nothing is made or given where it leads', () => {
    const data = serviceFolder();
    const elsewhere = folder();
    symlinkSync(join(elsewhere, 'made'), join(data, 'dangling'));
    makeOwnFile(join(data, 'dangling'));
    expect(existsSync(join(elsewhere, 'made'))).toBe(false);
    symlinkSync(file(join(elsewhere, 'secret'), 0o600), join(data, 'link'));
    makeOwnFile(join(data, 'link'));
    giveToOwnerOfFolder(join(data, 'link'));
    expect(owner(join(elsewhere, 'secret'))).toEqual([0, 0]);
  });

  test('a directory of another user is not closed', () => {
    const data = serviceFolder();
    chmodSync(data, 0o755);
    closeFreshDirectory(data);
    expect(statSync(data).mode & 0o777).toBe(0o755);
  });

  test('is usable by the service: every file of a database that root was first to open', async () => {
    const data = serviceFolder();
    const store = await openSqliteStore({ dataDir: data, create: true, commitBatchMax: 1 });
    await store.checkWritable();
    const made = readdirSync(data);
    expect(made.toSorted()).toEqual([
      'gatepost.db',
      'gatepost.db-shm',
      'gatepost.db-wal',
      'gatepost.lock',
    ]);
    for (const name of made) expect(owner(join(data, name))).toEqual([SERVICE, SERVICE]);
    await store.close();
  });
});

describe('a file with a secret', () => {
  function secret(text: string, mode: number): string {
    const folder = freshFolder();
    folders.push(folder);
    const path = join(folder, 'secret');
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }

  test('is read to its end, if no other user may', () => {
    expect(readSecretFile(secret('line\nand more\n', 0o600))).toEqual({ text: 'line\nand more\n' });
    const open = secret('line', 0o604);
    expect(readSecretFile(open)).toEqual({
      problem: `the file ${open} holds secrets and has mode 0604, open to all users: run 'chmod 600 ${open}'`,
    });
  });

  test('is not a large one, a folder or a device, which is not told to be closed', () => {
    const large = secret('x'.repeat(4097), 0o600);
    expect(readSecretFile(large)).toEqual({
      problem: `${large} is no secret: it is larger than 4096 bytes`,
    });
    for (const path of ['/tmp', '/dev/zero']) {
      const problem = `${path} is not a regular file or a pipe`;
      expect(readSecretFile(path)).toEqual({ problem });
    }
    expect(readSecretFile(`${large}.none`)).toEqual({
      problem: expect.stringMatching(/^cannot read .*ENOENT/),
    });
  });
});

test('the key file of the import in docs/moving-in.md is one that is taken', () => {
  const page = readFileSync(join(import.meta.dir, '../docs/moving-in.md'), 'utf8');
  const written = /`\((umask 077; cat > KEYFILE)\)`/.exec(page)?.[1] ?? 'false';
  const line = `echo ${'k'.repeat(32)} | (${written})`;
  const cwd = folder();
  const { exitCode } = Bun.spawnSync(['sh', '-c', `umask 022; ${line}`], { cwd });
  expect(exitCode).toBe(0);
  expect(readSecretFile(join(cwd, 'KEYFILE'))).toEqual({
    text: expect.stringMatching(/^\S{32}\n$/),
  });
});
