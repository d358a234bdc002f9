/** The form of a value: of a setting, or of a key in a table. */

/** Types that a value may have in the file. */
type FileType = 'string' | 'integer' | 'boolean' | 'array' | 'command';

/** The form of a value, and its meaning. */
export interface ValueForm<T> {
  /** Types that the file may have; none: tables. */
  types: readonly FileType[];
  /** Returns the value. Throws RangeError with the expected form. */
  read(text: string): T;
  /** Sentences for the operator; the lines are joined with blanks. */
  about: readonly string[];
}

/** A reader of a string, or a reader with the types that the file may hold. */
export type Reader<T> = ((text: string) => T) | Omit<ValueForm<T>, 'about'>;

/** Returns a reader with its types. */
export function readerOf<T>(reader: Reader<T>): Omit<ValueForm<T>, 'about'> {
  return typeof reader === 'function' ? { types: ['string'], read: reader } : reader;
}

/** Returns a value as the environment would have it; null: it has none of these types. */
export function settingText(value: unknown, types: readonly FileType[]): string | null {
  if (Array.isArray(value)) {
    if (!value.every((item) => typeof item === 'string')) return null;
    // Arguments may have commas.
    if (types.includes('command')) return JSON.stringify(value);
    return types.includes('array') ? value.join(',') : null;
  }
  const type = Number.isSafeInteger(value) ? 'integer' : typeof value;
  return types.some((known) => known === type) ? String(value) : null;
}

/** Returns the words after "must be". */
export function inWords(types: readonly FileType[]): string {
  return types.map((type) => WORDS[type]).join(' or ');
}

const WORDS: Readonly<Record<FileType, string>> = {
  string: 'a string',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array of strings',
  command: 'an array of strings',
};
