/** A dump on stdin: as text, gzipped, and in forms that only a file can have. */

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startImport } from '../support/panel-import.ts';
import { makeUser, writePanel } from '../support/panel-world.ts';
import {
  addProviderByCommand,
  binary,
  databaseOf,
  plainEnv,
  temporaryFolder,
} from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const USERS = Array.from({ length: 300 }, (_, n) => makeUser(n));

/** Imports from stdin as a check. */
async function importFrom(dataDir: string, code: string, panel: string, bytes: Uint8Array) {
  const database = await databaseOf(dataDir);
  const words = ['import', '-', '--panel', panel, '--code', code, '--check', '--json'];
  const child = Bun.spawn([binary(), ...words, '--data', dataDir], {
    env: plainEnv(database ? { GATEPOST_DATABASE_URL: database.url } : {}),
    stdin: bytes,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

test('a dump on stdin is known by its bytes', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const { code } = await addProviderByCommand(dataDir);
  const file = join(temporaryFolder(), 'panel');
  const read = (panel: string, bytes: Uint8Array) => importFrom(dataDir, code, panel, bytes);

  writePanel('hiddify', file, USERS);
  const dump = readFileSync(file);
  for (const bytes of [dump, Bun.gzipSync(dump)]) {
    const { stdout, stderr } = await read('hiddify', bytes);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ users: USERS.length });
  }

  const refused: [string, Uint8Array, string][] = [
    ['hiddify', Bun.gzipSync(dump).subarray(0, 4_000), 'cannot read stdin'],
    ['hiddify', dump.subarray(0, dump.lastIndexOf('-- Dump completed')), 'stdin is truncated'],
    ['marzban', Buffer.from('PGDMP\u0001'), 'stdin is an archive of pg_dump'],
    ['hiddify', new Uint8Array(), 'stdin is no database of hiddify'],
  ];
  writePanel('marzban', file, USERS);
  const database = readFileSync(file);
  refused.push(['marzban', database, 'stdin is a SQLite file']);
  refused.push(['marzban', Bun.gzipSync(database), 'stdin is a SQLite file']);
  for (const [panel, bytes, message] of refused) {
    const { code: exitCode, stdout, stderr } = await read(panel, bytes);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(JSON.parse(stderr).error.message).toStartWith(message);
  }
});

test('a hostile file ends the process that the executable starts', async () => {
  const file = join(temporaryFolder(), 'panel');
  const settings = `'${'['.repeat(15e6)}'`;
  writeFileSync(
    file,
    `BEGIN TRANSACTION;\nINSERT INTO inbounds (settings) VALUES (${settings});\nCOMMIT;\n`,
  );
  const { ended, tmp } = await startImport([file, '--panel', '3x-ui', '--memory', '300'], 'binary');
  const { stdout, stderr, exitCode } = await ended;
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
  expect(JSON.parse(stderr).error.message).toContain('takes more than 300 MiB of memory');
  expect(readdirSync(tmp)).toEqual([]);
});
