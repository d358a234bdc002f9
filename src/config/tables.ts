/**
 * Settings that are tables in the file, `[[gate.upstream]]` or `[gate.text.en]`, and JSON in the
 * environment. Their text is that JSON for both sources; each key has a row like a setting.
 */

import { isRecord } from '../core/json-input.ts';
import { nearestText } from './nearest.ts';
import { inWords, type Reader, readerOf, settingText, type ValueForm } from './value-form.ts';

/** A key of a table. */
export interface TableKey<T> extends ValueForm<T> {
  key: string;
  /** The default; null: the key is required. */
  default: string | null;
  /** Value in the example file, if the default explains nothing. */
  example?: string;
}

export type TableKeys = Readonly<Record<string, TableKey<unknown>>>;

type ValueOf<R> = R extends TableKey<infer T> ? T : never;
type Optional<K> = { [N in keyof K]: undefined extends ValueOf<K[N]> ? N : never }[keyof K];

/** The values of a table by the names of their rows, without undefined ones. */
type Table<K extends TableKeys> = {
  readonly [N in Exclude<keyof K, Optional<K>>]: ValueOf<K[N]>;
} & { readonly [N in Optional<K>]?: Exclude<ValueOf<K[N]>, undefined> };

/** The form of a setting's tables. */
export interface TableForm {
  /** Name of the table in the example file; null: tables have no name. */
  exampleName: string | null;
  keys: TableKeys;
}

/** Returns the heading of a setting's table in the file. */
export function heading(key: string, { exampleName }: TableForm): string {
  return exampleName === null ? `[[${key}]]` : `[${key}.${exampleName}]`;
}

interface Mistake {
  /** `2.host`: key of the second table; `ru`: the table of that name; empty: the whole setting. */
  place: string;
  reason: string;
}

/** Errors in tables, each with its place. */
export class TableMistakes extends RangeError {
  constructor(readonly mistakes: readonly Mistake[]) {
    super(mistakes.map(({ place, reason }) => `${place}: ${reason}`).join('; '));
  }
}

/** Makes a key of a table. */
export function tableKey<T>(
  key: string,
  standard: string | null,
  reader: Reader<T>,
  about: readonly string[],
): TableKey<T> {
  return { key, default: standard, ...readerOf(reader), about };
}

/** Makes a key of a table whose default explains nothing: the example file shows `example`. */
export function exampleKey<T>(
  key: string,
  standard: string | null,
  example: string,
  reader: Reader<T>,
  about: readonly string[],
): TableKey<T> {
  return { ...tableKey(key, standard, reader, about), example };
}

interface Rules<K extends TableKeys> {
  keys: K;
  countMax: number;
}

interface ListRules<K extends TableKeys> extends Rules<K> {
  /** Name of the text key that must differ between tables. */
  distinct: keyof K & keyof Table<K>;
}

/** Makes the reader of `[[key]]`: JSON, an array of objects. */
export function listOfTables<K extends TableKeys>({ distinct, ...rules }: ListRules<K>) {
  return {
    types: [],
    tables: { exampleName: null, keys: rules.keys } satisfies TableForm,
    read(text: string): readonly Table<K>[] {
      const given = text === '' ? [] : parsed(text);
      if (!Array.isArray(given)) throw misfit('it is not a JSON array of objects');
      const placed = given.map((item: unknown, at): [string, unknown] => [String(at + 1), item]);
      return [...readTables(rules, placed, (_, table) => table[distinct]).values()];
    },
  };
}

interface NamedRules<K extends TableKeys> extends Rules<K> {
  exampleName: string;
  /** Returns the normal form of a name. Throws RangeError with the expected form. */
  readName(given: string): string;
}

/** Makes the reader of `[key.NAME]`: JSON, an object of objects. */
export function namedTables<K extends TableKeys>(rules: NamedRules<K>) {
  const { keys, exampleName, readName } = rules;
  return {
    types: [],
    tables: { exampleName, keys } satisfies TableForm,
    read(text: string): Readonly<Record<string, Table<K>>> {
      const given = text === '' ? {} : parsed(text);
      if (!isRecord(given)) throw misfit('it is not a JSON object of objects');
      return Object.fromEntries(readTables(rules, Object.entries(given), readName));
    },
  };
}

/** Reads tables, keyed by `nameOf`. Throws {@link TableMistakes}. */
function readTables<K extends TableKeys>(
  { keys, countMax }: Rules<K>,
  given: [place: string, written: unknown][],
  nameOf: (place: string, table: Table<K>) => unknown,
): Map<string, Table<K>> {
  if (given.length > countMax) throw misfit(`there are more than ${countMax}`);
  const mistakes: Mistake[] = [];
  const tables = new Map<string, Table<K>>();
  for (const [place, written] of given) {
    if (!isRecord(written)) {
      mistakes.push({ place, reason: 'it is not an object' });
      continue;
    }
    const table = readTable(keys, place, written, mistakes);
    const name = caught(place, mistakes, () => nameOf(place, table));
    if (typeof name !== 'string') continue;
    if (tables.has(name)) mistakes.push({ place, reason: `there is a table for ${name} already` });
    tables.set(name, table);
  }
  if (mistakes.length > 0) throw new TableMistakes(mistakes);
  return tables;
}

function readTable<K extends TableKeys>(
  keys: K,
  name: string,
  written: Record<string, unknown>,
  mistakes: Mistake[],
): Table<K> {
  const known = new Set(Object.values(keys).map(({ key }) => key));
  for (const key of Object.keys(written).filter((other) => !known.has(other))) {
    const reason = `there is no such key${nearestText(key, [...known])}`;
    mistakes.push({ place: `${name}.${key}`, reason });
  }
  const values = Object.entries(keys).map(([property, row]) => {
    const text = Object.hasOwn(written, row.key)
      ? settingText(written[row.key], row.types)
      : row.default;
    if (text !== null) {
      return [property, caught(`${name}.${row.key}`, mistakes, () => row.read(text))];
    }
    const isThere = Object.hasOwn(written, row.key);
    const reason = isThere ? `it must be ${inWords(row.types)}` : `${row.key} is missing`;
    mistakes.push({ place: isThere ? `${name}.${row.key}` : name, reason });
    return [property, undefined];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Table<K>;
}

/** Returns the value of `read`; turns a RangeError into a mistake and undefined. */
function caught<T>(place: string, mistakes: Mistake[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    mistakes.push({ place, reason: error.message });
    return undefined;
  }
}

function misfit(reason: string): TableMistakes {
  return new TableMistakes([{ place: '', reason }]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw misfit('it is not JSON');
  }
}

/** A key of a table with its effective value. */
interface WrittenKey {
  /** `2.host` */
  place: string;
  text: string;
  isDefault: boolean;
}

/** Lists the keys of the tables in a valid text, defaults included. */
export function writtenKeys({ keys }: TableForm, text: string): WrittenKey[] {
  if (text === '') return [];
  const tables = Object.entries(parsed(text) as Record<string, Record<string, unknown>>);
  const isList = text.startsWith('[');
  return tables.flatMap(([name, table]) =>
    Object.values(keys).map(({ key, types, default: standard }) => ({
      place: `${isList ? Number(name) + 1 : name}.${key}`,
      text: settingText(table[key], types) ?? standard ?? '',
      isDefault: !Object.hasOwn(table, key),
    })),
  );
}
