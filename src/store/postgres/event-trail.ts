/**
 * Notes events within the transaction of the change that they tell of: they are rows of it, so
 * whatever takes the change back takes them back. They are gathered, and made at its end: nearly
 * nobody has a webhook, so a write looks once for those of all owners, and without any nothing is
 * made, not even the event.
 */

import { sql } from 'drizzle-orm';
import { quotaReached, webhookDisabled } from '../../core/event/happenings.ts';
import { levelAfter, type Quota } from '../../core/event/quota.ts';
import { splitByRoom, WHY_FULL, wantsKind } from '../../core/event/wanted.ts';
import type { EventKind, Happening } from '../../core/port/event.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import { kindsIn } from '../webhook-row.ts';
import type { Raising } from './notes.ts';
import { markOf, setMark } from './notice.ts';
import { prepare, type Runner, value } from './statement.ts';

/** An enabled webhook. */
interface EnabledWebhook {
  /** 0: the operator's. */
  owner: number;
  webhookId: number;
  destinationId: number;
  /** Kinds that it wants; empty: all. */
  kinds: EventKind[];
  waitingCount: number;
}

const ENABLED = sql`
  SELECT coalesce(w.provider_id, 0) AS owner, w.id AS "webhookId", d.id AS "destinationId",
    w.events AS events, d.waiting_count AS "waitingCount"
  FROM webhook w JOIN destination d ON d.webhook_id = w.id
  WHERE w.disabled_at_ms IS NULL`;

const on = {
  ofOwners: prepare<Omit<EnabledWebhook, 'kinds'> & { events: string }>(sql`
      ${ENABLED} AND w.provider_id = ANY(${value('owners')}::bigint[])
      UNION ALL
      ${ENABLED} AND w.provider_id IS NULL AND 0 = ANY(${value('owners')}::bigint[])
      ORDER BY "webhookId"`),
  add: prepare<{ id: number }>(sql`
      INSERT INTO event (provider_id, kind, at_ms, data)
      SELECT nullif(x.owner, 0), x.kind, x.at_ms, x.data
      FROM unnest(${value('owners')}::bigint[], ${value('kinds')}::text[],
          ${value('times')}::bigint[], ${value('data')}::text[])
        WITH ORDINALITY AS x(owner, kind, at_ms, data, n)
      ORDER BY x.n RETURNING id`),
  /** A destination that is gone by now is left out. */
  put: prepare(sql`
      INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, event_id)
      SELECT d.id, 0, x.at_ms, x.event_id
      FROM unnest(${value('destinationIds')}::bigint[], ${value('times')}::bigint[],
          ${value('eventIds')}::bigint[]) AS x(destination_id, at_ms, event_id)
        JOIN destination d ON d.id = x.destination_id
      ORDER BY d.id, x.event_id FOR NO KEY UPDATE OF d`),
  /** Of those that are enabled. */
  disable: prepare<{ providerId: number | null; target: string }>(sql`
      UPDATE webhook SET disabled_at_ms = ${value('atMs')}, disabled_why = ${value('why')}
      WHERE id = ${value('id')} AND disabled_at_ms IS NULL
      RETURNING provider_id AS "providerId", kind AS target`),
};

interface Note {
  /** 0: the operator. */
  owner: number;
  atMs: number;
  /** Null: nothing happened that is told of. */
  happening: () => Maybe<Happening | null>;
}

/** An event, and the webhooks that it is put into the queues of. */
interface Told {
  owner: number;
  atMs: number;
  happening: Happening;
  webhooks: EnabledWebhook[];
}

/** The events of one write. */
export class EventNotes {
  #notes: Note[] = [];
  /** Enabled webhooks by owner, as the write found them. */
  #byOwner = new Map<number, EnabledWebhook[]>();
  readonly #write: Raising;

  constructor(write: Raising) {
    this.#write = write;
  }

  /** Notes what happened, within its write, for the provider or (null) the operator. */
  note(providerId: number | null, atMs: number, happening: () => Maybe<Happening>): void {
    this.#notes.push({ owner: providerId ?? 0, atMs, happening });
  }

  /** True if an enabled webhook of the owner wants events of the kind. */
  async isWanted(providerId: number | null, kind: EventKind): Promise<boolean> {
    const owner = providerId ?? 0;
    await this.#look([owner]);
    return this.#enabledOf(owner).some(({ kinds }) => wantsKind(kinds, kind));
  }

  /**
   * Notes that a provider used so much of a quota, within the write that did and holds the
   * provider's row. It is told when that reaches a level that it was not at when it was looked at
   * last.
   */
  noteQuota(
    providerId: number,
    quota: Quota,
    share: { used: number; limit: number },
    atMs: number,
  ): void {
    const happening = () => this.#quotaReached(providerId, quota, share);
    this.#notes.push({ owner: providerId, atMs, happening });
  }

  /** Disables a webhook that is enabled, and tells the others of its owner. */
  async disableWebhook(id: number, why: string, atMs: number): Promise<void> {
    const disabled = await on.disable.get(this.#write, { id, why, atMs });
    if (disabled === null) return;
    const { providerId, target } = disabled;
    this.forgetWebhooks();
    this.note(providerId, atMs, () => webhookDisabled(id, target, why));
  }

  /** To be called in a write that changes webhooks. */
  forgetWebhooks(): void {
    this.#byOwner.clear();
  }

  /** Makes the events that somebody wants, within the transaction. */
  async seal(): Promise<void> {
    // Telling fills queues, and a webhook whose queue is full is disabled, which is told too.
    while (this.#notes.length > 0) {
      const notes = this.#notes.splice(0);
      await this.#look(notes.map(({ owner }) => owner));
      const full = new Set<EnabledWebhook>();
      const told: Told[] = [];
      for (const note of notes) told.push(...(await this.#toldOf(note, full)));
      await this.#put(told);
      const atMs = notes.at(-1)?.atMs ?? 0;
      for (const { webhookId } of full) await this.disableWebhook(webhookId, WHY_FULL, atMs);
    }
  }

  #enabledOf(owner: number): EnabledWebhook[] {
    return this.#byOwner.get(owner) ?? [];
  }

  async #look(owners: readonly number[]): Promise<void> {
    const unknown = [...new Set(owners)].filter((owner) => !this.#byOwner.has(owner));
    if (unknown.length === 0) return;
    const found = await enabledOf(this.#write, unknown);
    const byOwner = Map.groupBy(found, ({ owner }) => owner);
    for (const owner of unknown) this.#byOwner.set(owner, byOwner.get(owner) ?? []);
  }

  /** The event of a note with those who hear of it; none if nobody does. */
  async #toldOf(note: Note, full: Set<EnabledWebhook>): Promise<Told[]> {
    const { owner, atMs } = note;
    if (this.#enabledOf(owner).length === 0) return [];
    const happening = await note.happening();
    if (happening === null) return [];
    const routes = splitByRoom(this.#enabledOf(owner), happening.kind);
    for (const webhook of routes.full) full.add(webhook);
    for (const webhook of routes.takers) webhook.waitingCount += 1;
    return routes.takers.length === 0 ? [] : [{ owner, atMs, happening, webhooks: routes.takers }];
  }

  async #quotaReached(
    providerId: number,
    quota: Quota,
    { used, limit }: { used: number; limit: number },
  ): Promise<Happening | null> {
    if (!(await this.isWanted(providerId, 'quota.reached'))) return null;
    const subject = `quota ${quota}`;
    const before = Number((await markOf(this.#write, providerId, subject)) ?? 0);
    const level = levelAfter(before, used, limit);
    if (level === before) return null;
    await setMark(this.#write, providerId, subject, String(level));
    return level > before ? quotaReached(quota, level, used, limit) : null;
  }

  async #put(told: readonly Told[]): Promise<void> {
    if (told.length === 0) return;
    const events = await on.add.all(this.#write, {
      owners: told.map(({ owner }) => owner),
      kinds: told.map(({ happening }) => happening.kind),
      times: told.map(({ atMs }) => atMs),
      data: told.map(({ happening }) => JSON.stringify(happening.data)),
    });
    const dispatches = told.flatMap(({ atMs, webhooks }, n) => {
      const eventId = events[n]?.id ?? 0;
      return webhooks.map(({ destinationId }) => ({ destinationId, atMs, eventId }));
    });
    await on.put.run(this.#write, {
      destinationIds: dispatches.map(({ destinationId }) => destinationId),
      times: dispatches.map(({ atMs }) => atMs),
      eventIds: dispatches.map(({ eventId }) => eventId),
    });
    this.#write.raiseOutbox();
  }
}

/** True if an enabled webhook of the owner wants events of the kind by now. */
export async function isWantedNow(
  runner: Runner,
  providerId: number | null,
  kind: EventKind,
): Promise<boolean> {
  const found = await enabledOf(runner, [providerId ?? 0]);
  return found.some(({ kinds }) => wantsKind(kinds, kind));
}

async function enabledOf(runner: Runner, owners: readonly number[]): Promise<EnabledWebhook[]> {
  const found = await on.ofOwners.all(runner, { owners });
  return found.map(({ events, ...webhook }) => ({ ...webhook, kinds: kindsIn(events) }));
}
