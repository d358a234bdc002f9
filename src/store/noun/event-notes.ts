/**
 * Notes events within the write of their change; if the write is rolled back, so are they. The end
 * of a write finds the webhooks of all owners at once and makes no event that none wants.
 */

import { sql } from 'drizzle-orm';
import { quotaReached, webhookDisabled } from '../../core/event/happenings.ts';
import { levelAfter, type Quota } from '../../core/event/quota.ts';
import { splitByRoom, WHY_FULL, wantsKind } from '../../core/event/wanted.ts';
import type { EventKind, Happening } from '../../core/port/event.ts';
import type { QuotaShare, Statements, Step } from '../backend.ts';
import type { DisabledWebhook } from '../kind.ts';
import { columns, insertInto } from '../statement-text.ts';
import { kindsIn } from '../webhook-row.ts';
import { noticeMarks } from './notice.ts';
import { IS_OWNERS, ofOwner } from './owner.ts';

/** An enabled webhook. */
interface EnabledWebhook {
  webhookId: number;
  destinationId: number;
  kinds: readonly EventKind[];
  waitingCount: number;
}

interface Note {
  /** 0: the operator. */
  owner: number;
  atMs: number;
  /** Null: there is no event after all. */
  happening: () => Happening | Step<Happening | null>;
}

/** An event with its webhooks. */
interface Delivery {
  owner: number;
  atMs: number;
  happening: Happening;
  takers: readonly EnabledWebhook[];
}

export type EventStatements = ReturnType<typeof eventStatements>;

export function eventStatements(statements: Statements) {
  const { prepare, join } = statements;
  const enabled = sql`
    SELECT ${columns`w.id AS webhookId, d.id AS destinationId, w.events, d.waitingCount`}
    FROM webhook w ${join} destination d ON d.webhook_id = w.id WHERE w.disabled_at_ms IS NULL`;
  return {
    ofOwner: ofOwner(statements)<EnabledRow>`${enabled} AND w.${IS_OWNERS} ORDER BY w.id`,
    add: prepare(sql`
        ${insertInto('event')`providerId, kind, atMs, data`} ${statements.returningId}`),
    /** Adds nothing for a destination that was deleted meanwhile. */
    put: prepare(sql`
        INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, event_id)
        SELECT id, 0, CAST(:atMs AS bigint), CAST(:eventId AS bigint)
        FROM destination WHERE id = :destinationId`),
    disable: prepare<{ providerId: number | null; target: string }>(sql`
        UPDATE webhook SET disabled_at_ms = :atMs, disabled_why = :why
        WHERE id = :id AND disabled_at_ms IS NULL
        RETURNING provider_id AS "providerId", kind AS target`),
    marks: noticeMarks(statements),
    together: statements.together,
    lockRows: statements.lockRows,
  };
}

type EnabledRow = Omit<EnabledWebhook, 'kinds'> & { events: string };

/** Returns a step that tells whether an enabled webhook of the owner wants the kind now. */
export function* isWantedNow(
  on: EventStatements,
  providerId: number | null,
  kind: EventKind,
): Step<boolean> {
  const found = yield* enabledOf(on, providerId);
  return found.some(({ kinds }) => wantsKind(kinds, kind));
}

function* enabledOf(on: EventStatements, providerId: number | null): Step<EnabledWebhook[]> {
  const found = yield* on.ofOwner(providerId).all({ providerId });
  return found.map(({ events, ...row }) => ({ ...row, kinds: kindsIn(events) }));
}

export class EventNotes {
  #notes: Note[] = [];
  #disabled: DisabledWebhook[] = [];
  /** Enabled webhooks by owner, as the commit found them. */
  readonly #byOwner = new Map<number, EnabledWebhook[]>();
  readonly #on: EventStatements;
  readonly #onPut: () => void;

  /** `onPut` is called when a dispatch was added to the outbox. */
  constructor(on: EventStatements, onPut: () => void) {
    this.#on = on;
    this.#onPut = onPut;
  }

  /** Webhooks that the writes of the commit disabled. */
  get disabled(): readonly DisabledWebhook[] {
    return this.#disabled;
  }

  /** True if {@link save} has nothing to do. */
  get isEmpty(): boolean {
    return this.#notes.length === 0;
  }

  add(providerId: number | null, atMs: number, happening: Note['happening']): void {
    const owner = providerId ?? 0;
    // Most owners have no webhook, as an earlier write of the commit found.
    if (this.#byOwner.get(owner)?.length === 0) return;
    this.#notes.push({ owner, atMs, happening });
  }

  addQuota(providerId: number, quota: Quota, share: QuotaShare, atMs: number): void {
    this.add(providerId, atMs, () => this.#quotaReached(providerId, quota, share));
  }

  *isWanted(providerId: number | null, kind: EventKind): Step<boolean> {
    const owner = providerId ?? 0;
    yield* this.#look([owner]);
    return this.#enabledOf(owner).some(({ kinds }) => wantsKind(kinds, kind));
  }

  *disableWebhook(id: number, why: string, atMs: number): Step<void> {
    const disabled = yield* this.#on.disable.get({ id, why, atMs });
    if (disabled === null) return;
    const { providerId, target } = disabled;
    this.#disabled.push({ id, providerId, why });
    this.forgetWebhooks();
    this.add(providerId, atMs, () => webhookDisabled(id, target, why));
  }

  forgetWebhooks(): void {
    this.#byOwner.clear();
  }

  /**
   * Drops all notes, because the write ended or was rolled back; `disabledCount`: the webhooks that
   * earlier writes of the commit disabled.
   */
  clear(disabledCount = 0): void {
    this.#notes = [];
    this.#disabled.length = disabledCount;
    this.forgetWebhooks();
  }

  /** Makes the wanted events within the transaction. */
  *save(): Step<void> {
    // A full queue disables its webhook, which is another event.
    while (this.#notes.length > 0) {
      const notes = this.#notes;
      this.#notes = [];
      yield* this.#look(notes.map(({ owner }) => owner));
      const deliveries: Delivery[] = [];
      const full = new Set<EnabledWebhook>();
      for (const note of notes) {
        if (this.#enabledOf(note.owner).length === 0) continue;
        const delivery = yield* this.#deliveryOf(note, full);
        if (delivery !== null) deliveries.push(delivery);
      }
      if (deliveries.length > 0) yield* this.#put(deliveries);
      const atMs = notes.at(-1)?.atMs ?? 0;
      for (const { webhookId } of full) yield* this.disableWebhook(webhookId, WHY_FULL, atMs);
    }
  }

  #enabledOf(owner: number): readonly EnabledWebhook[] {
    return this.#byOwner.get(owner) ?? [];
  }

  *#look(owners: readonly number[]): Step<void> {
    const unknown = [...new Set(owners)].filter((owner) => !this.#byOwner.has(owner));
    if (unknown.length === 0) return;
    const found = yield* this.#on.together<EnabledWebhook[][]>(
      unknown.map((owner) => () => enabledOf(this.#on, owner === 0 ? null : owner)),
    );
    for (const [n, owner] of unknown.entries()) this.#byOwner.set(owner, found[n] ?? []);
  }

  /** Returns null if no webhook wants it; adds webhooks with a full queue to `full`. */
  *#deliveryOf({ owner, atMs, happening: make }: Note, full: Set<EnabledWebhook>) {
    const webhooks = this.#enabledOf(owner);
    const made = make();
    const happening = Symbol.iterator in made ? yield* made : made;
    if (happening === null) return null;
    const split = splitByRoom(webhooks, happening.kind);
    for (const webhook of split.full) full.add(webhook);
    for (const webhook of split.takers) webhook.waitingCount += 1;
    return split.takers.length === 0 ? null : { owner, atMs, happening, takers: split.takers };
  }

  *#quotaReached(
    providerId: number,
    quota: Quota,
    { used, limit }: QuotaShare,
  ): Step<Happening | null> {
    if (!(yield* this.isWanted(providerId, 'quota.reached'))) return null;
    const { marks } = this.#on;
    const subject = `quota ${quota}`;
    const before = Number((yield* marks.get(providerId, subject)) ?? 0);
    const level = levelAfter(before, used, limit);
    if (level === before) return null;
    yield* marks.set(providerId, subject, String(level));
    return level > before ? quotaReached(quota, level, used, limit) : null;
  }

  *#put(deliveries: readonly Delivery[]): Step<void> {
    const on = this.#on;
    const ids = yield* on.together<number[]>(
      deliveries.map(({ owner, atMs, happening: { kind, data } }) => () => {
        const providerId = owner === 0 ? null : owner;
        return on.add.insert({ providerId, kind, atMs, data: JSON.stringify(data) });
      }),
    );
    const rows = deliveries.flatMap(({ atMs, takers }, n) =>
      takers.map(({ destinationId }) => ({ destinationId, atMs, eventId: ids[n] ?? 0 })),
    );
    const destinationIds = rows.map(({ destinationId }) => destinationId);
    yield* on.lockRows({ destination: destinationIds });
    yield* on.together(rows.map((row) => () => on.put.run(row)));
    this.#onPut();
  }
}
