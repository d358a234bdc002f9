/**
 * Steps by which messages begin and end to ride, within the writes that move and block
 * distributions.
 */

import { HOUR_MS } from '../../core/calendar.ts';
import { COMMAND } from '../../core/port/distribution.ts';
import type { RideRules } from '../../core/port/ride.ts';
import { effectEndMs, rideTimes } from '../../core/ride/due.ts';
import { type Part, partsTo } from '../../core/ride/parts.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';
import { ridesChanged } from './terms.ts';

/** A message that is to ride. */
interface Plan {
  distributionId: number;
  providerId: number;
  /** Null: it is for named devices. */
  systems: readonly string[] | null;
  deviceIds: readonly number[];
  parts: readonly Part[];
  fromMs: number;
  untilMs: number;
}

interface Work {
  id: number;
  providerId: number;
  notificationType: number;
  targetOs: string | null;
  targetHwid: string;
  /** Not null: it is for what a search finds, and begins to ride where it is loaded. */
  segment: string | null;
  beganAtMs: number | null;
  createdAtMs: number;
  expiresAtMs: number;
  payload: string;
}

function statements({ prepare, lockOnly, among, rows, greatest, join, locked }: Statements) {
  const ofProvider = sql`provider_id = :providerId`;
  const parts = rows('parts', { part: 'text' });
  const times = sql`CAST(:distributionId AS bigint), CAST(:fromMs AS bigint),
    CAST(:untilMs AS bigint)`;
  return {
    works: prepare(sql`
        SELECT ${columns(
          'distribution',
          `id, providerId, notificationType, targetOs, targetHwid, segment, beganAtMs,
            createdAtMs, expiresAtMs, payload`,
        )}
        FROM distribution WHERE id ${among('ids')} AND notification_type <= :typeMax ORDER BY id`),
    devices: prepare(sql`
        SELECT ${columns({ d: 'device' }, 'd.id')} FROM device d ${join} device_provider p
          ON p.device_id = d.id AND p.provider_id = :providerId
        WHERE d.hwid ${among('hwids', 'text')}`),
    lockMarks: lockOnly(sql`
        SELECT device_id FROM device_provider
        WHERE ${ofProvider} AND device_id ${among('deviceIds')} ORDER BY device_id ${locked}`),
    dropOfAll: prepare(sql`
        DELETE FROM ride WHERE device_id IS NULL AND ${ofProvider}
          AND os ${among('systems', 'text')} AND part ${among('partNames', 'text')}`),
    addToAll: prepare(sql`
        INSERT INTO ride (provider_id, os, part, distribution_id, from_ms, until_ms)
        SELECT CAST(:providerId AS bigint), s.os, x.part, ${times}
        FROM ${rows('osRows', { os: 'text' })} s CROSS JOIN ${parts} x`),
    dropOfDevices: prepare(sql`
        DELETE FROM ride WHERE device_id ${among('deviceIds')} AND ${ofProvider}
          AND part ${among('partNames', 'text')}`),
    addToDevices: prepare(sql`
        INSERT INTO ride (provider_id, device_id, os, part, distribution_id, from_ms, until_ms)
        SELECT CAST(:providerId AS bigint), d.id, '', x.part, ${times}
        FROM device d CROSS JOIN ${parts} x WHERE d.id ${among('deviceIds')}`),
    mark: prepare(sql`
        UPDATE device_provider SET ride_until_ms = ${greatest(
          sql.raw('ride_until_ms'),
          sql`CAST(:markMs AS bigint)`,
        )} WHERE ${ofProvider} AND device_id ${among('deviceIds')}`),
    isOfAll: prepare(sql`
        SELECT ${values<{ one: number }>({ one: sql`1` })}
        FROM ride WHERE distribution_id = :id AND device_id IS NULL LIMIT 1`),
    dropUnbegun: prepare(sql`
        DELETE FROM ride WHERE distribution_id = :id AND from_ms >= :nowMs`),
    /** Rides to a segment end by one row, because they may be too many for one write. */
    endOfSegment: prepare(sql`
        UPDATE distribution SET ride_ended_at_ms = :nowMs
        WHERE id = :id AND segment IS NOT NULL AND ride_ended_at_ms IS NULL
          AND EXISTS (SELECT 1 FROM ride WHERE distribution_id = :id AND until_ms > :nowMs)`),
    segmentOf: prepare(sql`
        SELECT ${columns('distribution', 'segment')} FROM distribution WHERE id = :id`),
    end: prepare(sql`
        UPDATE ride SET until_ms = :nowMs WHERE distribution_id = :id AND until_ms > :nowMs`),
    endNamed: prepare(sql`
        UPDATE ride SET until_ms = :nowMs
        WHERE distribution_id = :id AND device_id = :deviceId AND until_ms > :nowMs`),
  };
}

const typeMaxOf = ({ level }: RideRules) => (level === 'on' ? COMMAND : COMMAND - 1);

/** All times are by the clock of the store. */
export const rideSteps = shared((backend: Statements) => {
  const on = { ...statements(backend), raise: ridesChanged(backend) };

  /** Returns the plan without named devices; null: it does not ride. */
  function planFrom(work: Work, { hours }: RideRules, nowMs: number): Plan | null {
    const { id, providerId, notificationType, targetOs } = work;
    const systems = targetOs === null ? null : targetOs.split(',');
    const parts = partsTo(systems !== null, notificationType, JSON.parse(work.payload));
    const times = rideTimes(work, hours, nowMs);
    if (parts.length === 0 || times === null) return null;
    return { distributionId: id, providerId, systems, parts, ...times, deviceIds: [] };
  }

  function* planOf(work: Work, rules: RideRules, nowMs: number): Step<Plan | null> {
    const { providerId, segment, targetHwid } = work;
    const plan = segment === null ? planFrom(work, rules, nowMs) : null;
    if (plan === null || plan.systems !== null) return plan;
    const found = yield* on.devices.all({ providerId, hwids: targetHwid.split(',') });
    return found.length === 0 ? null : { ...plan, deviceIds: found.map((device) => device.id) };
  }

  function* add({ systems, deviceIds, parts, ...plan }: Plan): Step<void> {
    const { providerId, fromMs, untilMs } = plan;
    const named = { providerId, partNames: parts, deviceIds };
    const row = { ...plan, parts: JSON.stringify(parts.map((part) => ({ part }))) };
    if (systems !== null) {
      yield* on.dropOfAll.run({ ...named, systems });
      yield* on.addToAll.run({ ...row, osRows: JSON.stringify(systems.map((os) => ({ os }))) });
      return;
    }
    yield* on.dropOfDevices.run(named);
    yield* on.addToDevices.run({ ...row, deviceIds });
    const ends = parts.map((part) => effectEndMs({ part, fromMs, untilMs }));
    yield* on.mark.run({ ...named, markMs: Math.max(...ends) });
  }

  return {
    /**
     * Plans which of these distributions ride when they begin, and locks the named devices. Needs
     * the provider locked, and no distribution.
     */
    *plan(ids: readonly number[], rules: RideRules | undefined, nowMs: number): Step<Plan[]> {
      if (rules === undefined || rules.level === 'off') return [];
      const plans: Plan[] = [];
      for (const work of yield* on.works.all({ ids, typeMax: typeMaxOf(rules) })) {
        const plan = yield* planOf(work, rules, nowMs);
        if (plan !== null) plans.push(plan);
      }
      const [first] = plans;
      const deviceIds = plans.flatMap((plan) => plan.deviceIds);
      if (first && deviceIds.length > 0) {
        yield* on.lockMarks.run({ providerId: first.providerId, deviceIds });
      }
      return plans;
    },

    /** Begins the planned rides whose distributions began; each replaces earlier ones. */
    *begin(plans: readonly Plan[], begun: readonly number[]): Step<void> {
      const toAll = new Set<number>();
      for (const plan of plans) {
        if (!begun.includes(plan.distributionId)) continue;
        yield* add(plan);
        if (plan.systems !== null) toAll.add(plan.providerId);
      }
      for (const providerId of toAll) yield* on.raise.run({ providerId });
    },

    /** Locks the rows of devices at a provider, before any distribution. */
    *lockDevices(providerId: number, deviceIds: readonly number[]): Step<void> {
      yield* on.lockMarks.run({ providerId, deviceIds });
    },

    /** Begins the ride of a notification to devices that {@link lockDevices} locked. */
    *beginNamed(
      { id, providerId }: { id: number; providerId: number },
      deviceIds: readonly number[],
      { hours, level }: RideRules,
      nowMs: number,
    ): Step<void> {
      if (level === 'off') return;
      const times = { fromMs: nowMs, untilMs: nowMs + hours * HOUR_MS };
      const of = { distributionId: id, providerId, systems: null, deviceIds };
      yield* add({ ...of, ...times, parts: ['message'] });
    },

    /** Ends the ride of a distribution to one device. */
    *endNamed(id: number, deviceId: number, nowMs: number): Step<void> {
      yield* on.endNamed.run({ id, deviceId, nowMs });
    },

    /** Begins the ride of a distribution to devices of its segment. Needs the provider locked. */
    *beginFor(id: number, deviceIds: readonly number[], rules: RideRules | undefined): Step<void> {
      if (rules === undefined || rules.level === 'off') return;
      const work = yield* on.works.get({ ids: [id], typeMax: typeMaxOf(rules) });
      const plan = work && planFrom(work, rules, work.beganAtMs ?? 0);
      if (plan === null) return;
      yield* on.lockMarks.run({ providerId: plan.providerId, deviceIds });
      yield* add({ ...plan, deviceIds });
    },

    /** Ends the ride of a distribution whose provider is locked. False: it had none. */
    *end(id: number, providerId: number, nowMs: number): Step<boolean> {
      if ((yield* on.segmentOf.get({ id }))?.segment != null) {
        return (yield* on.endOfSegment.run({ id, nowMs })) > 0;
      }
      const isOfAll = (yield* on.isOfAll.get({ id })) !== null;
      const count = (yield* on.dropUnbegun.run({ id, nowMs })) + (yield* on.end.run({ id, nowMs }));
      if (isOfAll && count > 0) yield* on.raise.run({ providerId });
      return count > 0;
    },
  };
});
