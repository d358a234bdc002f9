/** The configuration files of a command: which they are, and what they say together. */

import { lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type FileValue, readConfigFile } from './file.ts';
import { BYTES_MAX, codeOf, folderOf, readFolder, utf8 } from './folder.ts';
import { SETTINGS, type SettingName } from './settings/index.ts';

/** Unparsed values of the command line. */
export type Flags = Partial<Record<SettingName | 'configFile', string | undefined>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variable with the name of the file to read instead of the usual ones. */
export const CONFIG_VARIABLE = 'GATEPOST_CONFIG';
/** The value for no file. */
export const NO_FILE = 'none';
const FILE_NAME = 'gatepost.toml';
const SYSTEM_FILE = '/etc/gatepost/gatepost.toml';
/** The data directory of the package. */
const SYSTEM_DATA = '/var/lib/gatepost';

/** The program that asks. */
export interface Asker {
  /** It is the package's: its usual places are those of the service. */
  isPackaged: boolean;
  /** It is to serve: it must not start without a file that it cannot reach. */
  serves: boolean;
}

/** A value of a file with its place. */
interface PlacedValue {
  text: string;
  /** The file and the line. */
  origin: string;
  /** Origins of tables and of their keys, by place (`2.host`). */
  origins?: ReadonlyMap<string, string>;
}

interface OpenedFile {
  path: string;
  values: ReadonlyMap<SettingName, PlacedValue>;
}

export interface OpenedFiles {
  /** The file itself, then those of its folder. */
  files: readonly OpenedFile[];
  /** The values of all of them. */
  values: ReadonlyMap<SettingName, PlacedValue>;
}

const NO_FILES: OpenedFiles = { files: [], values: new Map() };

interface Candidate {
  path: string;
  isInData: boolean;
  /** It must be there. */
  isNamed: boolean;
  /** It counts as absent in a folder that this user may not enter. */
  mayBeOutOfReach: boolean;
}

function candidates(flags: Flags, env: Environment, asker: Asker): Candidate[] {
  const { isPackaged, serves } = asker;
  const named = flags.configFile || env[CONFIG_VARIABLE];
  if (named === NO_FILE) return [];
  if (named) return [{ path: named, isInData: false, isNamed: true, mayBeOutOfReach: false }];
  const data = namedData(flags, env);
  const inData = {
    path: join(data ?? SETTINGS.dataDir.default, FILE_NAME),
    isInData: true,
    isNamed: false,
    mayBeOutOfReach: data === null,
  };
  const mayBeOutOfReach = !isPackaged && !serves;
  const system = { path: SYSTEM_FILE, isInData: false, isNamed: false, mayBeOutOfReach };
  return isPackaged && data === null ? [system] : [inData, system];
}

const namedData = (flags: Flags, env: Environment) =>
  flags.dataDir || env[SETTINGS.dataDir.env] || null;

/** Returns the data directory that no flag, variable and file names. */
export const usualData = ({ isPackaged }: Asker) =>
  isPackaged ? SYSTEM_DATA : SETTINGS.dataDir.default;

/**
 * Returns the data directory of a command, by the files outside of it alone: a command of root
 * opens nothing in it. Mistakes in these files are ignored.
 */
export function dataDirectory(flags: Flags, env: Environment, asker: Asker): string {
  const data = namedData(flags, env);
  if (data !== null) return data;
  const usual = usualData(asker);
  const own = candidates(flags, env, asker);
  if (own.some(({ path, isInData }) => isInData && isThere(path))) return usual;
  const outside = own.filter(({ isInData }) => !isInData);
  return openFirst(outside, []).values.get('dataDir')?.text ?? usual;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Reads the configuration files; adds their errors to `problems`. */
export function openFiles(
  flags: Flags,
  env: Environment,
  asker: Asker,
  problems: string[],
): OpenedFiles {
  return openFirst(candidates(flags, env, asker), problems);
}

/** Reads the first of the files that is there, and the files of its folder. */
function openFirst(possible: readonly Candidate[], problems: string[]): OpenedFiles {
  for (const candidate of possible) {
    const { path, isInData } = candidate;
    const main = mainFile(candidate, problems);
    if (main === null) continue;
    const folder = folderOf(path);
    const files =
      folder === null
        ? []
        : readFolder(folder, { owners: ownersBeside(main.uid), gid: main.gid }, problems);
    const opened = [{ path, text: main.text }, ...files].map((file) => {
      const { values, problems: own } = readConfigFile(file.text);
      problems.push(...own.map((problem) => `${file.path}:${problem}`));
      return { path: file.path, values: placed(values, file.path) };
    });
    const values = together(opened, problems);
    const data = values.get('dataDir');
    if (isInData && data) {
      // The location of the file depends on this setting.
      problems.push(`${data.origin}: data cannot be set by the file in the data directory`);
      values.delete('dataDir');
    }
    return { files: opened, values };
  }
  return NO_FILES;
}

/**
 * Returns the users that may own files beside a configuration file of this user: root, and its
 * owner if that is the user of this process. Beside a file of root's the service can write none.
 */
function ownersBeside(uid: number): number[] {
  const own = process.getuid?.() ?? 0;
  return uid !== 0 && (own === uid || own === 0) ? [0, uid] : [0];
}

function mainFile(
  { path, isNamed, mayBeOutOfReach }: Candidate,
  problems: string[],
): { text: string; uid: number; gid: number } | null {
  let isReached = false;
  try {
    const { size, uid, gid } = statSync(path);
    isReached = true;
    if (size <= BYTES_MAX) return { text: utf8(readFileSync(path)), uid, gid };
    problems.push(`${path} is larger than 1 MiB`);
  } catch (error) {
    const code = codeOf(error);
    const isOutOfReach = code === 'EACCES' && !isReached && mayBeOutOfReach;
    const isAbsent = code === 'ENOENT' || code === 'ENOTDIR' || isOutOfReach;
    if (error instanceof TypeError) problems.push(`${path} is not text in UTF-8`);
    else if (isNamed || !isAbsent) {
      problems.push(`cannot read ${path}: ${READ_FAILURES[code] ?? code}`);
    }
  }
  return null;
}

const READ_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied; run the command as root or as the user of the service',
};

function placed(values: ReadonlyMap<SettingName, FileValue>, path: string) {
  return new Map(
    [...values].map(([name, { text, line, lines }]): [SettingName, PlacedValue] => {
      const places = [...(lines ?? [])].map(([place, at]) => [place, `${path}:${at}`] as const);
      return [name, { text, origin: `${path}:${line}`, origins: new Map(places) }];
    }),
  );
}

/**
 * Joins the values of the files. Tables of a list follow each other, and named tables stand beside
 * each other; any other setting has one value, which a later file may repeat but not change.
 */
function together(files: readonly OpenedFile[], problems: string[]) {
  const all = new Map<SettingName, PlacedValue>();
  for (const [name, value] of files.flatMap(({ values }) => [...values])) {
    const before = all.get(name);
    if (before === undefined) all.set(name, value);
    else if (!SETTINGS[name].tables) refuseOther(SETTINGS[name].key, before, value, problems);
    else all.set(name, withTables(name, before, value, problems));
  }
  return all;
}

function refuseOther(
  key: string,
  before: PlacedValue,
  value: PlacedValue,
  problems: string[],
): void {
  if (value.text === before.text) return;
  problems.push(
    `${value.origin}: ${key} has another value at ${before.origin}: remove one of the two`,
  );
}

type Tables = Record<string, unknown>;

function withTables(
  name: SettingName,
  before: PlacedValue,
  value: PlacedValue,
  problems: string[],
): PlacedValue {
  const { key } = SETTINGS[name];
  const [old, more] = [before, value].map(({ text }) => JSON.parse(text) as Tables | unknown[]);
  if (Array.isArray(old) && Array.isArray(more)) {
    // The place of a table of a list is its number.
    const moved = [...(value.origins ?? [])].map(([place, origin]) => {
      const [number, ...rest] = place.split('.');
      return [[Number(number) + old.length, ...rest].join('.'), origin] as const;
    });
    const origins = new Map([...(before.origins ?? []), ...moved]);
    return { ...before, text: JSON.stringify([...old, ...more]), origins };
  }
  const [known, added] = [old as Tables, more as Tables];
  for (const table of Object.keys(added).filter((one) => Object.hasOwn(known, one))) {
    const [first, second] = [
      { text: JSON.stringify(known[table]), origin: before.origins?.get(table) ?? before.origin },
      { text: JSON.stringify(added[table]), origin: value.origins?.get(table) ?? value.origin },
    ];
    refuseOther(`${key}.${table}`, first, second, problems);
  }
  const origins = new Map([...(value.origins ?? []), ...(before.origins ?? [])]);
  return { ...before, text: JSON.stringify({ ...added, ...known }), origins };
}
