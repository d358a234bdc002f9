/**
 * The note of a running server about its settings, in the data directory, for commands beside it:
 * in another shell they would else apply other settings in silence.
 *
 * The note gives the owner of the data directory no new power over a command of root: a
 * `gatepost.toml` in that directory is read anyway.
 */

import { accessSync, constants, lstatSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { isRecord } from '../core/json-input.ts';
import { takeLock } from '../disk/lock.ts';
import { type Log, reasonOf } from '../log.ts';
import { OperatorError } from '../operator-error.ts';
import { giveToOwnerOfFolder } from '../permissions.ts';
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
}

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
export function noteSettings({ config, file, named, sources }: LoadedConfig): void {
  const isFrom = (name: SettingName, origin: string) => sources[name].origin === origin;
  const flags = SERVE_FLAGS.filter((name) => isFrom(name, `--${name}`));
  const note = {
    file: file === null ? named : resolve(file),
    flags: Object.fromEntries(flags.map((name) => [name, sources[name].text])),
    variables: settingRows.filter(([name, { env }]) => isFrom(name, env)).map(([, { env }]) => env),
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
export function keepNote(loaded: LoadedConfig, log: Log) {
  const unlessFull = <T>(write: () => T): T | undefined => {
    try {
      return write();
    } catch (fault) {
      log.warn('settings_not_noted', { reason: reasonOf(fault) });
      return undefined;
    }
  };
  unlessFull(() => noteSettings(loaded));
  const release = unlessFull(() => holdNote(loaded.config.dataDir));
  return {
    replace: (next: LoadedConfig) => unlessFull(() => noteSettings(next)),
    stop: async () => release?.(),
  };
}

/** Reads the note of a running server; null: none runs, or the note cannot be read. */
function readNote(dataDir: string): ServerNote | null {
  const [note, lock] = [join(dataDir, NOTE_FILE), join(dataDir, LOCK_FILE)];
  try {
    if (![note, lock].every((path) => lstatSync(path).isFile())) return null;
    if (lstatSync(note).size > NOTE_BYTES_MAX) return null;
    const unlock = takeLock(lock, 'exclusive', LOOK_WAIT_MAX_MS);
    unlock?.();
    return unlock === null ? noteIn(JSON.parse(readFileSync(note, 'utf8'))) : null;
  } catch {
    return null;
  }
}

function noteIn(read: unknown): ServerNote | null {
  if (!isRecord(read)) return null;
  const { file, flags, variables } = read;
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
  const note = readNote(dataDir);
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
