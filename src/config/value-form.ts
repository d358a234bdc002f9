/** The form of a value: of a setting, or of a key in a table. */

/** Types that a value may have in the file. */
type FileType = 'string' | 'integer' | 'boolean' | 'array';

/** The form of a value, and its meaning. */
export interface ValueForm<T> {
  /** Types that the file may hold; none: tables. */
  types: readonly FileType[];
  /** Returns the value, or throws RangeError with the form it should have. */
  read(text: string): T;
  /** Sentences for the operator, in short lines: they are joined with blanks. */
  about: readonly string[];
}

/** The text of a value as the environment would have it; null: it is of none of these types. */
export function textOf(value: unknown, types: readonly FileType[]): string | null {
  if (Array.isArray(value)) {
    const isList = types.includes('array') && value.every((item) => typeof item === 'string');
    return isList ? value.join(',') : null;
  }
  const type = Number.isSafeInteger(value) ? 'integer' : typeof value;
  return types.some((known) => known === type) ? String(value) : null;
}

/** The words behind "must be". */
export function inWords(types: readonly FileType[]): string {
  return types.map((type) => WORDS[type]).join(' or ');
}

const WORDS: Readonly<Record<FileType, string>> = {
  string: 'a string',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array of strings',
};
