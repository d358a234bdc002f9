/** Pages of lists, and positions of work that proceeds in steps. */

/** A page of a list, newest first. */
export interface Page {
  /** The id of the only record wanted; null: all. */
  id: number | null;
  /** Only records with smaller ids; null: all. */
  beforeId: number | null;
  countMax: number;
}

declare const kind: unique symbol;

/**
 * Position of work that proceeds in steps. Only the store makes and reads it; the core passes it
 * back. Null is the beginning as an argument, the end as a result.
 */
export interface Cursor<Kind extends string> {
  readonly [kind]: Kind;
}
