/** The form of a setting. */

/** Types that a value may have in the file. */
type FileType = 'string' | 'integer' | 'boolean' | 'array';

export interface Setting<T> {
  /** Key in the file, `section.name`; only `data` has no section. */
  key: string;
  /** Environment variable. */
  env: string;
  /** Default as the environment would have it; an array is joined with commas. */
  default: string;
  /** Types that the file may hold. */
  types: readonly [FileType, ...FileType[]];
  /** Returns the value, or throws RangeError with the form it should have. */
  read(text: string): T;
  /** Sentences for the operator, in short lines: they are joined with blanks. */
  about: readonly string[];
  /** Tells whether a change takes effect on SIGHUP, without a restart. */
  isLive?: true;
  /** Tells whether it is never shown. */
  isSecret?: true;
}

/** Makes a row of the table; its value is a string in the file unless it names other types. */
export function setting<T>(row: Omit<Setting<T>, 'types'> & Partial<Setting<T>>): Setting<T> {
  return { types: ['string'], ...row };
}
