/**
 * The appliance as the operator has it: a process of its own, from `dist/gatepost` or from source,
 * started and stopped by its id, with nothing of the developer's own settings. Its store is SQLite;
 * with `TEST_STORE=postgres` each data directory has a database of PostgreSQL with it.
 */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Store } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import type { Looked } from './beside.ts';
import { prepareData } from './empty-database.ts';
import { openPlace, STORE } from './place.ts';
import { freshDatabase, type TestDatabase } from './postgres-data.ts';
import { until } from './until.ts';

export const ROOT = resolve(import.meta.dir, '../..');
const BINARY = join(ROOT, 'dist/gatepost');
/** The sources of `dist/gatepost`. */
const INGREDIENTS = ['src', 'migrations', 'sdk/typescript', 'conformance', 'package.json'];

let isFresh = false;

/** The compiled executable; built first if it is missing or older than what it is made from. */
export function binary(): string {
  if (!isFresh && newestMs(INGREDIENTS.map((name) => join(ROOT, name))) > mtimeMs(BINARY)) {
    const made = Bun.spawnSync(['make', 'build'], { cwd: ROOT, env: plainEnv() });
    if (made.exitCode !== 0) throw new Error(`make build failed:\n${made.stderr}`);
  }
  isFresh = true;
  return BINARY;
}

function newestMs(paths: string[]): number {
  return Math.max(
    ...paths.map((path) =>
      statSync(path).isDirectory()
        ? newestMs(readdirSync(path).map((name) => join(path, name)))
        : mtimeMs(path),
    ),
  );
}

function mtimeMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The environment without the developer's own Gatepost settings and file, and no monitor. */
export function plainEnv(more: Record<string, string> = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !entry[0].startsWith('GATEPOST_'),
  );
  // Nor with a file of the machine's own.
  return {
    ...Object.fromEntries(inherited),
    GATEPOST_CONFIG: 'none',
    GATEPOST_MONITOR_PORT: 'off',
    ...more,
  };
}

interface StartOptions {
  /** Data directory; a fresh one unless given. */
  dataDir?: string;
  args?: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  /** `source` runs `src/main.ts` with this Bun; default: the executable. */
  from?: 'binary' | 'source';
  /** A module that is loaded first, `from: 'source'` alone. */
  preload?: string;
  /** Another executable, such as a copy. */
  executable?: string;
  /**
   * True: what the server prints goes through pipes, whose text may come after an answer. For a
   * server whose files may not grow.
   */
  isPiped?: boolean;
}

interface Exit {
  code: number | null;
  signal: string | number | null;
}

interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface ServerProcess {
  pid: number;
  url: string;
  port: number;
  /** The address of the probes, with `GATEPOST_MONITOR_PORT` in `env`; else they are off. */
  monitorUrl: string;
  dataDir: string;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** The lines on stderr that are more than news. */
  troubles(): string[];
  exited: Promise<Exit>;
  /** Sends a signal and waits for the end. */
  stop(signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<Exit>;
}

const running = new Set<{ kill(signal: 'SIGKILL'): void; exited: Promise<unknown> }>();
const folders: string[] = [];
/** By data directory. */
const databases = new Map<string, Promise<TestDatabase>>();

// A run that is interrupted leaves no server behind.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A fresh folder, removed by {@link cleanUp}. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-process-'));
  folders.push(folder);
  return folder;
}

/** Ends every process that was started here and removes the folders. For `afterAll`. */
export async function cleanUp(): Promise<void> {
  const left = [...running];
  for (const child of left) child.kill('SIGKILL');
  await Promise.all(left.map((child) => child.exited));
  for (const database of databases.values()) await (await database).drop();
  databases.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

function command(options: StartOptions): string[] {
  const first = options.preload === undefined ? [] : ['--preload', options.preload];
  if (options.from === 'source') return [process.execPath, ...first, join(ROOT, 'src/main.ts')];
  return [options.executable ?? binary()];
}

/** The database that belongs to a data directory; null: the data are in the directory. */
export async function databaseOf(dataDir: string): Promise<TestDatabase | null> {
  if (STORE === 'sqlite') return null;
  const known = databases.get(dataDir) ?? freshDatabase();
  databases.set(dataDir, known);
  return known;
}

/** A data directory with its database, for looks from outside. */
export const lookedAt = async (dataDir: string): Promise<Looked> => ({
  dataDir,
  database: await databaseOf(dataDir),
});

/** Opens a data directory's store in this process, beside its servers. The caller closes it. */
export async function openStoreOf(dataDir: string): Promise<Store> {
  const database = await databaseOf(dataDir);
  return openPlace({ dataDir, databaseUrl: database?.url ?? null });
}

async function spawn<Out extends 'pipe' | Bun.BunFile>(
  argv: readonly string[],
  options: StartOptions,
  [stdout, stderr]: readonly [Out, Out],
) {
  const data = argv[argv.indexOf('--data') + 1] ?? '';
  const database = argv.includes('--data') ? await databaseOf(data) : null;
  const where: Record<string, string> = database ? { GATEPOST_DATABASE_URL: database.url } : {};
  const child = Bun.spawn([...command(options), ...argv], {
    cwd: options.cwd ?? temporaryFolder(),
    env: plainEnv({ ...where, ...options.env }),
    stdin: 'ignore',
    stdout,
    stderr,
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  return child;
}

/** Runs a command to its end. */
export async function run(argv: readonly string[], options: StartOptions = {}): Promise<CliResult> {
  const child = await spawn(argv, options, ['pipe', 'pipe']);
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code: child.exitCode, stdout, stderr };
}

/** Runs a line of a shell in which GATEPOST stands for the executable. */
export function shell(line: string): CliResult {
  const made = Bun.spawnSync(['sh', '-c', line.replaceAll('GATEPOST', `'${binary()}'`)], {
    env: plainEnv(),
  });
  return { code: made.exitCode, stdout: String(made.stdout), stderr: String(made.stderr) };
}

/** Files: what the server wrote before an answer is there when the answer is. A pipe may lag. */
async function spawnToFiles(argv: readonly string[], options: StartOptions) {
  const folder = temporaryFolder();
  const [outFile, errFile] = [join(folder, 'stdout'), join(folder, 'stderr')];
  const child = await spawn(argv, options, [Bun.file(outFile), Bun.file(errFile)]);
  const printed = (file: string) => () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  return { child, stdout: printed(outFile), stderr: printed(errFile), ended: Promise.resolve() };
}

async function spawnPiped(argv: readonly string[], options: StartOptions) {
  const child = await spawn(argv, options, ['pipe', 'pipe']);
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const ended = Promise.all([out.ended, err.ended]).then(() => undefined);
  return { child, stdout: out.text, stderr: err.text, ended };
}

function collect(stream: ReadableStream<Uint8Array>) {
  let text = '';
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  })();
  return { text: () => text, ended };
}

/** Starts `serve` on a free port and waits until it says that it is ready. */
export async function startServe(options: StartOptions = {}): Promise<ServerProcess> {
  const dataDir = options.dataDir ?? join(temporaryFolder(), 'data');
  if (options.dataDir === undefined && STORE === 'sqlite') await prepareData(dataDir);
  const args = ['serve', '--port', '0', '--data', dataDir, ...(options.args ?? [])];
  const { child, stdout, stderr, ended } = await (options.isPiped ? spawnPiped : spawnToFiles)(
    args,
    options,
  );
  const exited = child.exited.then(async (): Promise<Exit> => {
    await ended;
    return { code: child.exitCode, signal: child.signalCode };
  });
  let hasEnded = false;
  void exited.then(() => {
    hasEnded = true;
  });
  const url = await until('a server listens', () => {
    if (hasEnded) throw new Error(`serve ended at once: ${stderr()}`);
    return /listening on (https?:\/\/[^\s"]+)/.exec(stdout())?.[1];
  });
  return {
    pid: child.pid,
    url,
    port: Number(new URL(url).port),
    get monitorUrl() {
      return /(?:metrics are at |"monitor_url":")(http:\/\/[^\s"]+)/.exec(stdout())?.[1] ?? '';
    },
    dataDir,
    stdout,
    stderr,
    troubles: () => {
      const isNews = (line: string) => /^\S+ (?:info|debug) |"level":"(?:info|debug)"/.test(line);
      return stderr()
        .split('\n')
        .filter((line) => line !== '' && !isNews(line));
    },
    exited,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}

/** The resident memory of a process, MiB. */
export async function residentMib(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** A provider on a data directory, made as the operator makes one. */
export async function addProviderByCommand(
  dataDir: string,
  ...more: string[]
): Promise<Credentials> {
  if (STORE === 'sqlite') await prepareData(dataDir);
  const words = ['provider', 'add', '--name', 'test', '--json', '--data', dataDir, ...more];
  const { code, stdout, stderr } = await run(words);
  if (code !== 0) throw new Error(`provider add failed: ${stderr}`);
  const printed = JSON.parse(stdout) as { provider_code: string; auth_key: string };
  return { code: printed.provider_code, authKey: printed.auth_key };
}
