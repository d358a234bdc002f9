/** The form of a setting. */

import type { TableForm } from './tables.ts';
import { type Reader, readerOf, type ValueForm } from './value-form.ts';

export interface Setting<T> extends ValueForm<T> {
  /** Key in the file, `section.name`; only `data` has no section. */
  key: string;
  /** Environment variable; empty: only the file may set it. */
  env: string;
  /** Default as the environment would have it; an array is joined with commas. */
  default: string;
  /** Form of the tables that the file has in place of a value. */
  tables?: TableForm;
  /** A change takes effect on SIGHUP, without a restart. */
  isLive?: true;
  /** The value that the example file sets, for new installations; absent: it sets none. */
  fresh?: string;
  /** The value is never shown. */
  isSecret?: true;
  /** Returns the text to show, if a part of it may be secret. */
  mask?(text: string): string;
}

/** The parts of keys that variables omit: `server.port` is GATEPOST_PORT. */
const OMITTED = /^(?:server|limits|database(?=\.(?:commit_batch_max|strangers_max|\w+_days)$))\./;

/** Makes a setting that a restart changes. */
export function setting<T>(
  key: string,
  standard: string,
  reader: Reader<T>,
  about: readonly string[],
): Setting<T> {
  const env = `GATEPOST_${key.replace(OMITTED, '').replaceAll('.', '_').toUpperCase()}`;
  return { key, env, default: standard, ...readerOf(reader), about };
}

/** Makes a setting that takes effect on SIGHUP. */
export function live<T>(...row: Parameters<typeof setting<T>>): Setting<T> {
  return { ...setting(...row), isLive: true };
}
