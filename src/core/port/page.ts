/** Parts of what is long: pages of a list, and how far a look in steps has come. */

/** A part of a list, newest first. */
export interface Page {
  /** The id of the only record; null: of all. */
  id: number | null;
  /** An id above those of all records; null: none. */
  beforeId: number | null;
  countMax: number;
}

declare const kind: unique symbol;

/**
 * Position of a look that goes in steps. The store alone makes and reads it, whatever it finds
 * its way by; the core hands it back. Null is the beginning as an argument, the end as an answer.
 */
export interface Cursor<Kind extends string> {
  readonly [kind]: Kind;
}
