/** Notes events within the transaction of the change that they tell of. */

import type { Quota } from '../../core/event/quota.ts';
import type { EventKind, Happening } from '../../core/port/event.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { Notes, Raising } from './notes.ts';
import type { Runner } from './statement.ts';

export interface EventNotes extends Notes {
  /** Notes what happened, within its write, for the provider or (null) the operator. */
  note(providerId: number | null, atMs: number, happening: () => Maybe<Happening>): void;
  /** True if an enabled webhook of the owner wants events of the kind. */
  isWanted(providerId: number | null, kind: EventKind): Promise<boolean>;
  /** Notes that a provider used so much of a quota, within the write that did. */
  noteQuota(
    providerId: number,
    quota: Quota,
    share: { used: number; limit: number },
    atMs: number,
  ): void;
  /** Disables a webhook that is enabled, and tells the others of its owner. */
  disableWebhook(id: number, why: string, atMs: number): Promise<void>;
  /** To be called in a write that changes webhooks. */
  forgetWebhooks(): void;
}

export function noteEvents(_write: Raising): EventNotes {
  return {
    note(): void {},
    isWanted: async () => false,
    noteQuota(): void {},
    async disableWebhook(): Promise<void> {},
    forgetWebhooks(): void {},
    async seal(_on: Runner): Promise<void> {},
    clear(_isSaved: boolean): void {},
  };
}
