/** Receipts: counts and rows of ledgers for the provider that sent the messages. */

import type { PushState } from '../../core/port/ledger.ts';
import type { DistributionReach, Receipt, ReceiptsAfter } from '../../core/port/receipt.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { isSent } from '../status.ts';
import { COLUMNS } from './distribution.ts';
import { LEDGER_COLUMNS, TOTAL_COLUMNS, totalsOf } from './ledger.ts';
import { REACHABLE, READER, reachSteps } from './reach.ts';

type ReceiptNoun = Pick<Store, 'listReaches' | 'countReach' | 'listReceipts' | 'countReceipts'>;

type ReceiptRow = Omit<Receipt, 'push' | 'isReachable'> & {
  isReachable: number;
  pushState: PushState | null;
  pushProblem: string | null;
};

interface CountedRow {
  counted: number;
  inboxCount: number;
  lastDeviceId: number | null;
}

function statements({ prepare, join, once }: Backend) {
  const ofProvider = sql`x.provider_id = :providerId`;
  const reaches = sql`
    SELECT ${COLUMNS},
      ${columns(
        'distribution',
        'recipientCount, sentCount, failedCount, expiresAtMs, finishedAtMs, replacesId',
      )},
      ${values<{ hasLedger: number }>({
        hasLedger: sql`CAST(began_at_ms IS NOT NULL AND pruned_at_ms IS NULL AS integer)`,
      })}
    FROM distribution x WHERE ${ofProvider}`;
  return {
    find: prepare(sql`${reaches} AND x.id = :id`),
    list: prepare(sql`
        ${reaches} AND x.id < :beforeId AND ${isSent('x')} ORDER BY x.id DESC LIMIT :countMax`),
    place: prepare(sql`
        SELECT ${values<{ deviceId: number }>({ deviceId: sql`device_id` })} FROM recipient
        WHERE id = :id AND distribution_id = :distributionId`),
    idAt: prepare(sql`
        SELECT ${columns('recipient', 'id')} FROM recipient
        WHERE distribution_id = :distributionId AND device_id = :deviceId`),
    owned: prepare(sql`
        SELECT ${columns('distribution', 'id')}
        FROM distribution x WHERE x.id = :distributionId AND ${ofProvider}`),
    /** Without the problems of a gateway's queue, which is shared with other providers. */
    receipts: prepare(sql`
        SELECT ${values<{
          id: ReceiptRow['id'];
          deviceId: ReceiptRow['deviceId'];
          deviceName: ReceiptRow['deviceName'];
          isReachable: ReceiptRow['isReachable'];
        }>({
          id: sql`r.id`,
          deviceId: sql`r.device_id`,
          deviceName: sql`coalesce(p.device_name, '')`,
          isReachable: sql`CAST(${REACHABLE} AS integer)`,
        })},
          ${LEDGER_COLUMNS}, ${values<{ pushProblem: ReceiptRow['pushProblem'] }>({
            pushProblem: sql`coalesce(r.push_problem, o.problem)`,
          })}
        FROM recipient r ${join} device d ON d.id = r.device_id
          LEFT JOIN outbox o ON o.recipient_id = r.id ${READER}
        WHERE r.distribution_id = ${once('distributionId')}
          AND r.device_id < ${once('beforeDeviceId')}
        ORDER BY r.device_id DESC LIMIT ${once('countMax')}`),
    totals: prepare(sql`
        SELECT ${TOTAL_COLUMNS}, ${values<CountedRow>({
          counted: sql`count(*)`,
          inboxCount: sql`count(*) FILTER (WHERE state = 2 AND is_reachable)`,
          lastDeviceId: sql`min(device_id)`,
        })} FROM (SELECT r.*, ${REACHABLE} AS is_reachable FROM recipient r ${READER}
          WHERE r.distribution_id = ${once('distributionId')}
            AND r.device_id < ${once('beforeDeviceId')}
          ORDER BY r.device_id DESC LIMIT ${once('rowsMax')}) counted`),
  };
}

type Place = number | 'receipt_not_found' | null;

interface Ledger {
  providerId: number;
  distributionId: number;
}

export function receiptNoun(backend: Backend): ReceiptNoun {
  const on = statements(backend);
  const countReach = reachSteps(backend);

  /**
   * Finds the device before which receipts continue. Returns null for another provider's ledger.
   */
  function* placeAfter({ providerId, distributionId }: Ledger, after: ReceiptsAfter): Step<Place> {
    if ((yield* on.owned.get({ distributionId, providerId })) === null) return null;
    if (after === null) return Number.MAX_SAFE_INTEGER;
    if ('deviceId' in after) return after.deviceId;
    return (yield* on.place.get({ id: after.id, distributionId }))?.deviceId ?? 'receipt_not_found';
  }

  return {
    listReaches: async (providerId, { id, beforeId, countMax }, rowsMax) =>
      backend.read(function* () {
        const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
        const rows =
          id === null
            ? yield* on.list.all({ providerId, beforeId: bound, countMax })
            : id < bound
              ? yield* on.find.all({ providerId, id })
              : [];
        const nowMs = backend.storeNowMs();
        const found: DistributionReach[] = [];
        for (const { hasLedger, ...row } of rows) {
          found.push({
            ...row,
            reach: hasLedger ? yield* countReach(row.id, rowsMax, nowMs) : null,
          });
        }
        return found;
      }),

    countReach: async (distributionId, rowsMax, carriers) =>
      backend.read(() => countReach(distributionId, rowsMax, backend.storeNowMs(), carriers)),

    listReceipts: async (of, after, countMax) =>
      backend.read(function* () {
        const beforeDeviceId = yield* placeAfter(of, after);
        if (typeof beforeDeviceId !== 'number') return beforeDeviceId ?? [];
        const { distributionId } = of;
        const rows = yield* on.receipts.all({ distributionId, beforeDeviceId, countMax });
        return rows.map(({ isReachable, pushState, pushProblem, ...row }) => ({
          ...row,
          isReachable: isReachable === 1,
          push: pushState && { state: pushState, problem: pushProblem },
        }));
      }),

    countReceipts: async (of, after, rowsMax) =>
      backend.read(function* () {
        const beforeDeviceId = yield* placeAfter(of, after);
        if (beforeDeviceId === 'receipt_not_found') return beforeDeviceId;
        // Another provider's ledger has no row before the first device.
        const { distributionId } = of;
        const from = { distributionId, beforeDeviceId: beforeDeviceId ?? 0 };
        const found = yield* on.totals.get({ ...from, rowsMax });
        const { counted, inboxCount, lastDeviceId, ...totals } = found as NonNullable<typeof found>;
        const isMore = counted === rowsMax && lastDeviceId !== null;
        const last = isMore ? yield* on.idAt.get({ distributionId, deviceId: lastDeviceId }) : null;
        return { totals: totalsOf(totals), inboxCount, nextId: last?.id ?? null };
      }),
  };
}
