/** Inboxes of devices: their records and their part of the port. */

import type { DistributionType } from './distribution.ts';

export const ACK_STATES = ['received', 'opened', 'executed', 'failed'] as const;

export type AckState = (typeof ACK_STATES)[number];

export interface AckItem {
  id: number;
  state: AckState;
  /** The reason of a failure; null: none. */
  detail: string | null;
}

export interface Message {
  /** The distribution's id: the same for all recipients. */
  id: number;
  /** Its sender. */
  providerId: number;
  /** Length of its payload. */
  bytes: number;
  notificationType: DistributionType;
  createdAtMs: number;
  expiresAtMs: number;
  payload: unknown;
}

/** A device with the token that it shows; every step checks both. */
export interface TokenHolder {
  id: number;
  tokenHash: Uint8Array;
}

/**
 * The result of a glance at an inbox: its messages, oldest first; `more` if they are too many or
 * too long, so that only {@link InboxStore.listInbox} returns them; `revoked` if the token is no
 * longer valid; `ended` if there are ends of which the token has not been notified.
 */
export type Glance = readonly Message[] | 'more' | 'revoked' | 'ended';

export interface InboxStore {
  /**
   * Lists the messages that wait in the inboxes of a token, oldest first; none for a revoked token.
   * Stops after `countMax`, or when their payloads reach `bytesMax` bytes: `isCut` then.
   */
  listInbox(
    holder: TokenHolder,
    nowMs: number,
    limits: { countMax: number; bytesMax: number },
  ): Promise<{ messages: Message[]; isCut: boolean }>;
  /** Finds a message that waits for a token, however long it is; null: none has the id. */
  findWaiting(holder: TokenHolder, id: number, nowMs: number): Promise<Message | null>;
  /**
   * Glances at the inboxes of several tokens at once, which costs a fraction of their lists.
   * Glances that find the same message share one object.
   */
  glanceInboxes(
    holders: readonly (TokenHolder & { tokenId: number })[],
    nowMs: number,
  ): Promise<Glance[]>;
  /**
   * Records acknowledgements of a device; skips messages that its token cannot read. Returns the
   * items that changed a record; writes nothing if there are none.
   */
  acknowledge(holder: TokenHolder, items: readonly AckItem[], nowMs: number): Promise<AckItem[]>;
}
