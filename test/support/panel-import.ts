/** Imports of panels in processes of their own, whose temporary files and memory are looked at. */

import { expect } from 'bun:test';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownCommand } from '../../src/parts/own-program.ts';
import { binary, databaseOf, plainEnv, run, temporaryFolder } from './process.ts';

/** Writes a text, and so many bytes of NUL behind it, which take no room on the disk. */
export function writeEndless(file: string, text: string, bytes: number): void {
  writeFileSync(file, text);
  truncateSync(file, bytes);
}

const SHOP = 'MYSHOP01';
const COMMANDS = { binary: () => [binary()], source: ownCommand };
/** A data directory with a shop. */
let place: Promise<string> | undefined;

async function openPlace(): Promise<string> {
  const dataDir = join(temporaryFolder(), 'data');
  const words = ['provider', 'add', '--name', 'shop', '--code', SHOP, '--data', dataDir];
  expect(await run(words, { from: 'source' })).toMatchObject({ code: 0 });
  return dataDir;
}

/** Starts an import as a check, from source by default; its temporary files are in `tmp`. */
export async function startImport(
  words: readonly string[],
  from: keyof typeof COMMANDS = 'source',
) {
  place ??= openPlace();
  const dataDir = await place;
  const tmp = temporaryFolder();
  const url = (await databaseOf(dataDir))?.url;
  const all = ['import', ...words, '--code', SHOP, '--check', '--json', '--data', dataDir];
  const child = Bun.spawn([...COMMANDS[from](), ...all], {
    env: plainEnv({ TMPDIR: tmp, ...(url !== undefined && { GATEPOST_DATABASE_URL: url }) }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const ended = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]).then(([stdout, stderr, exitCode]) => ({ stdout, stderr, exitCode }));
  return { child, ended, tmp };
}

/** Returns the processes that a process has started. */
export const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => new RegExp(`^PPid:\\s${pid}$`, 'm').test(statusOf(name)))
    .map(Number);

/** Returns what Linux says of a process; empty: there is none. */
export function statusOf(pid: string | number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the most memory that a process has had so far, MiB; 0: it has ended. */
export const peakMibOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(statusOf(pid))?.[1] ?? 0) / 1024;
