/** The ledger: recipients are written, served, expired and pruned, always a few at a time. */

import { sql } from 'drizzle-orm';
import { LOAD, LOAD_FROM, SENDING } from '../../core/distribution.ts';
import type { DistributionDetail, LedgerRow, LedgerTotals } from '../../core/message-store.ts';
import type { Store } from '../../core/store.ts';
import { type Context, value } from './context.ts';
import { DETAIL_COLUMNS } from './distribution.ts';
import { HELD } from './lane.ts';
import { raw } from './raw.ts';
import { prepare } from './statement.ts';
import { FINAL } from './status.ts';
import { inBindingRange, inLinkRange, linked, osValues, targetRanges } from './targets.ts';

type RecipientStore = Pick<
  Store,
  'loadRecipients' | 'sendRecipients' | 'expireRecipients' | 'pruneLedger' | 'findDistribution'
>;

/** How many recipients a step serves, expires or prunes: some 5 ms. */
const STEP_COUNT = 1_000;
/** State of a recipient whose message is still to be sent. */
const QUEUED = 1;
/** Statuses in which recipients are written, and served, for `json_each`. */
const LOADING = JSON.stringify([LOAD, LOAD_FROM]);
const SERVING = JSON.stringify([SENDING]);
/** Cursor of a distribution by HWID whose recipients are written. */
const NAMED_LOADED = 1;

interface InHand {
  providerId: number;
  targetOs: string | null;
  targetHwid: string;
  source: number;
  cursorId: number;
  isImport: number;
  expiresAtMs: number;
}

function workerStatements({ db }: Context) {
  const insert = sql`INSERT INTO recipient
    (distribution_id, device_id, state, is_unbound, is_waiting, queued_at_ms)
    SELECT ${value('id')}, d.id, 1, 0, 0, ${value('nowMs')} FROM`;
  return {
    inHand: prepare(
      db,
      raw<InHand>(sql`
        SELECT provider_id AS "providerId", target_os AS "targetOs", target_hwid AS "targetHwid",
          cursor_source AS source, cursor_id AS "cursorId",
          payload ->> '$.action_type' IS 'import-data' AS "isImport",
          expires_at_ms AS "expiresAtMs"
        FROM distribution
        WHERE ${HELD} AND status IN (SELECT value FROM json_each(${value('statuses')}))`),
    ),
    loadLinks: prepare(db, raw(sql`${insert} ${inLinkRange} ON CONFLICT DO NOTHING`)),
    loadBinding: prepare(db, raw(sql`${insert} ${inBindingRange} ON CONFLICT DO NOTHING`)),
    /** A named device that is not the provider's any more fails; import-data it may have. */
    loadHwid: prepare(
      db,
      raw(sql`
        INSERT INTO recipient (distribution_id, device_id, state, is_unbound, is_waiting,
          queued_at_ms, failed_at_ms, detail)
        SELECT ${value('id')}, d.id, iif(d.linked OR ${value('isImport')}, 1, 3),
          NOT d.linked AND ${value('isImport')}, 0, ${value('nowMs')},
          iif(d.linked OR ${value('isImport')}, NULL, ${value('nowMs')}),
          iif(d.linked OR ${value('isImport')}, NULL, 'not linked to the provider any more')
        FROM (SELECT y.id AS id, ${linked('y.id', 'p.id')} AS linked
              FROM device y CROSS JOIN provider p ON p.id = ${value('providerId')}
              WHERE y.hwid = ${value('hwid')}) d
        WHERE true ON CONFLICT DO NOTHING`),
    ),
    /** Kept with every step of loading: where it continues, and how many there are. */
    loaded: prepare(
      db,
      raw(sql`
        UPDATE distribution
        SET cursor_source = ${value('source')}, cursor_id = ${value('cursorId')},
          recipient_count = recipient_count + ${value('added')},
          failed_count = failed_count + ${value('failed')},
          lease_until_ms = ${value('nowMs')} + ${value('leaseMs')}
        WHERE id = ${value('id')}`),
    ),
    failedOf: prepare(
      db,
      raw<{ count: number }>(sql`
        SELECT count(*) AS count FROM recipient
        WHERE distribution_id = ${value('id')} AND state = 3`),
    ),
    nextToSend: prepare(
      db,
      raw<{ deviceId: number; state: number }>(sql`
        SELECT device_id AS "deviceId", state FROM recipient
        WHERE distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
        ORDER BY device_id LIMIT ${STEP_COUNT}`),
    ),
    send: prepare(
      db,
      raw(sql`
        UPDATE recipient SET state = 2, is_waiting = 1, sent_at_ms = ${value('nowMs')}
        WHERE distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
          AND device_id <= ${value('toId')} AND state = 1`),
    ),
    expire: prepare(
      db,
      raw(sql`
        UPDATE recipient SET state = 4, is_waiting = 0, expired_at_ms = ${value('nowMs')}
        WHERE distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
          AND device_id <= ${value('toId')} AND (state = 1 OR is_waiting = 1)`),
    ),
    sent: prepare(
      db,
      raw(sql`
        UPDATE distribution
        SET cursor_id = ${value('cursorId')}, sent_count = sent_count + ${value('sent')},
          failed_count = failed_count + ${value('failed')},
          lease_until_ms = ${value('nowMs')} + ${value('leaseMs')}
        WHERE id = ${value('id')}`),
    ),
    /** Devices that were forgotten since loading have no row any more, but were recipients. */
    settled: prepare(
      db,
      raw<{ sentCount: number; failedCount: number }>(sql`
        UPDATE distribution SET failed_count = recipient_count - sent_count
        WHERE id = ${value('id')}
        RETURNING sent_count AS "sentCount", failed_count AS "failedCount"`),
    ),
  };
}

function keeperStatements({ db }: Context) {
  return {
    toExpire: prepare(
      db,
      raw<{ id: number; cursorId: number }>(sql`
        SELECT id, cursor_id AS "cursorId" FROM distribution
        WHERE expired_at_ms IS NULL AND expires_at_ms <= ${value('nowMs')} AND status >= ${FINAL}
        ORDER BY expires_at_ms LIMIT 1`),
    ),
    expireMoved: prepare(
      db,
      raw(sql`
        UPDATE distribution SET cursor_id = ${value('cursorId')},
          expired_at_ms = ${value('expiredAtMs')} WHERE id = ${value('id')}`),
    ),
    toPrune: prepare(
      db,
      raw<{ id: number }>(sql`
        SELECT id FROM distribution
        WHERE pruned_at_ms IS NULL AND finished_at_ms < ${value('finishedBeforeMs')}
          AND expires_at_ms <= ${value('nowMs')}
        ORDER BY finished_at_ms LIMIT 1`),
    ),
    prune: prepare(
      db,
      raw(sql`
        DELETE FROM recipient WHERE id IN (
          SELECT id FROM recipient WHERE distribution_id = ${value('id')} LIMIT ${STEP_COUNT})`),
    ),
    pruned: prepare(
      db,
      raw(sql`UPDATE distribution SET pruned_at_ms = ${value('nowMs')} WHERE id = ${value('id')}`),
    ),
    detail: prepare(
      db,
      raw<Omit<DistributionDetail, 'isPruned'> & { isPruned: number }>(sql`
        SELECT ${DETAIL_COLUMNS} FROM distribution x CROSS JOIN provider p ON p.id = x.provider_id
        WHERE x.id = ${value('id')}`),
    ),
    totals: prepare(
      db,
      raw<LedgerTotals>(sql`
        SELECT count(*) FILTER (WHERE state = 1) AS queued,
          count(*) FILTER (WHERE state = 2) AS sent, count(*) FILTER (WHERE state = 3) AS failed,
          count(*) FILTER (WHERE state = 4) AS expired, count(received_at_ms) AS received,
          count(opened_at_ms) AS opened, count(executed_at_ms) AS executed,
          count(refused_at_ms) AS refused
        FROM recipient WHERE distribution_id = ${value('id')}`),
    ),
    missing: prepare(
      db,
      raw<LedgerRow>(sql`
        SELECT d.hwid AS hwid,
          CASE state WHEN 1 THEN 'queued' WHEN 2 THEN 'sent' WHEN 3 THEN 'failed' ELSE 'expired' END
            AS state, queued_at_ms AS "queuedAtMs", sent_at_ms AS "sentAtMs",
          failed_at_ms AS "failedAtMs", expired_at_ms AS "expiredAtMs",
          received_at_ms AS "receivedAtMs", opened_at_ms AS "openedAtMs",
          executed_at_ms AS "executedAtMs", refused_at_ms AS "refusedAtMs", detail
        FROM recipient r CROSS JOIN device d ON d.id = r.device_id
        WHERE distribution_id = ${value('id')} AND received_at_ms IS NULL
        ORDER BY r.device_id LIMIT ${value('countMax')}`),
    ),
  };
}

export function recipientStore(context: Context): RecipientStore {
  const { writer } = context;
  const on = workerStatements(context);
  const keeper = keeperStatements(context);
  const nextRange = targetRanges(context);

  /** All at once: there are five at most. Devices that are not known any more only count. */
  function loadNamed(id: number, work: InHand, nowMs: number): { added: number; failed: number } {
    const { providerId, isImport } = work;
    const hwids = work.targetHwid.split(',');
    let found = 0;
    for (const hwid of hwids) found += on.loadHwid.run({ id, providerId, isImport, hwid, nowMs });
    const failed = (on.failedOf.get({ id })?.count ?? 0) + hwids.length - found;
    return { added: hwids.length, failed };
  }

  return {
    loadRecipients: (lease) =>
      writer.run(() => {
        const { id, nowMs } = lease;
        const work = on.inHand.get({ ...lease, statuses: LOADING });
        if (work === null) return null;
        const { providerId, targetOs, source, cursorId } = work;
        if (targetOs === null) {
          // Counted once, even if the worker dies before it can say that it is done.
          if (cursorId === NAMED_LOADED) return { isDone: true };
          const counts = loadNamed(id, work, nowMs);
          on.loaded.run({ ...lease, source, cursorId: NAMED_LOADED, ...counts });
          return { isDone: true };
        }
        const found = nextRange(providerId, { source, id: cursorId });
        if (found === null) return { isDone: true };
        const load = found.range.source === 0 ? on.loadLinks : on.loadBinding;
        const { range, next } = found;
        const os = osValues(targetOs.split(','));
        const added = load.run({ id, providerId, nowMs, ...range, ...os });
        const at = { source: next.source, cursorId: next.id };
        on.loaded.run({ ...lease, ...at, added, failed: 0 });
        return { isDone: false };
      }),

    sendRecipients: (lease) =>
      writer.run(() => {
        const { id, nowMs } = lease;
        const work = on.inHand.get({ ...lease, statuses: SERVING });
        if (work === null) return null;
        const { cursorId, expiresAtMs } = work;
        const batch = on.nextToSend.all({ id, cursorId });
        const toId = batch.at(-1)?.deviceId ?? cursorId;
        const isExpired = expiresAtMs <= nowMs;
        const served = (isExpired ? on.expire : on.send).run({ id, cursorId, toId, nowMs });
        const counts = isExpired ? { sent: 0, failed: served } : { sent: served, failed: 0 };
        on.sent.run({ ...lease, cursorId: toId, ...counts });
        const queued = isExpired ? [] : batch.filter(({ state }) => state === QUEUED);
        const deviceIds = queued.map(({ deviceId }) => deviceId);
        if (batch.length === STEP_COUNT) return { deviceIds, outcome: null };
        return { deviceIds, outcome: on.settled.get({ id }) };
      }),

    expireRecipients: async (nowMs) => {
      if (keeper.toExpire.get({ nowMs }) === null) return null;
      return writer.run(() => {
        const found = keeper.toExpire.get({ nowMs });
        if (found === null) return null;
        const { id, cursorId } = found;
        const batch = on.nextToSend.all({ id, cursorId });
        const toId = batch.at(-1)?.deviceId ?? cursorId;
        const expiredCount = on.expire.run({ id, cursorId, toId, nowMs });
        const isDone = batch.length < STEP_COUNT;
        keeper.expireMoved.run({ id, cursorId: toId, expiredAtMs: isDone ? nowMs : null });
        return expiredCount;
      });
    },

    pruneLedger: async (finishedBeforeMs, nowMs) => {
      if (keeper.toPrune.get({ finishedBeforeMs, nowMs }) === null) return false;
      return writer.run(() => {
        const found = keeper.toPrune.get({ finishedBeforeMs, nowMs });
        if (found === null) return false;
        const removed = keeper.prune.run({ id: found.id });
        if (removed < STEP_COUNT) keeper.pruned.run({ id: found.id, nowMs });
        return true;
      });
    },

    findDistribution: async (id, countMax) => {
      const found = keeper.detail.get({ id });
      const totals = keeper.totals.get({ id });
      if (found === null || totals === null) return null;
      const distribution = { ...found, isPruned: found.isPruned === 1 };
      return { distribution, totals, missing: keeper.missing.all({ id, countMax }) };
    },
  };
}
