/** The question for a cut-off: ./cut-off.ts. */

/** A cut-off that is asked for. */
export interface WantedCut {
  installId: number;
  /** The HWID whose slot is freed, and which is barred; null: the link is cut off alone. */
  hwid: string | null;
  /** The key of the link when the upstream was found. */
  keyHash: string | null;
  /** The upstream; null: it is impossible, for the reason `why`. */
  host: string | null;
  why: string | null;
  isByUser: boolean;
}
