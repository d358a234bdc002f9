/** Ends of slots and links of which devices are notified: records, and their part of the port. */

/** Why a device lost its slot. `link_disabled`: it has its slot, but its link is disabled. */
export const END_WORDS = ['slot_freed', 'link_ended', 'link_disabled', 'link_replaced'] as const;

export type EndWord = (typeof END_WORDS)[number];

/**
 * An end, as its device learns it: nothing but reason and time. More, such as the device that took
 * the slot, would inform one person of a household about another.
 */
export interface Ended {
  why: EndWord;
  atMs: number;
}

/** Writes an end for the column of a token; with the link that may withdraw it. */
export const endedText = ({ why, atMs }: Ended, installId?: number) =>
  installId === undefined ? `${why} ${atMs}` : `${why} ${atMs} ${installId}`;

/** Returns a token's column without the end of a link that is enabled again; null: none is left. */
export function withoutDisabled(text: string, installId: number): string | null {
  const left = text.split(',').filter((one) => {
    const [why, , ofLink] = one.split(' ');
    return why !== 'link_disabled' || Number(ofLink) !== installId;
  });
  return left.length === 0 ? null : left.join();
}

/** Reads the column of a token: the ends in the order in which they came. */
export function readEnded(text: string): Ended[] {
  return text.split(',').map((one) => {
    const [why = '', atMs] = one.split(' ');
    return { why: why as EndWord, atMs: Number(atMs) };
  });
}

export interface EndedStore {
  /** Finds why and when a token ended with the slot of its last place; null: it did not. */
  findEndedToken(tokenHash: Uint8Array): Promise<Ended | null>;
  /**
   * Saves that an answer carried the ends of a token, `ended` of `findDeviceByToken`; if another
   * end came meanwhile, all are sent again.
   */
  noteNotified(tokenId: number, ended: string): Promise<void>;
  /** Deletes some tokens that ended before a time. Returns false if there were none. */
  forgetEndedTokens(endedBeforeMs: number): Promise<boolean>;
}
