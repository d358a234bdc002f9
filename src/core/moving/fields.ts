/** Reads the fields of records from files and other servers; the first misfit rejects a record. */

import { snakeCase } from '../field.ts';
import type { Reader } from '../formats.ts';
import { isRecord } from '../json-input.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The fault of a record with a misfit; the message names the field. */
export class FieldFault extends Error {}

/** Calls `read`, and turns its {@link FieldFault} into a misfit. */
export function readFields<T>(read: () => T, subject = ''): T | Misfit {
  try {
    return read();
  } catch (fault) {
    if (fault instanceof FieldFault) return malformed(subject + fault.message);
    throw fault;
  }
}

/** Reads a field. Throws {@link FieldFault} for a misfit. */
export function fit<T>(fields: Fields, name: string, read: Reader<T>): T {
  const value = read(fields[name]);
  if (isRefused(value)) throw new FieldFault(`${name} ${value.detail}`);
  return value as T;
}

/** Makes the reader of a record from readers of its fields, in the order of checking. */
export function recordReader<T>(readers: { [Name in keyof T]-?: Reader<T[Name]> }) {
  const list = Object.entries(readers).map(
    ([name, read]) => [name, snakeCase(name), read as Reader<unknown>] as const,
  );
  return (fields: Fields): T =>
    Object.fromEntries(list.map(([name, wire, read]) => [name, fit(fields, wire, read)])) as T;
}

/** Returns the object in a field. Throws {@link FieldFault} if it is none. */
export function within(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (!isRecord(value)) throw new FieldFault(`${name} is not an object`);
  return value;
}

/** The misfit of a value without its own format. */
export const MISFIT = malformed('is not as specified');
