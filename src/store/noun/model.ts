/** Empties the models of devices that are stored: see `withoutModel` of core/privacy.ts. */

import type { SQL } from 'drizzle-orm';
import { FACT_FIELDS } from '../../core/device-facts.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { KeepingStore, ModelCursor } from '../../core/port/keeping.ts';
import { withoutModel } from '../../core/privacy.ts';
import type { Backend, Prepared, Values } from '../backend.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { columns, ONE, sql, values } from '../statement-text.ts';

/** Rows that a step looks through. */
const ROW_COUNT = 250;

/** The tables with models in the order of their steps, each with the column that orders it. */
const TABLES = [
  ['device', 'id'],
  ['device_provider', 'device_id'],
  ['refused_device', 'install_id'],
  ['named_hwid', 'id'],
] as const;

interface ModelPosition {
  /** The index of the table. */
  table: number;
  /** The last key that was read. */
  key: number;
}

interface Facts extends DeviceFacts {
  /** Of a named HWID its own id. */
  deviceId: number;
  /** 0: of calls that name no provider. */
  providerId: number;
}

/** Condition for rows between two keys that may have a model. */
const mayHaveModel = (key: SQL) => sql`${key} > :key AND ${key} <= :toKey
  AND (device_name <> '' OR user_agent LIKE '% %' OR user_agent LIKE '%(%' OR user_agent LIKE '%,%'
    OR user_agent LIKE '%;%' OR user_agent LIKE '%/%/%')`;

function statements({ prepare, lockedUnlessBusy }: Backend) {
  const ofRefused = sql.raw("install_id > :key AND install_id <= :toKey AND device_name <> ''");
  const set = sql.raw('device_name = :deviceName, user_agent = :userAgent');
  return {
    toKey: TABLES.map(([table, column]) => {
      const key = sql.raw(column);
      return prepare(sql`
          SELECT ${values<{ key: number | null }>({ key: sql`max(k)` })} FROM (
            SELECT ${key} AS k FROM ${sql.raw(table)} WHERE ${key} > :key
            ORDER BY ${key} LIMIT ${ROW_COUNT}) s`);
    }),
    devices: prepare(sql`
        SELECT ${columns('device', 'id AS deviceId')}, ${columns('device', FACT_FIELDS)},
          ${values<{ providerId: number }>({ providerId: sql`0` })}
        FROM device WHERE ${mayHaveModel(sql.raw('id'))}`),
    setDevice: prepare(sql`UPDATE device SET ${set} WHERE id = :deviceId`),
    visits: prepare(sql`
        SELECT ${columns('device_provider', 'deviceId, providerId')},
          ${columns('device_provider', FACT_FIELDS)}
        FROM device_provider WHERE ${mayHaveModel(sql.raw('device_id'))}`),
    setVisit: prepare(sql`
        UPDATE device_provider SET ${set}
        WHERE device_id = :deviceId AND provider_id = :providerId`),
    names: prepare(sql`
        SELECT ${columns('named_hwid', 'id AS deviceId')}, ${columns('named_hwid', FACT_FIELDS)},
          ${values<{ providerId: number }>({ providerId: sql`0` })}
        FROM named_hwid WHERE ${mayHaveModel(sql.raw('id'))}`),
    setName: prepare(sql`UPDATE named_hwid SET ${set} WHERE id = :deviceId`),
    hasRefused: prepare(sql`
        SELECT ${ONE} FROM refused_device WHERE ${ofRefused} LIMIT 1`),
    /** A row that a refusal holds was written just now, without a model. */
    refused: prepare(sql`
        UPDATE refused_device SET device_name = '' WHERE (install_id, hwid) IN (
          SELECT install_id, hwid FROM refused_device WHERE ${ofRefused} ${lockedUnlessBusy})`),
  };
}

/** Returns the rows that have a model. */
const withModel = <Row extends Facts>(rows: readonly Row[]): Row[] =>
  rows.filter((row) => {
    const { deviceName, userAgent } = withoutModel(row);
    return deviceName !== row.deviceName || userAgent !== row.userAgent;
  });

export function modelNoun(backend: Backend): Pick<KeepingStore, 'forgetModels'> {
  const on = statements(backend);

  async function empty(
    find: Prepared<Facts>,
    set: Prepared<unknown>,
    range: Values,
    ofDevices = true,
  ) {
    const ids = withModel(await backend.read(() => find.all(range))).map((row) => row.deviceId);
    if (ids.length === 0) return;
    await backend.write(function* () {
      if (ofDevices) yield* backend.lockRows({ device: [...new Set(ids)] });
      for (const { deviceId, providerId, ...facts } of withModel(yield* find.all(range))) {
        const { deviceName, userAgent } = withoutModel(facts);
        yield* set.run({ deviceId, providerId, deviceName, userAgent });
      }
    });
  }

  async function emptyRefused(range: Values): Promise<void> {
    if ((await backend.read(() => on.hasRefused.get(range))) === null) return;
    await backend.change(() => on.refused.run(range));
  }

  return {
    forgetModels: async (cursor) => {
      const { key, table } = positionOf<ModelPosition>(cursor, { table: 0, key: 0 });
      const toKey = (await backend.read(() => on.toKey[table]?.get({ key }) ?? []))?.key ?? null;
      if (toKey === null) {
        const next = table + 1;
        return next < TABLES.length ? cursorAt<ModelCursor>({ table: next, key: 0 }) : null;
      }
      const range = { key, toKey };
      if (table === 0) await empty(on.devices, on.setDevice, range);
      else if (table === 1) await empty(on.visits, on.setVisit, range);
      else if (table === 2) await emptyRefused(range);
      else await empty(on.names, on.setName, range, false);
      return cursorAt<ModelCursor>({ table, key: toKey });
    },
  };
}
