/**
 * Sends are accepted together: those of a provider wait for its row, and so one after the other. In
 * a group they wait for it once, and for one commit. A worker holds the row too while it delivers.
 */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { countSend, keptBytesOf } from '../../core/message/send-bounds.ts';
import { CREATED } from '../../core/message/status.ts';
import type { Act } from '../../core/port/audit.ts';
import type {
  DistributionGuards,
  NewDistribution,
  SendUsage,
} from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import { literal } from '../status.ts';
import type { Context } from './context.ts';
import { TurnGroup } from './group.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

/** Sends that one commit accepts, and commits at a time, each of another party. */
const COUNT_MAX = 32;
const UNDER_WAY_MAX = 4;

/** A send that is to be accepted. */
interface Offer {
  draft: NewDistribution;
  guards: DistributionGuards;
  act: Act;
}

type Accepted = Awaited<ReturnType<Store['addDistribution']>>;
type Refusal = Extract<Accepted, string>;
type Usage = Omit<SendUsage, 'unboundCount'>;

const USAGE = sql.raw(`id, last_general_at_ms AS "lastGeneralAtMs", sends_from_ms AS "sendsFromMs",
  send_count AS "sendCount", kept_bytes AS "keptBytes", ledger_count AS "ledgerCount"`);

const on = {
  /** Sends of one provider are accepted one after the other. */
  holdUsages: prepare<Usage & { id: number }>(sql`
      SELECT ${USAGE} FROM provider WHERE id = ANY(${value('ids')}::bigint[])
      ORDER BY id FOR NO KEY UPDATE`),
  usage: prepare<Usage>(sql`SELECT ${USAGE} FROM provider WHERE id = ${value('providerId')}`),
  setCount: prepare(sql`
      UPDATE provider SET last_general_at_ms = ${value('lastGeneralAtMs')},
        sends_from_ms = ${value('sendsFromMs')}, send_count = ${value('sendCount')}
      WHERE id = ${value('providerId')}`),
  /** In their order: a lane goes by the ids. */
  add: prepare<{ id: number }>(sql`
      INSERT INTO distribution (provider_id, notification_type, status, target_os, target_hwid,
        payload, created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count)
      SELECT provider_id, notification_type, ${literal(CREATED)}, target_os, target_hwid, payload,
        created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count
      FROM unnest(${value('providerIds')}::bigint[], ${value('types')}::integer[],
          ${value('systems')}::text[], ${value('hwids')}::text[], ${value('payloads')}::text[],
          ${value('createdAtMs')}::bigint[], ${value('dueAtMs')}::bigint[],
          ${value('expiresAtMs')}::bigint[], ${value('reachesUnbound')}::integer[],
          ${value('unboundCounts')}::bigint[])
        WITH ORDINALITY AS x(provider_id, notification_type, target_os, target_hwid, payload,
          created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count, n)
      ORDER BY x.n RETURNING id`),
  /** A send by a clock that was ahead does not count for ever: as far ahead as back. */
  unboundSince: prepare<{ count: number }>(sql`
      SELECT coalesce(sum(unbound_count), 0)::bigint AS count FROM distribution
      WHERE provider_id = ${value('providerId')} AND unbound_count > 0
        AND created_at_ms > ${value('sinceMs')} AND created_at_ms < ${value('untilMs')}`),
};

/** Unbound recipients of the provider's sends around the time of this one, `before` included. */
async function unboundAround(
  w: Write,
  { draft, guards }: Offer,
  before: readonly Offer[],
): Promise<number> {
  const { providerId, createdAtMs } = draft;
  const sinceMs = guards.unboundQuota?.sinceMs ?? null;
  if (sinceMs === null) return 0;
  const untilMs = createdAtMs + (createdAtMs - sinceMs);
  let count = (await on.unboundSince.get(w, { providerId, sinceMs, untilMs }))?.count ?? 0;
  for (const { draft: other } of before) {
    const isAround = other.createdAtMs > sinceMs && other.createdAtMs < untilMs;
    if (other.providerId === providerId && isAround) count += other.unboundCount;
  }
  return count;
}

/** Notes for the provider how much it has kept, also when that refused one more. */
async function tellBounds(
  w: Write,
  { draft, guards }: Offer,
  refusals: readonly Refusal[],
): Promise<void> {
  const { providerId, createdAtMs } = draft;
  const { keptBytesMax, ledgerRowsMax } = guards.bounds;
  if (!(await w.events.isWanted(providerId, 'quota.reached'))) return;
  const usage = await on.usage.get(w, { providerId });
  if (usage === null) return;
  const { keptBytes, ledgerCount } = usage;
  // What was refused did not fit: that there is a little room left is no news.
  const used = refusals.includes('kept_bytes_full') ? keptBytesMax : keptBytes;
  w.events.noteQuota(providerId, 'kept_bytes', { used, limit: keptBytesMax }, createdAtMs);
  const rows = { used: ledgerCount, limit: ledgerRowsMax };
  w.events.noteQuota(providerId, 'ledger_rows', rows, createdAtMs);
}

/** Counts each offer on top of those before it; changes `usages`. Returns who is refused. */
async function countAll(
  w: Write,
  offers: readonly Offer[],
  usages: ReadonlyMap<number, Usage>,
): Promise<{ accepted: Offer[]; refusals: Map<Offer, Refusal> }> {
  const accepted: Offer[] = [];
  const refusals = new Map<Offer, Refusal>();
  for (const offer of offers) {
    const { draft, guards } = offer;
    const usage = usages.get(draft.providerId);
    if (usage === undefined) throw new Error(`provider ${draft.providerId} was removed meanwhile`);
    const unboundCount = await unboundAround(w, offer, accepted);
    const counted = countSend({ ...usage, unboundCount }, draft, guards);
    if (typeof counted === 'string') {
      refusals.set(offer, counted);
      continue;
    }
    accepted.push(offer);
    Object.assign(usage, counted);
    usage.keptBytes += keptBytesOf(draft, guards.bounds);
  }
  return { accepted, refusals };
}

/** Returns the function that accepts a send with others. */
export function acceptance(context: Context): Store['addDistribution'] {
  /** The times of a send by the database's clock, the same for every node. */
  function timesOf(draft: NewDistribution) {
    const createdAtMs = context.storeMs(draft.createdAtMs);
    const { dueAtMs } = draft;
    // A row is scheduled if its time has not come when the database takes it in.
    const isScheduled = dueAtMs !== null && dueAtMs > createdAtMs;
    return { createdAtMs, dueAtMs: isScheduled ? dueAtMs : createdAtMs };
  }

  async function add(w: Write, drafts: readonly NewDistribution[]): Promise<number[]> {
    if (drafts.length === 0) return [];
    const times = drafts.map(timesOf);
    const added = await on.add.all(w, {
      providerIds: drafts.map(({ providerId }) => providerId),
      types: drafts.map(({ notificationType }) => notificationType),
      systems: drafts.map(({ targetOs }) => targetOs),
      hwids: drafts.map(({ targetHwid }) => targetHwid),
      payloads: drafts.map(({ payload }) => payload),
      createdAtMs: times.map(({ createdAtMs }) => createdAtMs),
      dueAtMs: times.map(({ dueAtMs }) => dueAtMs),
      expiresAtMs: drafts.map(({ expiresAtMs }) => expiresAtMs),
      reachesUnbound: drafts.map(({ reachesUnbound }) => Number(reachesUnbound)),
      unboundCounts: drafts.map(({ unboundCount }) => unboundCount),
    });
    return added.map(({ id }) => id);
  }

  /** Adds what was accepted, with the counts of its providers; returns the ids. */
  async function save(
    w: Write,
    accepted: readonly Offer[],
    usages: ReadonlyMap<number, Usage>,
  ): Promise<Map<Offer, { id: number }>> {
    const drafts = accepted.map(({ draft }) => draft);
    const counts = [...new Set(drafts.map(({ providerId }) => providerId))].map((providerId) => {
      const { lastGeneralAtMs, sendsFromMs, sendCount } = usages.get(providerId) as Usage;
      return on.setCount.run(w, { providerId, lastGeneralAtMs, sendsFromMs, sendCount });
    });
    // One right behind the other, without waiting for answers.
    const [ids] = await Promise.all([add(w, drafts), ...counts]);
    const added = new Map<Offer, { id: number }>();
    for (const [n, offer] of accepted.entries()) {
      const { draft, act } = offer;
      const id = ids[n] as number;
      added.set(offer, { id });
      w.audit.note(act, deeds.send(id, draft), draft.providerId);
      w.figures.note(draft.providerId, 'sends', draft.createdAtMs);
    }
    return added;
  }

  async function accept(w: Write, offers: readonly Offer[]): Promise<Accepted[]> {
    const byProvider = Map.groupBy(offers, ({ draft }) => draft.providerId);
    const rows = await on.holdUsages.all(w, { ids: [...byProvider.keys()] });
    const usages = new Map(rows.map((row) => [row.id, row]));
    const { accepted, refusals } = await countAll(w, offers, usages);
    const added = await save(w, accepted, usages);
    for (const own of byProvider.values()) {
      const refused = own.flatMap((offer) => refusals.get(offer) ?? []);
      await tellBounds(w, own.at(-1) as Offer, refused);
    }
    return offers.map((offer) => refusals.get(offer) ?? (added.get(offer) as { id: number }));
  }

  const group = new TurnGroup<Offer, Accepted>(context.db, {
    run: (offers) => context.write((w) => accept(w, offers)),
    itemsMax: COUNT_MAX,
    underWayMax: UNDER_WAY_MAX,
    isWrite: true,
    isOfOneParty: true,
  });
  return (draft, guards, act) => group.ask({ draft, guards, act });
}
