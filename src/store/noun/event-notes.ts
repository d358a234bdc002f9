/**
 * Notes events within the write of their change; if the write is rolled back, so are they. The end
 * of a write finds the webhooks of all owners at once and makes no event that none wants.
 */

import { noteRefusal, type RefusedPhone } from '../../core/event/fold.ts';
import { quotaReached, webhookDisabled } from '../../core/event/happenings.ts';
import { levelAfter, type Quota } from '../../core/event/quota.ts';
import {
  CALLERS_WAITING_MAX,
  splitByRoom,
  WAITING_COUNT_MAX,
  WHY_FULL,
  wantsKind,
} from '../../core/event/wanted.ts';
import type { EventKind, Happening } from '../../core/port/event.ts';
import type { QuotaShare, Statements, Step } from '../backend.ts';
import type { DisabledWebhook } from '../kind.ts';
import { columns, insertInto, sql } from '../statement-text.ts';
import { kindsIn } from '../webhook-row.ts';
import { Folds, foldStatements } from './event-fold.ts';
import { noticeMarks } from './notice.ts';
import { IS_OWNERS, ofOwner } from './owner.ts';

/** An enabled webhook. */
interface EnabledWebhook {
  webhookId: number;
  destinationId: number;
  target: 'webhook' | 'telegram';
  kinds: readonly EventKind[];
  waitingCount: number;
}

interface Note {
  /** 0: the operator. */
  owner: number;
  atMs: number;
  /** Null: there is no event after all. */
  happening: () => Happening | null | Step<Happening | null>;
  /** The refusal of a phone, which chats alone get, in bounds. */
  phone?: RefusedPhone;
  /** The destination whose fold is over: the event has its sums. */
  folding?: number;
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
    SELECT ${columns(
      { w: 'webhook', d: 'destination' },
      'w.id AS webhookId, d.id AS destinationId, w.kind AS target, w.events, d.waitingCount',
    )}
    FROM webhook w ${join} destination d ON d.webhook_id = w.id WHERE w.disabled_at_ms IS NULL`;
  return {
    ofOwner: ofOwner(statements)`${enabled} AND w.${IS_OWNERS} ORDER BY w.id`,
    add: prepare(sql`
        ${insertInto('event', 'providerId, kind, atMs, data')} ${statements.returningId}`),
    /** Adds nothing for a destination that was deleted meanwhile. */
    put: prepare(sql`
        INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, event_id)
        SELECT id, 0, CAST(:atMs AS bigint), CAST(:eventId AS bigint)
        FROM destination WHERE id = :destinationId`),
    disable: prepare(sql`
        UPDATE webhook SET disabled_at_ms = :atMs, disabled_why = :why
        WHERE id = :id AND disabled_at_ms IS NULL
        RETURNING ${columns('webhook', 'providerId, kind AS target')}`),
    folds: foldStatements(statements),
    marks: noticeMarks(statements),
    together: statements.together,
    lockRows: statements.lockRows,
  };
}

/** Returns a step that tells whether an enabled webhook of the owner wants the kind now. */
export function* isWantedNow(
  on: EventStatements,
  providerId: number | null,
  kind: Happening['kind'],
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

  add(
    providerId: number | null,
    atMs: number,
    happening: Note['happening'],
    phone?: RefusedPhone,
  ): void {
    const owner = providerId ?? 0;
    // Most owners have no webhook, as an earlier write of the commit found.
    if (this.#byOwner.get(owner)?.length === 0) return;
    this.#notes.push({ owner, atMs, happening, ...(phone && { phone }) });
  }

  /** Ends the fold of a destination whose hour is over: its sums are an event. */
  endFold(providerId: number | null, destinationId: number, atMs: number): void {
    const happening = () => null;
    this.#notes.push({ owner: providerId ?? 0, atMs, happening, folding: destinationId });
  }

  addQuota(providerId: number, quota: Quota, share: QuotaShare, atMs: number): void {
    this.add(providerId, atMs, () => this.#quotaReached(providerId, quota, share));
  }

  *isWanted(providerId: number | null, kind: Happening['kind']): Step<boolean> {
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
    const folds = new Folds(this.#on.folds);
    // A full queue disables its webhook, which is another event.
    while (this.#notes.length > 0) {
      const notes = this.#notes;
      this.#notes = [];
      yield* this.#look(notes.map(({ owner }) => owner));
      yield* this.#lockFolds(notes);
      const deliveries: Delivery[] = [];
      const full = new Set<EnabledWebhook>();
      for (const note of notes) {
        if (note.folding !== undefined) deliveries.push(...(yield* this.#sumOf(note, folds)));
        else if (this.#enabledOf(note.owner).length > 0) {
          deliveries.push(...(yield* this.#deliveriesOf(note, full, folds)));
        }
      }
      yield* folds.save();
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

  /** Locks the queues of all owners at once, in one order, if a fold may change. */
  *#lockFolds(notes: readonly Note[]): Step<void> {
    const webhooks = [...new Set(notes.map(({ owner }) => owner))].flatMap((owner) =>
      this.#enabledOf(owner),
    );
    const mayFold = notes.some(({ phone, folding }) => (phone ?? folding) !== undefined);
    if (!mayFold && webhooks.every(({ waitingCount }) => waitingCount < CALLERS_WAITING_MAX))
      return;
    const ended = notes.flatMap(({ folding }) => (folding === undefined ? [] : [folding]));
    const ids = [...webhooks.map(({ destinationId }) => destinationId), ...ended];
    yield* this.#on.lockRows({ destination: [...new Set(ids)] });
  }

  /** Returns the event with the sums of a fold that is over, if its webhook is enabled. */
  *#sumOf({ owner, atMs, folding = 0 }: Note, folds: Folds): Step<Delivery[]> {
    const sum = yield* folds.end(folding, atMs);
    const taker = this.#enabledOf(owner).find(({ destinationId }) => destinationId === folding);
    return sumTo(taker, { owner, atMs }, sum);
  }

  /** Returns the events of a note; adds webhooks with a full queue to `full`. */
  *#deliveriesOf(
    { owner, atMs, happening: make, phone }: Note,
    full: Set<EnabledWebhook>,
    folds: Folds,
  ): Step<Delivery[]> {
    const made = make();
    const happening = made !== null && Symbol.iterator in made ? yield* made : made;
    if (happening === null) return [];
    const deliveries: Delivery[] = [];
    const foldOf = function* (webhook: EnabledWebhook) {
      const { fold, sum } = yield* folds.at(webhook.destinationId, atMs);
      deliveries.push(...sumTo(webhook, { owner, atMs }, sum));
      return fold;
    };
    const webhooks = receiversOf(this.#enabledOf(owner), happening, phone !== undefined);
    const split = splitByRoom(webhooks, happening.kind);
    for (const webhook of split.full) full.add(webhook);
    for (const webhook of split.folded) (yield* foldOf(webhook)).events += 1;
    const takers: EnabledWebhook[] = [];
    for (const webhook of split.takers) {
      if (phone && !noteRefusal(yield* foldOf(webhook), phone, atMs)) continue;
      webhook.waitingCount += 1;
      takers.push(webhook);
    }
    return takers.length === 0 ? deliveries : [...deliveries, { owner, atMs, happening, takers }];
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

/** Refusals come by phone to chats, and by link to URLs, whose payload has their number. */
function receiversOf(
  webhooks: readonly EnabledWebhook[],
  { kind }: Happening,
  isOfPhone: boolean,
): readonly EnabledWebhook[] {
  if (kind !== 'link.refused') return webhooks;
  return webhooks.filter(({ target }) => (target === 'telegram') === isOfPhone);
}

function sumTo(
  taker: EnabledWebhook | undefined,
  of: Pick<Delivery, 'owner' | 'atMs'>,
  sum: Happening | null,
): Delivery[] {
  if (taker === undefined || sum === null || taker.waitingCount >= WAITING_COUNT_MAX) return [];
  taker.waitingCount += 1;
  return [{ ...of, happening: sum, takers: [taker] }];
}
