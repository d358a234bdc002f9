/** Fields of a record from a file or from another server: the first that does not fit ends it. */

import type { Reader } from '../formats.ts';
import { isRecord } from '../json-input.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A record that does not fit; the message names the field. */
export class FieldFault extends Error {}

/** The record that `read` puts together, or as a refusal the field that does not fit. */
export function readFields<T>(read: () => T, subject = ''): T | Misfit {
  try {
    return read();
  } catch (fault) {
    if (fault instanceof FieldFault) return malformed(subject + fault.message);
    throw fault;
  }
}

/** The value of a field; a {@link FieldFault} if it does not fit. */
export function fit<T>(fields: Fields, name: string, read: Reader<T>): T {
  const value = read(fields[name]);
  if (isRefused(value)) throw new FieldFault(`${name} ${value.detail}`);
  return value as T;
}

/** The object in a field. */
export function within(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (!isRecord(value)) throw new FieldFault(`${name} is not an object`);
  return value;
}

/** The refusal of a value that has no format of its own. */
export const MISFIT = malformed('is not as specified');
