/**
 * Steps that save a device: its HWID, the facts that it reports to a provider, and its bindings.
 * The row of `device` serves as the lock for all rows of a device: each write updates it first, so
 * that later reads stay true until the commit.
 */

import { sameUtcDay } from '../../core/calendar.ts';
import { mergeFacts, mergeUnproven, TIES_MAX } from '../../core/device.ts';
import { FACT_FIELDS } from '../../core/device-facts.ts';
import type { DeviceAtProvider, DeviceFacts } from '../../core/port/device.ts';
import type { Notes, Prepared, Statements, Step } from '../backend.ts';
import { assignments, columnNames, columns, insertInto, sql, values } from '../statement-text.ts';
import { atProvider, lookUpStatements } from './look-ups.ts';
import { shared } from './shared.ts';

/** A value for each fact of a new row of `device`: its facts are of calls without a provider. */
export const UNREPORTED = sql.raw(FACT_FIELDS.map(() => "''").join(', '));

const of = (column: string) => sql.raw(column);

function statements({ prepare, arrival, greatest, least, returningId }: Statements) {
  const ofPair = sql`device_id = :deviceId AND provider_id = :providerId`;
  return {
    see: prepare(sql`
        UPDATE device SET last_seen_at_ms = :lastSeenAtMs WHERE id = :id`),
    seeImported: prepare(sql`
        UPDATE device SET first_seen_at_ms = ${least(of('first_seen_at_ms'), sql`:firstSeenAtMs`)},
          last_seen_at_ms = ${greatest(of('last_seen_at_ms'), sql`:lastSeenAtMs`)}
        WHERE id = :id`),
    /** On PostgreSQL another write may have added the device since it was looked up. */
    add: prepare(sql`
        INSERT INTO device AS d
          (hwid, ${columnNames(FACT_FIELDS)}, first_seen_at_ms, last_seen_at_ms)
        VALUES (:hwid, ${UNREPORTED}, :firstSeenAtMs, :lastSeenAtMs)
        ON CONFLICT (hwid) DO UPDATE SET
          first_seen_at_ms = ${least(of('d.first_seen_at_ms'), of('excluded.first_seen_at_ms'))},
          last_seen_at_ms = ${greatest(of('d.last_seen_at_ms'), of('excluded.last_seen_at_ms'))}
        ${returningId}`),
    ownFacts: prepare(sql`SELECT ${columns('device', FACT_FIELDS)} FROM device WHERE id = :id`),
    setOwnFacts: prepare(sql`
        UPDATE device SET ${assignments('device', FACT_FIELDS)} WHERE id = :id`),
    /** Changes nothing if the provider knows the device. */
    addAtProvider: prepare(sql`
        ${insertInto('device_provider', ['deviceId', 'providerId', ...FACT_FIELDS, 'lastSeenAtMs'])}
        ON CONFLICT DO NOTHING`),
    setAtProvider: prepare(sql`
        UPDATE device_provider SET ${assignments('device_provider', [...FACT_FIELDS, 'lastSeenAtMs'])}
        WHERE ${ofPair}`),
    checkIn: prepare(sql`
        UPDATE device_provider SET checked_in_at_ms = :nowMs WHERE ${ofPair}`),
    isTied: prepare(sql`
        SELECT ${values<{ one: number }>({ one: sql`1` })}
        FROM device_domain WHERE device_id = :deviceId AND domain_id = :domainId`),
    tie: prepare(sql`
        INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)
        SELECT CAST(:deviceId AS bigint), id, provider_id, CAST(:nowMs AS bigint)
        FROM domain WHERE id = :domainId ON CONFLICT DO NOTHING`),
    dropOldestTies: prepare(sql`
        DELETE FROM device_domain WHERE ${ofPair} AND ${arrival} <= (
          SELECT ${arrival} FROM device_domain WHERE ${ofPair}
          ORDER BY ${arrival} DESC LIMIT 1 OFFSET ${TIES_MAX})`),
  };
}

/** Merges the known facts of a device with those that it reports. */
type Merge = (known: DeviceAtProvider, reported: DeviceFacts) => DeviceFacts;

/** First and last time of a device, UTC ms. */
type SeenTimes = { firstSeenAtMs: number; lastSeenAtMs: number };

/** Returns true if a device was not yet seen on this UTC day; null: never before. */
export const isFirstOfDay = (seenBeforeMs: number | null, nowMs: number): boolean =>
  seenBeforeMs === null || !sameUtcDay(seenBeforeMs, nowMs);

/** A device that calls a provider, named by its HWID. */
interface Caller {
  hwid: string;
  /** The device that the write found; undefined: there was none. */
  knownId: number | undefined;
}

/** A device that calls a provider. */
export interface Visitor {
  deviceId: number;
  hwid: string;
  /** True: the provider did not know it before. */
  isNewHere: boolean;
}

/** Returns the steps; they run inside writes. */
export const knownDeviceSteps = shared((backend: Statements) => {
  const on = statements(backend);
  const find = lookUpStatements(backend);

  /** Finds or adds a device, saves its times, locks it; an upsert costs twice as much on SQLite. */
  function* seen(update: Prepared<unknown>, hwid: string, times: SeenTimes): Step<number> {
    const known = yield* find.deviceId.get({ hwid });
    if (known !== null && (yield* update.run({ id: known.id, ...times })) > 0) return known.id;
    return yield* on.add.insert({ hwid, ...times });
  }

  /** Finds or adds a device seen now, locks it and returns its id. */
  const see = (hwid: string, nowMs: number): Step<number> =>
    seen(on.see, hwid, { firstSeenAtMs: nowMs, lastSeenAtMs: nowMs });

  /** {@link see} for an imported device, whose times may be long ago. */
  const seeImported = (hwid: string, firstSeenAtMs: number, lastSeenAtMs: number): Step<number> =>
    seen(on.seeImported, hwid, { firstSeenAtMs, lastSeenAtMs });

  /** Saves facts and the time that `seenAfter` makes of the former one, which it returns. */
  function* keepFacts(
    deviceId: number,
    providerId: number,
    reported: DeviceFacts,
    seenAfter: (seenBeforeMs: number | null) => number,
    merge: Merge,
  ): Step<number | null> {
    const row = yield* find.atProvider.get({ deviceId, providerId });
    const key = { deviceId, providerId, lastSeenAtMs: seenAfter(row?.lastSeenAtMs ?? null) };
    if (row === null) yield* on.addAtProvider.run({ ...key, ...reported });
    else yield* on.setAtProvider.run({ ...key, ...merge(atProvider(row), reported) });
    return row === null ? null : row.lastSeenAtMs;
  }

  /** Saves the report of a device to a provider, seen now. Returns when it was seen before. */
  function* seeAt(
    notes: Notes,
    deviceId: number,
    providerId: number,
    reported: DeviceFacts,
    nowMs: number,
    merge: Merge,
  ): Step<number | null> {
    const seenBeforeMs = yield* keepFacts(deviceId, providerId, reported, () => nowMs, merge);
    if (isFirstOfDay(seenBeforeMs, nowMs)) notes.figure(providerId, 'seen', nowMs);
    return seenBeforeMs;
  }

  return {
    see,
    seeImported,
    keepFacts,
    seeAt,

    /** Saves what a device reports to a provider without proof. */
    *visit(
      notes: Notes,
      { hwid, knownId }: Caller,
      providerId: number,
      reported: DeviceFacts,
      nowMs: number,
    ): Step<Visitor> {
      const lastSeenAtMs = nowMs;
      let deviceId = knownId;
      if (deviceId === undefined || (yield* on.see.run({ id: deviceId, lastSeenAtMs })) === 0) {
        deviceId = yield* on.add.insert({ hwid, firstSeenAtMs: nowMs, lastSeenAtMs });
        const row = { ...reported, deviceId, providerId, lastSeenAtMs };
        if ((yield* on.addAtProvider.run(row)) > 0) {
          notes.figure(providerId, 'seen', nowMs);
          return { deviceId, hwid, isNewHere: true };
        }
      }
      const before = yield* seeAt(notes, deviceId, providerId, reported, nowMs, mergeUnproven);
      return { deviceId, hwid, isNewHere: before === null };
    },

    /** Saves what a device reports without a provider. */
    *keepOwnFacts(id: number, reported: DeviceFacts): Step<void> {
      const known = yield* on.ownFacts.get({ id });
      if (known !== null) yield* on.setOwnFacts.run({ id, ...mergeFacts(known, reported) });
    },

    /** Records a call of a device, without a link, to a provider that knows it. */
    checkIn: (deviceId: number, providerId: number, nowMs: number): Step<number> =>
      on.checkIn.run({ deviceId, providerId, nowMs }),

    /** Attaches a device to a binding; above the limit, detaches it from the oldest ones. */
    *tie(deviceId: number, providerId: number, domainId: number, nowMs: number): Step<void> {
      if ((yield* on.tie.run({ deviceId, domainId, nowMs })) === 0) return;
      yield* on.dropOldestTies.run({ deviceId, providerId });
    },

    /** Returns true if a device is attached to a binding. */
    *isTied(deviceId: number, domainId: number): Step<boolean> {
      return (yield* on.isTied.get({ deviceId, domainId })) !== null;
    },
  };
});
