/** Bars of HWIDs: core/bar.ts. */

/** A HWID that is refused on a link. */
export interface Bar {
  hwidHash: string;
  madeAtMs: number;
  untilMs: number;
}
