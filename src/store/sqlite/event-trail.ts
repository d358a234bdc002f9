/**
 * Notes events within the write of the change that they tell of: they are rows of its transaction,
 * so whatever takes the change back takes them back. Nearly nobody has a webhook, so a commit looks
 * once for those of an owner, and without any nothing is made, not even the event.
 */

import { sql } from 'drizzle-orm';
import { quotaReached, webhookDisabled } from '../../core/event/happenings.ts';
import { levelAfter, type Quota } from '../../core/event/quota.ts';
import { splitByRoom, WHY_FULL, wantsKind } from '../../core/event/wanted.ts';
import type { EventKind, Happening } from '../../core/port/event.ts';
import { kindsIn } from '../webhook-row.ts';
import type { Connection } from './connection.ts';
import { NoticeMarks } from './notice.ts';
import type { OutboxSignal } from './outbox-signal.ts';
import { once, value } from './statement.ts';
import type { BatchNotes } from './writer.ts';

/** An enabled webhook. */
interface EnabledWebhook {
  webhookId: number;
  destinationId: number;
  target: string;
  /** Kinds that it wants; empty: all. */
  kinds: EventKind[];
  waitingCount: number;
}

const NONE: EnabledWebhook[] = [];

function statements(db: Connection) {
  return {
    ofOwner: db.prepare<Omit<EnabledWebhook, 'kinds'> & { events: string }>(sql`
        SELECT w.id AS "webhookId", d.id AS "destinationId", w.kind AS target, w.events AS events,
          d.waiting_count AS "waitingCount"
        FROM webhook w CROSS JOIN destination d ON d.webhook_id = w.id
        WHERE w.provider_id IS ${once('providerId')} AND w.disabled_at_ms IS NULL
        ORDER BY w.id`),
    add: db.prepare(sql`
        INSERT INTO event (provider_id, kind, at_ms, data)
        VALUES (${value('providerId')}, ${value('kind')}, ${value('atMs')}, ${value('data')})`),
    put: db.prepare(sql`
        INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, event_id)
        VALUES (${value('destinationId')}, 0, ${value('atMs')}, ${value('eventId')})`),
    enabled: db.prepare<{ providerId: number | null; target: string }>(sql`
        SELECT provider_id AS "providerId", kind AS target FROM webhook
        WHERE id = ${value('id')} AND disabled_at_ms IS NULL`),
    disable: db.prepare(sql`
        UPDATE webhook SET disabled_at_ms = ${value('atMs')}, disabled_why = ${value('why')}
        WHERE id = ${value('id')}`),
  };
}

export class EventTrail implements BatchNotes {
  /** Enabled webhooks by owner, as the present commit found them; 0: the operator's. */
  readonly #byOwner = new Map<number, EnabledWebhook[]>();
  readonly #outbox: OutboxSignal;
  /** States for which notices were given. */
  readonly notices: NoticeMarks;
  readonly #on: ReturnType<typeof statements>;

  constructor(db: Connection, outbox: OutboxSignal) {
    this.#outbox = outbox;
    this.notices = new NoticeMarks(db);
    this.#on = statements(db);
  }

  /** Notes what happened, within its write, for the provider or (null) the operator. */
  note(providerId: number | null, atMs: number, happening: () => Happening): void {
    const webhooks = this.#enabledOf(providerId);
    if (webhooks.length > 0) this.#put(providerId, atMs, happening(), webhooks);
  }

  /** True if an enabled webhook of the owner wants events of the kind. To be asked in a write. */
  isWanted(providerId: number | null, kind: EventKind): boolean {
    return this.#enabledOf(providerId).some(({ kinds }) => wantsKind(kinds, kind));
  }

  /** The same, without a write. */
  isWantedNow(providerId: number | null, kind: EventKind): boolean {
    return this.#find(providerId).some(({ kinds }) => wantsKind(kinds, kind));
  }

  /**
   * Notes that a provider used so much of a quota, within the write that did. It is told when that
   * reaches a level that it was not at when it was looked at last.
   */
  noteQuota(
    providerId: number,
    quota: Quota,
    { used, limit }: { used: number; limit: number },
    atMs: number,
  ): void {
    if (!this.isWanted(providerId, 'quota.reached')) return;
    const subject = `quota ${quota}`;
    const before = Number(this.notices.markOf(providerId, subject) ?? 0);
    const level = levelAfter(before, used, limit);
    if (level === before) return;
    this.notices.set(providerId, subject, String(level));
    if (level > before) this.note(providerId, atMs, () => quotaReached(quota, level, used, limit));
  }

  /** Disables a webhook that is enabled, and tells the others of its owner. */
  disableWebhook(id: number, why: string, atMs: number): void {
    const known = this.#on.enabled.get({ id });
    if (known === null) return;
    const { providerId, target } = known;
    this.#on.disable.run({ id, why, atMs });
    this.forgetWebhooks();
    this.note(providerId, atMs, () => webhookDisabled(id, target, why));
  }

  /** To be called in a write that changes webhooks. */
  forgetWebhooks(): void {
    this.#byOwner.clear();
  }

  mark(): number {
    return 0;
  }

  undo(): void {
    this.forgetWebhooks();
  }

  seal(): void {}

  clear(): void {
    this.forgetWebhooks();
  }

  #enabledOf(providerId: number | null): EnabledWebhook[] {
    const known = this.#byOwner.get(providerId ?? 0);
    if (known !== undefined) return known;
    const webhooks = this.#find(providerId);
    this.#byOwner.set(providerId ?? 0, webhooks);
    return webhooks;
  }

  #find(providerId: number | null): EnabledWebhook[] {
    const found = this.#on.ofOwner.all({ providerId });
    if (found.length === 0) return NONE;
    return found.map(({ events, ...webhook }) => ({ ...webhook, kinds: kindsIn(events) }));
  }

  #put(
    providerId: number | null,
    atMs: number,
    { kind, data }: Happening,
    webhooks: readonly EnabledWebhook[],
  ): void {
    const { takers, full } = splitByRoom(webhooks, kind);
    if (takers.length > 0) {
      const row = { providerId, kind, atMs, data: JSON.stringify(data) };
      const eventId = this.#on.add.insert(row);
      for (const webhook of takers) {
        webhook.waitingCount += 1;
        this.#on.put.run({ destinationId: webhook.destinationId, eventId, atMs });
      }
      this.#outbox.raise();
    }
    for (const { webhookId } of full) this.disableWebhook(webhookId, WHY_FULL, atMs);
  }
}
