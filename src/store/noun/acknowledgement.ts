/** Acknowledgements of messages by devices. */

import type { AckItem, AckState, TokenHolder } from '../../core/port/inbox.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { sql, values } from '../statement-text.ts';
import { pushSteps } from './push-steps.ts';

/**
 * The record that an item changes, its provider, and 1 for each state that is new to the record.
 */
type Change = Record<AckState, number> & {
  n: number;
  recipientId: number;
  providerId: number;
  isAtGateway: number;
};

interface Call {
  holder: TokenHolder;
  items: readonly AckItem[];
  nowMs: number;
}

/** An item of a call. */
interface Report extends AckItem {
  deviceId: number;
  /** As hex. */
  tokenHash: string;
}

const REPORT = { deviceId: 'bigint', tokenHash: 'text', id: 'bigint', state: 'text' } as const;

function statements({ prepare, among, locked, lockOnly, rows, hex, join }: Backend) {
  const isUndecided = sql.raw('r.executed_at_ms IS NULL AND r.refused_at_ms IS NULL');
  return {
    lockRows: lockOnly(sql`
        SELECT id FROM recipient WHERE device_id = :deviceId AND distribution_id ${among('ids')}
        ORDER BY id ${locked}`),
    /** The records that the items change, if a place of the token has the message. */
    changes: prepare(sql`
        SELECT ${values<{
          n: Change['n'];
          recipientId: Change['recipientId'];
          providerId: Change['providerId'];
          received: Change['received'];
          opened: Change['opened'];
          executed: Change['executed'];
          failed: Change['failed'];
          isAtGateway: Change['isAtGateway'];
        }>({
          n: sql`k.n`,
          recipientId: sql`r.id`,
          providerId: sql`abs(r.inbox)`,
          received: sql`CAST(r.received_at_ms IS NULL AS integer)`,
          opened: sql`CAST(r.opened_at_ms IS NULL AS integer)`,
          executed: sql`CAST(${isUndecided} AS integer)`,
          failed: sql`CAST(${isUndecided} AS integer)`,
          isAtGateway: sql`CAST(r.push_state IS NOT DISTINCT FROM 1 AS integer)`,
        })}
        FROM ${rows('reports', REPORT)} k
          ${join} recipient r ON r.distribution_id = k.id AND r.device_id = k."deviceId"
        WHERE r.sent_at_ms IS NOT NULL AND (r.received_at_ms IS NULL OR r.is_waiting = 1
            OR k.state = 'opened' AND r.opened_at_ms IS NULL
            OR k.state IN ('executed', 'failed') AND ${isUndecided})
          AND EXISTS (SELECT 1 FROM device_token t
            WHERE t.device_id = r.device_id AND ${hex('t.token_hash')} = k."tokenHash"
              AND CASE WHEN r.inbox < 0 THEN t.nobody_after_distribution_id < r.distribution_id
                ELSE EXISTS (SELECT 1 FROM device_provider p
                  WHERE p.device_id = r.device_id AND p.provider_id = r.inbox
                    AND p.token_id = t.id AND p.after_recipient_id < r.id) END)`),
    receive: prepare(sql`
        UPDATE recipient SET is_waiting = 0, received_at_ms = coalesce(received_at_ms, :nowMs)
        WHERE id ${among('recipientIds')}`),
    /** Each time is set once: a repeated or late acknowledgement changes no time. */
    acknowledge: prepare(sql`
        UPDATE recipient AS r SET is_waiting = 0,
          received_at_ms = coalesce(r.received_at_ms, :nowMs),
          opened_at_ms = CASE WHEN :state = 'opened'
            THEN coalesce(r.opened_at_ms, :nowMs) ELSE r.opened_at_ms END,
          executed_at_ms = CASE WHEN :state = 'executed' AND r.refused_at_ms IS NULL
            THEN coalesce(r.executed_at_ms, :nowMs) ELSE r.executed_at_ms END,
          refused_at_ms = CASE WHEN :state = 'failed' AND r.executed_at_ms IS NULL
            THEN coalesce(r.refused_at_ms, :nowMs) ELSE r.refused_at_ms END,
          detail = CASE WHEN :state = 'failed' AND ${isUndecided} THEN :detail ELSE r.detail END
        WHERE r.id = :recipientId`),
  };
}

function reports({ holder, items }: Call): Report[] {
  const tokenHash = holder.tokenHash.toHex();
  return items.map((item) => ({ ...item, deviceId: holder.id, tokenHash }));
}

export function acknowledgementNoun(backend: Backend): Pick<Store, 'acknowledge'> {
  const on = statements(backend);
  const pushes = pushSteps(backend);

  /** Returns the change of each report; undefined: it changes no record. */
  function* changesOf(asked: readonly Report[]): Step<(Change | undefined)[]> {
    const keys = asked.map(({ deviceId, tokenHash, id, state }) => {
      return { deviceId, tokenHash, id, state };
    });
    const changes = new Array<Change | undefined>(asked.length);
    for (const change of yield* on.changes.all({ reports: JSON.stringify(keys) })) {
      changes[change.n] = change;
    }
    return changes;
  }

  /** Records a report. Returns false if it changes no record. */
  function* record(notes: Notes, report: Report, nowMs: number): Step<boolean> {
    const [change] = yield* changesOf([report]);
    if (change === undefined) return false;
    const { providerId, recipientId } = change;
    const { deviceId, id, state, detail } = report;
    yield* on.acknowledge.run({ recipientId, state, detail, nowMs });
    // A fetched message needs no push, even if its gateway is stopped.
    if (change.isAtGateway === 1) {
      yield* pushes.reach(notes, [{ deviceId, distributionIds: [id] }], nowMs);
    }
    notes.figure(providerId, 'received', nowMs, change.received);
    if (state !== 'received') notes.figure(providerId, state, nowMs, change[state]);
    return true;
  }

  /** Records in one statement the reports that say `received` and are alone for their message. */
  function* receive(notes: Notes, asked: readonly Report[], nowMs: number): Step<Set<Report>> {
    const recorded = new Set<Report>();
    const recipientIds: number[] = [];
    const countOf = new Map<number, number>();
    const fetchedBy = new Map<number, number[]>();
    const changes = yield* changesOf(asked);
    for (const [n, report] of asked.entries()) {
      const change = changes[n];
      if (change === undefined) continue;
      const { deviceId, id } = report;
      if (change.isAtGateway === 1)
        fetchedBy.set(deviceId, [...(fetchedBy.get(deviceId) ?? []), id]);
      recorded.add(report);
      recipientIds.push(change.recipientId);
      countOf.set(change.providerId, (countOf.get(change.providerId) ?? 0) + change.received);
    }
    if (recipientIds.length > 0) yield* on.receive.run({ recipientIds, nowMs });
    const fetched = [...fetchedBy].map(([deviceId, ids]) => ({ deviceId, distributionIds: ids }));
    yield* pushes.reach(notes, fetched, nowMs);
    for (const [providerId, count] of countOf) notes.figure(providerId, 'received', nowMs, count);
    return recorded;
  }

  /** Locks the rows of the reports of each device, in the order of devices. */
  function* lock(calls: readonly Call[]): Step<void> {
    yield* pushes.lock([...new Set(calls.flatMap(({ items }) => items.map(({ id }) => id)))]);
    for (const { holder, items } of calls.toSorted((a, b) => a.holder.id - b.holder.id)) {
      yield* on.lockRows.run({ deviceId: holder.id, ids: items.map(({ id }) => id) });
    }
  }

  /** Records the calls of different devices. */
  function* run(notes: Notes, calls: readonly Call[]): Step<AckItem[][]> {
    const nowMs = Math.max(...calls.map((call) => call.nowMs));
    const reportsOf = calls.map(reports);
    const plain = reportsOf.flatMap((own) => {
      const ids = own.map(({ id }) => id);
      return own.filter(
        ({ id, state }) => state === 'received' && ids.indexOf(id) === ids.lastIndexOf(id),
      );
    });
    const recorded = yield* receive(notes, plain, nowMs);
    for (const report of reportsOf.flat()) {
      if (!recorded.has(report) && (yield* record(notes, report, nowMs))) recorded.add(report);
    }
    return calls.map(({ items }, n) =>
      items.filter((_, at) => {
        const report = reportsOf[n]?.[at];
        return report !== undefined && recorded.has(report);
      }),
    );
  }

  /** Answers the calls that change no record; repeated calls need only reads. */
  function* answer(calls: readonly Call[]): Step<(AckItem[] | undefined)[]> {
    const reportsOf = calls.map(reports);
    const changes = yield* changesOf(reportsOf.flat());
    let n = 0;
    return reportsOf.map((own) => {
      const isChanging = changes.slice(n, n + own.length).some((change) => change !== undefined);
      n += own.length;
      return isChanging ? undefined : [];
    });
  }

  const acknowledge = backend.writeInTurn<Call, AckItem[]>({
    answer,
    begin: lock,
    sizeOf: ({ items }) => items.length,
    keyOf: ({ holder }) => String(holder.id),
    run,
  });
  return { acknowledge: (holder, items, nowMs) => acknowledge({ holder, items, nowMs }) };
}
