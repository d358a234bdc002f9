/** The configuration file: TOML, read with the line of each value for error messages. */

import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';
import { nearestText } from './nearest.ts';
import { REPEATED, repetition } from './repeated.ts';
import { type SettingName, settingRows } from './settings/index.ts';
import { heading } from './tables.ts';
import { inWords, settingText } from './value-form.ts';

/** A value of the file, in the form of an environment variable, with its line. */
export interface FileValue {
  text: string;
  line: number;
  /** Lines of tables and of their keys, by place: `2`, `2.host`. */
  lines?: ReadonlyMap<string, number>;
}

interface FileContent {
  /** Values by the names of their settings. */
  values: ReadonlyMap<SettingName, FileValue>;
  /** Errors as `line: problem`, in the order of the lines. */
  problems: string[];
}

const BY_KEY = new Map(settingRows.map(([name, row]) => [row.key, { name, row }]));
const SECTIONS = new Set(settingRows.map(([, row]) => row.key.split('.').slice(0, -1).join('.')));

/** Reads the text of a configuration file. Never throws: errors are in `problems`. */
export function readConfigFile(source: string): FileContent {
  const values = new Map<SettingName, FileValue>();
  const problems: string[] = [];
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(source.replace(/^\uFEFF/, ''));
  } catch (error) {
    // The parser's stack overflowed.
    if (error instanceof RangeError)
      return { values, problems: ['1: invalid TOML: too deeply nested'] };
    if (!(error instanceof ParseError)) throw error;
    const message =
      (error.message === REPEATED ? repetition(source, error.lineNumber) : null) ??
      `${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}`;
    return { values, problems: [`${error.lineNumber}: invalid TOML: ${message}`] };
  }
  for (const { path, node, line } of pairs(program)) {
    const found = BY_KEY.get(path);
    const written = found && node ? settingText(jsonOf(node), found.row.types) : null;
    if (!found || found.row.tables) problems.push(`${line}: ${unknown(path)}`);
    else if (written === null) {
      problems.push(`${line}: ${path} must be ${inWords(found.row.types)}`);
    } else values.set(found.name, { text: written, line });
  }
  for (const [setting, tables] of tablesOf(program)) values.set(setting, asValue(tables));
  return { values, problems };
}

interface Pair {
  path: string;
  /** Null: a table where a value is expected. */
  node: AST.TOMLContentNode | null;
  line: number;
}

/** Lists every key with a value, by its whole path, and every table that is no section. */
function pairs(program: AST.TOMLProgram): Pair[] {
  return program.body.flatMap((top) =>
    top.body.flatMap((entry): Pair[] => {
      if (entry.type === 'TOMLKeyValue') return keyValue(entry, '');
      if (settingOf(entry) !== null) return [];
      const section = pathOf(entry.key);
      const inside = entry.body.flatMap((row) => keyValue(row, section));
      const line = entry.loc.start.line;
      const isSection = SECTIONS.has(section) && entry.kind === 'standard';
      return isSection ? inside : [{ path: section, node: null, line }];
    }),
  );
}

function keyValue(entry: AST.TOMLKeyValue, section: string): Pair[] {
  const path = section === '' ? pathOf(entry.key) : `${section}.${pathOf(entry.key)}`;
  if (entry.value.type === 'TOMLInlineTable' && SECTIONS.has(path)) {
    return entry.value.body.flatMap((row) => keyValue(row, path));
  }
  return [{ path, node: entry.value, line: entry.loc.start.line }];
}

function pathOf(key: AST.TOMLKey): string {
  return key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value)).join('.');
}

/** Converts a value of the file to JSON; null: it has a type that no setting has. */
function jsonOf(node: AST.TOMLContentNode): unknown {
  if (node.type === 'TOMLArray') return node.elements.map(jsonOf);
  if (node.type !== 'TOMLValue') return null;
  return ['string', 'integer', 'boolean'].includes(node.kind) ? node.value : null;
}

function unknown(path: string): string {
  const tables = BY_KEY.get(path)?.row.tables;
  if (tables) return `${path} is a table: write ${heading(path, tables)}`;
  if (SECTIONS.has(path)) return `${path} is a section: write [${path}], once`;
  const place = tableWith(path);
  const known = [...BY_KEY.keys(), ...SECTIONS].filter(Boolean);
  const hint = place === null ? nearestText(path, known) : `, but ${place} has such a key`;
  return `there is no setting ${JSON.stringify(path).slice(1, -1)}${hint}`;
}

/** Returns the heading of the table, below the section of `path`, that has its last key. */
function tableWith(path: string): string | null {
  const [section, last] = [path.slice(0, path.lastIndexOf('.')), path.split('.').at(-1)];
  for (const [key, { row }] of BY_KEY) {
    const keys = key.startsWith(`${section}.`) ? Object.values(row.tables?.keys ?? {}) : [];
    if (row.tables && keys.some((one) => one.key === last)) return heading(key, row.tables);
  }
  return null;
}

/** A table that belongs to a setting. */
interface OwnTable {
  /** Its name, or its number from 1. */
  place: string;
  entry: AST.TOMLTable;
  isNamed: boolean;
}

/** Lists the tables of settings, in their order. */
function tablesOf(program: AST.TOMLProgram): Map<SettingName, OwnTable[]> {
  const found = new Map<SettingName, OwnTable[]>();
  for (const entry of program.body.flatMap((top) => top.body)) {
    const own = entry.type === 'TOMLTable' ? settingOf(entry) : null;
    if (entry.type !== 'TOMLTable' || own === null) continue;
    const tables = found.get(own.setting) ?? [];
    const place = own.name ?? String(tables.length + 1);
    tables.push({ place, entry, isNamed: own.name !== null });
    found.set(own.setting, tables);
  }
  return found;
}

interface OwnSetting {
  setting: SettingName;
  /** Name that the table has, or null. */
  name: string | null;
}

/** Returns the setting that a table belongs to, or null. */
function settingOf({ key, kind }: AST.TOMLTable): OwnSetting | null {
  const path = pathOf(key);
  for (const [setting, row] of settingRows) {
    const isNamed = row.tables?.exampleName !== null;
    if (!row.tables || (kind === 'array') === isNamed) continue;
    if (!isNamed && path === row.key) return { setting, name: null };
    if (isNamed && path.startsWith(`${row.key}.`)) {
      return { setting, name: path.slice(row.key.length + 1) };
    }
  }
  return null;
}

function asValue(tables: readonly OwnTable[]): FileValue {
  const lines = new Map<string, number>();
  const written = tables.map(({ place, entry }): [string, unknown] => {
    lines.set(place, entry.loc.start.line);
    const pairs = entry.body.map((row): [string, unknown] => {
      lines.set(`${place}.${pathOf(row.key)}`, row.loc.start.line);
      return [pathOf(row.key), jsonOf(row.value)];
    });
    return [place, Object.fromEntries(pairs)];
  });
  const isNamed = tables.some((table) => table.isNamed);
  const json = isNamed ? Object.fromEntries(written) : written.map(([, table]) => table);
  return { text: JSON.stringify(json), line: tables[0]?.entry.loc.start.line ?? 0, lines };
}
