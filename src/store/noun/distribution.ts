/** Distributions: accepted, listed, cancelled and blocked; lane.ts moves them on. */

import type { SQL } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { BLOCKED, CANCELLED } from '../../core/message/status.ts';
import type { GuardRefusal } from '../../core/port/distribution.ts';
import type { Made } from '../../core/port/idempotency.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Step } from '../backend.ts';
import { columns, ofTable, sql, values } from '../statement-text.ts';
import { isSent, literal, unscheduled } from '../status.ts';
import { type Acceptance, acceptance } from './acceptance.ts';
import { distributionEnds } from './distribution-end.ts';
import { DETAIL_FIELDS, LISTED_FIELDS } from './distribution-row.ts';
import { onceSteps } from './idempotency.ts';
import { rideSteps } from './ride-steps.ts';
import { booleans, mapped } from './rows.ts';

type DistributionNoun = Pick<
  Store,
  | 'addDistribution'
  | 'checkDistribution'
  | 'readSendUsage'
  | 'listDistributions'
  | 'cancelDistribution'
  | 'listAllDistributions'
  | 'blockDistribution'
>;

export const COLUMNS = sql`
  ${columns({ x: 'distribution' }, ofTable('x', LISTED_FIELDS))},
  ${values<{ sentAtMs: number }>({ sentAtMs: sql`coalesce(began_at_ms, due_at_ms)` })}`;

const DETAIL_COLUMNS = sql`${COLUMNS}, ${columns({ p: 'provider', x: 'distribution' }, [
  'p.code AS providerCode',
  ...ofTable('x', DETAIL_FIELDS),
])},
  ${values<{ isPruned: number }>({ isPruned: sql`CAST(pruned_at_ms IS NOT NULL AS integer)` })}`;

/** Prepares a SELECT of details of distributions `x` with their providers `p`, from WHERE on. */
export const detailsOn =
  ({ prepare, join }: Backend) =>
  (where: SQL) =>
    mapped(
      prepare(sql`
        SELECT ${DETAIL_COLUMNS} FROM distribution x ${join} provider p ON p.id = x.provider_id
        ${where}`),
      booleans('isPruned'),
    );

function statements(backend: Backend) {
  const { prepare } = backend;
  const details = detailsOn(backend);
  const ofProvider = sql`provider_id = :providerId`;
  return {
    find: prepare(sql`
        SELECT ${COLUMNS} FROM distribution x
        WHERE x.id = :id AND ${ofProvider} AND ${isSent('x')}`),
    list: prepare(sql`
        SELECT ${COLUMNS} FROM distribution x
        WHERE ${ofProvider} AND x.id < :beforeId AND ${isSent('x')}
        ORDER BY x.id DESC LIMIT :countMax`),
    lock: prepare(sql`
        SELECT ${columns('distribution', 'status, providerId')}, ${values<{ isSent: number }>({
          isSent: sql`CAST(${isSent()} AS integer)`,
        })} FROM distribution WHERE id = :id
        ${backend.locked}`),
    owner: prepare(sql`
        SELECT ${columns('distribution', 'providerId')} FROM distribution WHERE id = :id`),
    cancel: prepare(sql`
        UPDATE distribution SET status = ${literal(CANCELLED)}, finished_at_ms = :nowMs
        WHERE id = :id AND ${ofProvider} AND NOT ${unscheduled()}
          AND due_at_ms >= :dueFromMs AND status ${backend.among('from')}`),
    listAll: details(sql`
        WHERE x.id < :beforeId AND ${isSent('x')}
          AND (CAST(:providerCode AS text) IS NULL OR p.code = :providerCode)
        ORDER BY x.id DESC LIMIT :countMax`),
    // Few distributions are unfinished: an index finds them.
    listUnfinished: details(sql`
        WHERE x.id < :beforeId
          AND (CAST(:providerCode AS text) IS NULL OR p.code = :providerCode) AND x.id IN (
            SELECT u.id FROM distribution u WHERE u.status < 100 AND u.handed_over_at_ms IS NULL
            UNION ALL
            SELECT g.id FROM distribution g WHERE g.status = 40 AND g.handed_over_at_ms IS NOT NULL)
        ORDER BY x.id DESC LIMIT :countMax`),
    block: prepare(sql`
        UPDATE distribution
        SET status = ${literal(BLOCKED)}, finished_at_ms = :nowMs, lease_owner = NULL, cursor_id = 0
        WHERE id = :id AND status ${backend.among('from')}`),
  };
}

export function distributionNoun(backend: Backend): DistributionNoun {
  const on = statements(backend);
  const { acceptOf, check, usage } = acceptance(backend);
  const once = onceSteps(backend);
  const noteEnds = distributionEnds(backend);
  const rides = rideSteps(backend);

  return {
    addDistribution: (draft, guards, act) =>
      backend.write(function* (notes) {
        const { providerId } = draft;
        const { keyed } = guards;
        const add = function* (): Step<Made | GuardRefusal> {
          const [accepted] = yield* acceptOf(notes, providerId, [{ draft, guards, act }]);
          return accepted as Acceptance;
        };
        if (!keyed) return yield* add();
        yield* backend.lockProvider(providerId);
        return yield* once(providerId, keyed, act.atMs, add);
      }),

    checkDistribution: async (draft, guards) => backend.read(() => check({ draft, guards })),

    readSendUsage: async (providerId) => backend.read(() => usage.get({ providerId })),

    listDistributions: async (providerId, { id, beforeId, countMax }) => {
      const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (id !== null) return id < bound ? backend.read(() => on.find.all({ providerId, id })) : [];
      return backend.read(() => on.list.all({ providerId, beforeId: bound, countMax }));
    },

    cancelDistribution: (providerId, id, { from, dueFromMs, nowMs }, act) =>
      backend.write(function* (notes) {
        const known = yield* on.lock.get({ id });
        if (known?.providerId !== providerId || known.isSent === 0) return 'notification_not_found';
        const { status } = known;
        const wanted = { providerId, id, from, dueFromMs: backend.storeMs(dueFromMs), nowMs };
        if ((yield* on.cancel.run(wanted)) === 0) return status;
        const deed = deeds.cancelDistribution({ id, status }, { id, status: CANCELLED });
        notes.audit(act, deed, providerId);
        yield* noteEnds(notes, [id], nowMs);
        return 'ok';
      }),

    listAllDistributions: async ({ beforeId, isUnfinished = false, ...filter }) => {
      const list = isUnfinished ? on.listUnfinished : on.listAll;
      const of = { ...filter, beforeId: beforeId ?? Number.MAX_SAFE_INTEGER };
      return backend.read(() => list.all(of));
    },

    blockDistribution: (id, from, nowMs, act) =>
      backend.write(function* (notes) {
        const owner = yield* on.owner.get({ id });
        if (owner === null) return 'distribution_not_found';
        yield* backend.lockProvider(owner.providerId);
        const known = yield* on.lock.get({ id });
        if (known === null) return 'distribution_not_found';
        const { status, providerId } = known;
        const isBlocked = (yield* on.block.run({ id, from, nowMs })) > 0;
        const isRiding = yield* rides.end(id, providerId, backend.storeMs(nowMs));
        if (!isBlocked) {
          if (!isRiding) return status;
          notes.audit(act, deeds.endRide({ id, status }), providerId);
          return 'ride_ended';
        }
        const deed = deeds.blockDistribution({ id, status }, { id, status: BLOCKED });
        notes.audit(act, deed, providerId);
        yield* noteEnds(notes, [id], nowMs);
        return 'ok';
      }),
  };
}
