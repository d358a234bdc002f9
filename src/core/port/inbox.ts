/** Inboxes of devices: their records, and the part of the port that remembers them. */

import type { DistributionType } from './distribution.ts';

export const ACK_STATES = ['received', 'opened', 'executed', 'failed'] as const;

export type AckState = (typeof ACK_STATES)[number];

export interface AckItem {
  id: number;
  state: AckState;
  /** The reason of a failure. */
  detail: string | null;
}

export interface Message {
  /** The distribution's id: the same in every copy. */
  id: number;
  /** Its sender, and the length of its payload, bytes. */
  providerId: number;
  bytes: number;
  notificationType: DistributionType;
  createdAtMs: number;
  expiresAtMs: number;
  payload: unknown;
}

/** A device with the token by which it is known: both are asked in every step. */
export interface TokenHolder {
  id: number;
  tokenHash: Uint8Array;
}

export interface InboxStore {
  /**
   * Messages that wait in the places of a token, oldest first; none for a dead token. No more than
   * `countMax`, and no further one once `bytesMax` bytes of payload are reached: `isCut` then.
   */
  listInbox(
    holder: TokenHolder,
    nowMs: number,
    limits: { countMax: number; bytesMax: number },
  ): Promise<{ messages: Message[]; isCut: boolean }>;
  /**
   * Notes what a device says of its messages; what its token may not have is passed over. Returns
   * the items that changed something; if none does, nothing is written.
   */
  acknowledge(holder: TokenHolder, items: readonly AckItem[], nowMs: number): Promise<AckItem[]>;
}
