/** Imports of panels in processes of their own, whose temporary files and memory are looked at. */

import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProviderByCommand, binary, databaseOf, plainEnv, temporaryFolder } from './process.ts';

/** Writes a text, and so many bytes of NUL behind it, which take no room on the disk. */
export function writeEndless(file: string, text: string, bytes: number): void {
  writeFileSync(file, text);
  truncateSync(file, bytes);
}

let shop: ReturnType<typeof addShop> | undefined;

async function addShop() {
  const dataDir = join(temporaryFolder(), 'data');
  return { dataDir, code: (await addProviderByCommand(dataDir)).code };
}

/** Starts an import as a check; its temporary files are in `tmp`. */
export async function startImport(
  words: readonly string[],
  command: readonly string[] = [binary()],
) {
  shop ??= addShop();
  const { dataDir, code } = await shop;
  const tmp = temporaryFolder();
  const url = (await databaseOf(dataDir))?.url;
  const all = ['import', ...words, '--code', code, '--check', '--json', '--data', dataDir];
  const child = Bun.spawn([...command, ...all], {
    env: plainEnv({ TMPDIR: tmp, ...(url !== undefined && { GATEPOST_DATABASE_URL: url }) }),
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
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
