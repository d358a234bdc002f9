/** A mistake that could be made in a source, and the tests that are there to notice it. */

/** The exact text, once in its file, and what it becomes. */
export type Change = readonly [text: string, replacement: string];

export interface MutatedFile {
  file: string;
  /** Test files or folders that notice each of the changes, the quickest first. */
  tests: readonly string[];
  /** The tests run with PostgreSQL as the store. Default: SQLite. */
  store?: 'postgres';
  changes: readonly Change[];
}
