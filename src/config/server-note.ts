/**
 * The note of a running server about its settings, in the data directory, for commands beside it:
 * in another shell they would else apply other settings in silence.
 *
 * The note gives the owner of the data directory no power over root: a command of root becomes that
 * owner before it reads the note.
 */

import { accessSync, constants, lstatSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { type Log, reasonOf } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import { giveToOwnerOfFolder } from '../base/permissions.ts';
import { isRecord } from '../core/json-input.ts';
import { takeLock } from '../disk/lock.ts';
import { sharersOf } from '../disk/lock-holder.ts';
import {
  type Asker,
  CONFIG_VARIABLE,
  dataDirectory,
  type Environment,
  type Flags,
  NO_FILE,
} from './files.ts';
import { ASKER, type LoadedConfig, loadConfig } from './load.ts';
import { SETTINGS, type SettingName, settingRows } from './settings/index.ts';
import { unseenText } from './unseen.ts';

interface ServerNote {
  /** The absolute path of its file; `none`: it must read none; null: it found none. */
  file: string | null;
  /** The values of its flags. They hold no secrets. */
  flags: Flags;
  /** Settings of which it has the variable. The values may be secrets, so they are not noted. */
  variables: readonly SettingName[];
  /** When it started, UTC ms; null: an older program, which does not say so. */
  startedAtMs: number | null;
  /** Where it listens; null: not yet, or it is an older program. */
  url: string | null;
}

/** The facts of a server besides its settings. */
type Serving = Pick<ServerNote, 'startedAtMs' | 'url'>;

const NOTE_FILE = 'gatepost.settings';
/** The lock that tells the note of a running server from that of a killed one. */
const LOCK_FILE = 'gatepost-settings.lock';
const NOTE_BYTES_MAX = 65_536;
/** Waits for a command that looks whether a server runs, ms, and for another such command. */
const LOCK_WAIT_MAX_MS = 1_000;
const LOOK_WAIT_MAX_MS = 20;
const PATH_LENGTH_MAX = 4096;
/** Flags of `gatepost serve` that commands lack. */
const SERVE_FLAGS = ['host', 'port'] as const;

/** Notes the settings of a server; the last of several servers wins. Throws on a full disk. */
export function noteSettings(
  { config, file, named, sources }: LoadedConfig,
  serving: Serving,
): void {
  const isFrom = (name: SettingName, origin: string) => sources[name].origin === origin;
  const flags = SERVE_FLAGS.filter((name) => isFrom(name, `--${name}`));
  const note = {
    file: file === null ? named : resolve(file),
    flags: Object.fromEntries(flags.map((name) => [name, sources[name].text])),
    variables: settingRows.filter(([name, { env }]) => isFrom(name, env)).map(([, { env }]) => env),
    ...serving,
  };
  const path = join(config.dataDir, NOTE_FILE);
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  giveToOwnerOfFolder(draft);
  renameSync(draft, path);
}

/**
 * Marks the note as that of a running server, until the returned function is called. Throws on a
 * full disk.
 */
export function holdNote(dataDir: string): () => void {
  return takeLock(join(dataDir, LOCK_FILE), 'shared', LOCK_WAIT_MAX_MS) ?? (() => {});
}

/** Notes the settings of a server while it runs. A full disk is logged. */
export function keepNote(loaded: LoadedConfig, startedAtMs: number, log: Log) {
  let current = loaded;
  const serving: Serving = { startedAtMs, url: null };
  const unlessFull = <T>(write: () => T): T | undefined => {
    try {
      return write();
    } catch (fault) {
      log.warn('settings_not_noted', { reason: reasonOf(fault) });
      return undefined;
    }
  };
  const write = () => unlessFull(() => noteSettings(current, serving));
  write();
  const release = unlessFull(() => holdNote(loaded.config.dataDir));
  return {
    replace: (next: LoadedConfig) => {
      current = next;
      write();
    },
    listens: (url: string) => {
      serving.url = url;
      write();
    },
    stop: async () => release?.(),
  };
}

/** A server on a data directory. */
export interface NotedServer {
  /** Null: it left none that can be read. */
  note: ServerNote | null;
  /** The processes that serve, as far as the system shows them. */
  pids: readonly number[];
}

/** Finds the server of a data directory. `unknown`: this user may not see whether one runs. */
export function serverOn(dataDir: string): NotedServer | 'absent' | 'unknown' {
  const lock = join(dataDir, LOCK_FILE);
  try {
    if (!lstatSync(lock).isFile()) return 'absent';
    const unlock = takeLock(lock, 'exclusive', LOOK_WAIT_MAX_MS);
    unlock?.();
    if (unlock !== null) return 'absent';
  } catch (fault) {
    const { code } = fault as { code?: unknown };
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    // Such as a file that this user may not write to: the system may show who holds its lock.
    if (sharersOf(lock).length === 0) return 'unknown';
  }
  return { note: readNote(dataDir), pids: sharersOf(lock) };
}

function readNote(dataDir: string): ServerNote | null {
  const path = join(dataDir, NOTE_FILE);
  try {
    const { size } = lstatSync(path);
    const isFile = lstatSync(path).isFile() && size <= NOTE_BYTES_MAX;
    return isFile ? noteIn(JSON.parse(readFileSync(path, 'utf8'))) : null;
  } catch {
    return null;
  }
}

function noteIn(read: unknown): ServerNote | null {
  if (!isRecord(read)) return null;
  const { file, flags, variables, startedAtMs, url } = read;
  if (file !== null && file !== NO_FILE && !isPath(file)) return null;
  const given = isRecord(flags) ? flags : {};
  const known = SERVE_FLAGS.filter((name) => typeof given[name] === 'string');
  const names = new Set(Array.isArray(variables) ? variables : []);
  return {
    file,
    flags: Object.fromEntries(known.map((name) => [name, given[name]])),
    variables: settingRows
      .filter(([name, { env }]) => name !== 'dataDir' && names.has(env))
      .map(([name]) => name),
    startedAtMs: typeof startedAtMs === 'number' ? startedAtMs : null,
    url: typeof url === 'string' && /^https?:\/\/[^\s/]+$/.test(url) ? url : null,
  };
}

const isPath = (file: unknown): file is string =>
  typeof file === 'string' && isAbsolute(file) && file.length <= PATH_LENGTH_MAX;

/**
 * Loads the configuration for a command: that of the server which runs on the data directory, as
 * far as the command can see it, unless a flag or variable names another file. Throws as
 * {@link loadConfig} does.
 */
export function loadBesideServer(
  flags: Flags,
  environment: Environment,
  asker: Asker = ASKER,
): LoadedConfig {
  const own = attempt(() => loadConfig(flags, environment, asker));
  const dataDir = own.loaded?.config.dataDir ?? dataDirectory(flags, environment, asker);
  const named = flags.configFile || environment[CONFIG_VARIABLE] || null;
  const server = serverOn(dataDir);
  const note = typeof server === 'string' ? null : server.note;
  const isOther = named !== null && (named === NO_FILE ? named : resolve(named)) !== note?.file;
  if (note === null || isOther) return outcomeOf(own);
  const { file } = note;
  if (file !== null && file !== NO_FILE && !isReadable(file)) {
    return { ...outcomeOf(own), unseenFile: file };
  }
  const isSame = typeof own.loaded?.file === 'string' && resolve(own.loaded.file) === file;
  const place = isSame ? {} : { dataDir, configFile: file ?? undefined };
  const whole = attempt(() => {
    return loadConfig({ ...note.flags, ...flags, ...place }, environment, asker);
  });
  const unseen = note.variables
    .map((name) => ({ name, key: SETTINGS[name].key, variable: SETTINGS[name].env }))
    .filter(({ name, variable }) => !environment[variable] && !flags[name]);
  if (whole.error && unseen.length > 0) {
    const { code, message } = whole.error;
    throw new OperatorError(`${message}; ${unseenText(unseen)}`, code);
  }
  return { ...outcomeOf(whole), unseen };
}

type Attempt = { loaded: LoadedConfig; error?: never } | { loaded?: never; error: OperatorError };

/** Loads a configuration; keeps its mistakes, which other settings of the server may mend. */
function attempt(load: () => LoadedConfig): Attempt {
  try {
    return { loaded: load() };
  } catch (error) {
    if (error instanceof OperatorError) return { error };
    throw error;
  }
}

function outcomeOf({ loaded, error }: Attempt): LoadedConfig {
  if (error) throw error;
  return loaded;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
