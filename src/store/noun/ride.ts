/** Messages that ride: found for doors, recorded as carried, and deleted after their end. */

import type { Ride, RideStore } from '../../core/port/ride.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import type { CarriedStamps } from './carried.ts';

/** Rides that a step deletes: some 2 ms on SQLite. */
const FORGET_COUNT = 500;

function statements({ prepare, join, least, deletableUnlessBusy }: Backend) {
  const message = columns(
    { r: 'ride', x: 'distribution' },
    `r.distributionId, x.notificationType, r.part, x.payload, r.fromMs`,
  );
  /**
   * A device joins a round of a reminder later than it was made. The devices of a segment are those
   * of the time at which its delivery began.
   */
  const sent = values<{ createdAtMs: number }>({
    createdAtMs: sql`CASE WHEN x.reminder_id IS NOT NULL THEN r.from_ms
      WHEN x.segment IS NOT NULL THEN coalesce(x.began_at_ms, x.created_at_ms)
      ELSE x.created_at_ms END`,
  });
  const distribution = sql`${join} distribution x ON x.id = r.distribution_id
    ${join} provider o ON o.id = r.provider_id`;
  /** Nothing rides for a provider that is suspended, or whose subscription has ended. */
  const until = least(
    sql.raw('r.until_ms'),
    least(
      sql.raw('coalesce(o.suspended_at_ms, r.until_ms)'),
      sql.raw('coalesce(o.active_until_ms, r.until_ms)'),
    ),
  );
  /** When the device got the message another way. */
  const taken = sql.raw(`coalesce(q.received_at_ms,
    CASE WHEN q.push_state = 2 THEN q.pushed_at_ms END, r.until_ms)`);
  return {
    terms: prepare(sql`
        SELECT ${columns(
          'provider',
          `rideVersion AS version, ride, rideDesktop AS ridesOnDesktop, supportUrl,
          webPageUrl`,
        )},
          ${values<{ buttonsAlways: number }>({
            buttonsAlways: sql`CAST(buttons IS NOT DISTINCT FROM 'always' AS integer)`,
          })},
          ${columns('provider', 'my AS hasMy, discovery AS hasDiscovery, subscriptionFigures AS hasFigures')}
        FROM provider WHERE id = :providerId`),
    ofAll: prepare(sql`
        SELECT ${message}, ${columns({ r: 'ride', x: 'distribution' }, 'r.os, x.createdAtMs')},
          ${values<{ untilMs: number }>({ untilMs: until })}
        FROM ride r ${distribution}
        WHERE r.provider_id = :providerId AND r.device_id IS NULL AND x.pruned_at_ms IS NULL
        ORDER BY r.distribution_id DESC, r.id`),
    ofDevice: prepare(sql`
        SELECT ${message}, ${sent}, ${values<{ os: null; untilMs: number }>({
          os: sql`NULL`,
          untilMs: least(least(until, taken), sql.raw('coalesce(x.ride_ended_at_ms, r.until_ms)')),
        })}
        FROM ride r ${distribution} ${join} recipient q
          ON q.distribution_id = r.distribution_id AND q.device_id = r.device_id
        WHERE r.device_id = :deviceId AND r.provider_id = :providerId AND x.pruned_at_ms IS NULL
        ORDER BY r.distribution_id DESC, r.id`),
    oldest: prepare(sql`
        SELECT ${columns('ride', 'id')} FROM ride WHERE until_ms < :endedBeforeMs LIMIT 1`),
    forget: prepare(sql`
        DELETE FROM ride WHERE id IN (SELECT id FROM ride WHERE until_ms < :endedBeforeMs
          ORDER BY until_ms, id LIMIT ${FORGET_COUNT} ${deletableUnlessBusy})`),
  };
}

export function rideNoun(backend: Backend, carried: CarriedStamps): RideStore {
  const on = statements(backend);
  /** Times of rides are by the store's clock, so that a block applies at every node at once. */
  const here = (ride: Ride): Ride => {
    const aheadMs = backend.storeMs(0);
    return { ...ride, fromMs: ride.fromMs - aheadMs, untilMs: ride.untilMs - aheadMs };
  };
  return {
    findRides: (providerId) =>
      backend.read(function* () {
        // The version is read first, so that the rides are never older than it. If they are newer,
        // doors show another version, and the rides are read again.
        const terms = yield* on.terms.get({ providerId });
        const rides = yield* on.ofAll.all({ providerId });
        if (terms === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        const { ridesOnDesktop, buttonsAlways, hasMy, hasDiscovery, hasFigures, ...row } = terms;
        return {
          ...row,
          ridesOnDesktop: ridesOnDesktop === 1,
          buttonsAlways: buttonsAlways === 1,
          hasMy: hasMy === 1,
          hasDiscovery: hasDiscovery === 1,
          hasFigures: hasFigures === 1,
          rides: rides.map(here),
        };
      }),
    findNamedRides: (deviceId, providerId) =>
      backend.read(function* () {
        return (yield* on.ofDevice.all({ deviceId, providerId })).map(here);
      }),
    noteCarried: (stamps) => carried.add(stamps),
    forgetRides: async (endedBeforeMs) => {
      if ((await backend.read(() => on.oldest.get({ endedBeforeMs }))) === null) return false;
      return (await backend.change(() => on.forget.run({ endedBeforeMs }))) > 0;
    },
  };
}
