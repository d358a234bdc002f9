/** Parts of what is long: pages of a list, and how far a look in steps has come. */

/** A part of a list, newest first. */
export interface Page {
  /** Only the record with this id. */
  id: number | null;
  /** Only records with a lower id. */
  beforeId: number | null;
  countMax: number;
}

declare const kind: unique symbol;

/**
 * How far a look that goes in steps has come. The store alone makes and reads it, whatever it finds
 * its way by; the core hands it back. Null is the beginning as an argument, the end as an answer.
 */
export interface Cursor<Kind extends string> {
  readonly [kind]: Kind;
}
