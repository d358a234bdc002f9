/** A page of a list. */

/** A part of a list, newest first. */
export interface Page {
  /** Only the record with this id. */
  id: number | null;
  /** Only records with a lower id. */
  beforeId: number | null;
  countMax: number;
}
