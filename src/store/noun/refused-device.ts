/** The latest devices that links refused. */

import type { RefusedStore } from '../../core/port/figure.ts';
import { type GatheredDevice, REFUSED_PER_LINK } from '../../core/refused-devices.ts';
import type { Backend, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';

/** Rows that a step deletes. */
const FORGET_COUNT = 1_000;

interface Saved {
  installId: number;
  hwid: string;
  refusedCount: number;
}

/** Returns the step of a write that adds refusals to the stored ones. */
export function refusedDeviceSteps(backend: Backend) {
  const { prepare, greatest, least } = backend;
  const devices = backend.rows('devices', {
    installId: 'bigint',
    hwid: 'text',
    deviceName: 'text',
    os: 'text',
    reason: 'text',
    count: 'bigint',
    firstAtMs: 'bigint',
    lastAtMs: 'bigint',
  });
  const isLater = sql`excluded.last_refused_at_ms >= r.last_refused_at_ms`;
  /** Takes the value of the later refusal, unless it is empty. */
  const later = (column: string) => sql`
    CASE WHEN (${isLater} OR r.${sql.raw(column)} = '') AND excluded.${sql.raw(column)} <> ''
      THEN excluded.${sql.raw(column)} ELSE r.${sql.raw(column)} END`;
  /** Only if the link still exists. */
  const add = prepare(sql`
      INSERT INTO refused_device AS r (install_id, hwid, device_name, os, reason, refused_count,
        first_refused_at_ms, last_refused_at_ms)
      SELECT i.id, x.hwid, x."deviceName", x.os, x.reason, x.count, x."firstAtMs", x."lastAtMs"
      FROM ${devices} x ${backend.join} install i ON i.id = x."installId"
      WHERE true ORDER BY i.id, x.hwid ${backend.keyLocked('i')}
      ON CONFLICT (install_id, hwid) DO UPDATE SET
        device_name = ${later('device_name')}, os = ${later('os')},
        reason = CASE WHEN ${isLater} THEN excluded.reason ELSE r.reason END,
        refused_count = r.refused_count + excluded.refused_count, first_refused_at_ms =
          ${least(sql`r.first_refused_at_ms`, sql`excluded.first_refused_at_ms`)},
        last_refused_at_ms =
          ${greatest(sql`r.last_refused_at_ms`, sql`excluded.last_refused_at_ms`)}
      RETURNING ${columns('refused_device', 'installId, hwid, refusedCount')}`);
  const trim = prepare(sql`
      DELETE FROM refused_device WHERE (install_id, hwid) IN (
        SELECT x.install_id, x.hwid FROM (
          SELECT install_id, hwid, row_number() OVER (
            PARTITION BY install_id ORDER BY last_refused_at_ms DESC, hwid) AS n
          FROM refused_device WHERE install_id ${backend.among('installIds')}) x
        WHERE x.n > ${REFUSED_PER_LINK})`);
  return {
    /** Returns the devices whose links still exist, with all their refusals so far. */
    *add(gathered: readonly GatheredDevice[]): Step<(GatheredDevice & { refusedCount: number })[]> {
      if (gathered.length === 0) return [];
      const saved = yield* add.all({ devices: JSON.stringify(gathered) });
      yield* trim.run({ installIds: [...new Set(gathered.map(({ installId }) => installId))] });
      const keyOf = ({ installId, hwid }: Omit<Saved, 'refusedCount'>) => `${installId} ${hwid}`;
      const counts = new Map(saved.map((row) => [keyOf(row), row.refusedCount]));
      return gathered.flatMap((device) => {
        const refusedCount = counts.get(keyOf(device));
        return refusedCount === undefined ? [] : [{ ...device, refusedCount }];
      });
    },
  };
}

export function refusedDeviceNoun(backend: Backend): RefusedStore {
  const isOver = sql`last_refused_at_ms < :beforeMs`;
  const on = {
    list: backend.prepare(sql`
        SELECT ${columns(
          'refused_device',
          `hwid, deviceName, os, reason, refusedCount AS count,
          firstRefusedAtMs AS firstAtMs, lastRefusedAtMs AS lastAtMs`,
        )}
        FROM refused_device WHERE install_id = :installId
        ORDER BY last_refused_at_ms DESC, hwid LIMIT ${REFUSED_PER_LINK}`),
    oldest: backend.prepare(sql`
        SELECT ${columns('refused_device', 'hwid')} FROM refused_device WHERE ${isOver} LIMIT 1`),
    /** Leaves rows to another node that is deleting them. */
    forget: backend.prepare(sql`
        WITH gone AS (
          SELECT install_id, hwid FROM refused_device WHERE ${isOver}
          ORDER BY last_refused_at_ms, install_id, hwid
          LIMIT ${FORGET_COUNT} ${backend.deletableUnlessBusy})
        DELETE FROM refused_device
        WHERE (install_id, hwid) IN (SELECT install_id, hwid FROM gone)`),
  };
  return {
    listRefused: async (installId) => backend.read(() => on.list.all({ installId })),
    forgetRefused: async (beforeMs) => {
      if ((await backend.read(() => on.oldest.get({ beforeMs }))) === null) return false;
      return (await backend.change(() => on.forget.run({ beforeMs }))) > 0;
    },
  };
}
