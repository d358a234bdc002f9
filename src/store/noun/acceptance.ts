/** Acceptance of sends: sends that arrive together are accepted in one write. */

import * as deeds from '../../core/audit/deeds.ts';
import { isReplaceRefusal, replacingOutcome } from '../../core/message/replacing.ts';
import { countSend, keptBytesOf } from '../../core/message/send-bounds.ts';
import { CREATED } from '../../core/message/status.ts';
import type { Act } from '../../core/port/audit.ts';
import type {
  DistributionGuards,
  GuardRefusal,
  NewDistribution,
  SendCount,
  SendUsage,
} from '../../core/port/distribution.ts';
import type { ReplaceRefusal } from '../../core/port/replacing.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, insertInto, sql, values } from '../statement-text.ts';
import { isSent, literal } from '../status.ts';
import { SENT_FIELDS, type SendRow } from './distribution-row.ts';
import { rideSteps } from './ride-steps.ts';

/** A send to accept. */
export interface Offer {
  draft: NewDistribution;
  guards: DistributionGuards;
  act: Act;
}

export type Acceptance = { id: number } | GuardRefusal;
type Usage = Omit<SendUsage, 'unboundCount'>;

function statements({ prepare, locked, returningId }: Backend) {
  const usage = sql`
      SELECT ${columns(
        'provider',
        'lastGeneralAtMs, sendsFromMs, sendCount, keptBytes, ledgerCount',
      )}
      FROM provider WHERE id = :providerId`;
  const old = sql`
      SELECT ${columns(
        'distribution',
        `notificationType, status, targetOs, targetHwid, segment, beganAtMs,
        expiresAtMs, replacesId`,
      )}
      FROM distribution WHERE id = :replacesId AND provider_id = :providerId AND ${isSent()}`;
  return {
    usage: prepare(usage),
    lockUsage: prepare(sql`${usage} ${locked}`),
    setCount: prepare(sql`
        UPDATE provider SET ${assignments('provider', 'lastGeneralAtMs, sendsFromMs, sendCount')}
        WHERE id = :providerId`),
    add: prepare(sql`
        ${insertInto('distribution', SENT_FIELDS, { status: literal(CREATED) })} ${returningId}`),
    old: prepare(old),
    lockOld: prepare(sql`${old} ${locked}`),
    /** Hides its waiting messages from now on; the worker marks the recipients later. */
    expire: prepare(sql`
        UPDATE distribution SET expires_at_ms = :createdAtMs
        WHERE id = :replacesId AND expires_at_ms > :createdAtMs`),
    unboundBetween: prepare(sql`
        SELECT ${values<{ count: number }>({
          count: sql`CAST(coalesce(sum(unbound_count), 0) AS bigint)`,
        })}
        FROM distribution
        WHERE provider_id = :providerId AND unbound_count > 0
          AND created_at_ms > :sinceMs AND created_at_ms < :untilMs`),
  };
}

/** Adds sends in their order, which becomes the order of the lane; returns their ids. */
type AddSends = (rows: readonly SendRow[]) => Step<number[]>;

/** Steps that accept or refuse sends; each judges after those before it. */
export function acceptance(backend: Backend, addSends?: AddSends) {
  const on = statements(backend);
  const rides = rideSteps(backend);

  function* addEach(rows: readonly SendRow[]): Step<number[]> {
    const ids: number[] = [];
    for (const row of rows) ids.push(yield* on.add.insert({ ...row }));
    return ids;
  }

  /**
   * Counts the unbound recipients of sends before and after an offer's time, because clocks may be
   * ahead.
   */
  function* unboundAround(
    { draft, guards }: Omit<Offer, 'act'>,
    before: readonly Offer[],
  ): Step<number> {
    const { providerId, createdAtMs } = draft;
    const sinceMs = guards.unboundQuota?.sinceMs ?? null;
    if (sinceMs === null) return 0;
    const untilMs = createdAtMs + (createdAtMs - sinceMs);
    let count = (yield* on.unboundBetween.get({ providerId, sinceMs, untilMs }))?.count ?? 0;
    for (const { draft: other } of before) {
      const isAround = other.createdAtMs > sinceMs && other.createdAtMs < untilMs;
      if (other.providerId === providerId && isAround) count += other.unboundCount;
    }
    return count;
  }

  /**
   * Returns the checks that an offer needs for the distribution that it replaces, if it replaces
   * one.
   */
  function* guardsOf(
    { draft, guards }: Omit<Offer, 'act'>,
    find: typeof on.old,
  ): Step<DistributionGuards | ReplaceRefusal> {
    const { providerId, replacesId = null } = draft;
    if (replacesId === null) return guards;
    const judged = replacingOutcome(draft, yield* find.get({ providerId, replacesId }));
    if (isReplaceRefusal(judged)) return judged;
    return judged === 'exempt' ? { ...guards, generalIntervalMs: null } : guards;
  }

  /** Judges an offer by the counts before it. */
  function* judge(
    offer: Omit<Offer, 'act'>,
    usage: Usage,
    before: readonly Offer[],
    find: typeof on.old,
  ): Step<SendCount | GuardRefusal> {
    const unboundCount = yield* unboundAround(offer, before);
    const guards = yield* guardsOf(offer, find);
    if (typeof guards === 'string') return guards;
    return countSend({ ...usage, unboundCount }, offer.draft, guards);
  }

  /** Accepts or refuses offers of one provider. */
  function* acceptOf(notes: Notes, providerId: number, own: readonly Offer[]): Step<Acceptance[]> {
    const usage = yield* on.lockUsage.get({ providerId });
    if (usage === null) throw new Error(`provider ${providerId} was removed meanwhile`);
    const accepted: Offer[] = [];
    const refusals = new Map<Offer, GuardRefusal>();
    for (const offer of own) {
      const { draft, guards } = offer;
      const counted = yield* judge(offer, usage, accepted, on.lockOld);
      if (typeof counted === 'string') {
        refusals.set(offer, counted);
        continue;
      }
      // Expired at once, because the next offer may replace the same one.
      const { replacesId, createdAtMs } = draft;
      if (replacesId) {
        yield* on.expire.run({ replacesId, createdAtMs });
        yield* rides.end(replacesId, providerId, backend.storeMs(createdAtMs));
      }
      accepted.push(offer);
      Object.assign(usage, counted);
      usage.keptBytes += keptBytesOf(draft, guards.bounds);
    }
    const ids = yield* save(notes, providerId, usage, accepted);
    yield* noteUsage(notes, own.at(-1) as Offer, [...refusals.values()]);
    return own.map(
      (offer) => refusals.get(offer) ?? { id: ids[accepted.indexOf(offer)] as number },
    );
  }

  /** Returns the refusal that an offer would get now; null: it would be accepted. */
  function* check(offer: Omit<Offer, 'act'>): Step<GuardRefusal | null> {
    const { providerId } = offer.draft;
    const usage = yield* on.usage.get({ providerId });
    if (usage === null) throw new Error(`provider ${providerId} was removed meanwhile`);
    const counted = yield* judge(offer, usage, [], on.old);
    return typeof counted === 'string' ? counted : null;
  }

  /** Adds accepted sends and saves their count; returns their ids. */
  function* save(
    notes: Notes,
    providerId: number,
    { lastGeneralAtMs, sendsFromMs, sendCount }: Usage,
    accepted: readonly Offer[],
  ): Step<number[]> {
    if (accepted.length === 0) return [];
    const [, ids] = yield* backend.together([
      () => on.setCount.run({ providerId, lastGeneralAtMs, sendsFromMs, sendCount }),
      () => (addSends ?? addEach)(accepted.map(({ draft }) => ({ ...draft, ...timesOf(draft) }))),
    ]);
    for (const [n, { draft, act }] of accepted.entries()) {
      notes.audit(act, deeds.send(ids[n] as number, draft), providerId);
      notes.figure(providerId, 'sends', draft.createdAtMs);
    }
    return ids;
  }

  /** Returns fields of the row, with times by the store's clock, which all nodes share. */
  function timesOf(draft: NewDistribution) {
    const { createdAtMs, dueAtMs, reachesUnbound, replacesId = null, segment = null } = draft;
    const atMs = backend.storeMs(createdAtMs);
    // It is scheduled only if its time is still ahead when the database accepts it.
    const isScheduled = dueAtMs !== null && dueAtMs > atMs;
    return {
      createdAtMs: atMs,
      dueAtMs: isScheduled ? dueAtMs : atMs,
      reachesUnbound: Number(reachesUnbound),
      replacesId,
      segment,
    };
  }

  /** Records the provider's use of its quotas, also when a quota refused another send. */
  function* noteUsage(
    notes: Notes,
    { draft, guards }: Offer,
    refusals: readonly GuardRefusal[],
  ): Step<void> {
    const { providerId, createdAtMs } = draft;
    const { keptBytesMax, ledgerRowsMax } = guards.bounds;
    if (!(yield* notes.isWanted(providerId, 'quota.reached'))) return;
    const usage = yield* on.usage.get({ providerId });
    if (usage === null) return;
    // A refused send did not fit, so the quota counts as used up although some room is left.
    const used = refusals.includes('kept_bytes_full') ? keptBytesMax : usage.keptBytes;
    notes.quota(providerId, 'kept_bytes', { used, limit: keptBytesMax }, createdAtMs);
    const rows = { used: usage.ledgerCount, limit: ledgerRowsMax };
    notes.quota(providerId, 'ledger_rows', rows, createdAtMs);
  }

  /** Accepts or refuses offers of several providers. */
  function* accept(notes: Notes, offers: readonly Offer[]): Step<Acceptance[]> {
    const byProvider = Map.groupBy(offers, ({ draft }) => draft.providerId);
    const answers = new Map<Offer, Acceptance>();
    // In the order of their ids, because every write locks providers in that order.
    for (const [providerId, own] of [...byProvider].sort(([a], [b]) => a - b)) {
      const accepted = yield* acceptOf(notes, providerId, own);
      for (const [n, offer] of own.entries()) answers.set(offer, accepted[n] as Acceptance);
    }
    return offers.map((offer) => answers.get(offer) as Acceptance);
  }

  return { acceptOf, accept, check, usage: on.usage };
}
