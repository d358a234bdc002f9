import type { Clock } from '../../clock.ts';
import type { Deed } from '../../core/audit/entry.ts';
import type { Quota } from '../../core/event/quota.ts';
import type { Act } from '../../core/port/audit.ts';
import type { EventKind } from '../../core/port/event.ts';
import type { Figure } from '../../core/port/figure.ts';
import type { MakeHappening, QuotaShare } from '../backend.ts';
import type { WriteNotes } from '../noun/notes.ts';
import type { Connection } from './connection.ts';
import { runNow } from './dialect.ts';
import type { GroupWriter } from './writer.ts';

/** The parts that each noun's file is built on. */
export interface Context extends ReturnType<typeof callsOf> {
  db: Connection;
  writer: GroupWriter;
  notes: WriteNotes;
  /** The store's own: leases end by it. */
  clock: Clock;
}

/** The notes as nouns call them that are not written for both databases yet. */
export function callsOf(notes: WriteNotes) {
  return {
    audit: {
      note: (act: Act, deed: Deed | null, providerId?: number) =>
        notes.audit(act, deed, providerId),
    },
    figures: {
      note: (providerId: number, figure: Figure, atMs: number, by?: number) =>
        notes.figure(providerId, figure, atMs, by),
    },
    events: {
      note: (providerId: number | null, atMs: number, happening: MakeHappening) =>
        notes.event(providerId, atMs, happening),
      isWanted: (providerId: number | null, kind: EventKind) =>
        runNow(notes.isWanted(providerId, kind)),
      noteQuota: (providerId: number, quota: Quota, share: QuotaShare, atMs: number) =>
        notes.quota(providerId, quota, share, atMs),
      disableWebhook: (id: number, why: string, atMs: number) =>
        runNow(notes.disableWebhook(id, why, atMs)),
      forgetWebhooks: () => notes.forgetWebhooks(),
    },
  };
}
