/** What a setting is. */

/** How a value may be written in the file. */
export type FileType = 'string' | 'integer' | 'boolean' | 'array';

export interface Setting<T> {
  /** `section.name` in the file; only `data` has no section. */
  key: string;
  /** Environment variable. */
  env: string;
  /** As it would be written in the environment; an array is joined with commas. */
  default: string;
  /** What the file may hold. */
  types: readonly [FileType, ...FileType[]];
  /** Returns the value, or throws RangeError with what it should have been. */
  read(text: string): T;
  /** Sentences for the operator, in short lines: they are joined with blanks. */
  about: readonly string[];
  /** Does a change take effect on SIGHUP, without a restart? */
  isLive?: true;
  /** Is it never shown? */
  isSecret?: true;
}

export const setting = <T>(row: Setting<T>): Setting<T> => row;
