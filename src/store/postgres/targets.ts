/** A provider's devices: asked for by HWID, or searched in bounded steps. */

import { sql } from 'drizzle-orm';
import type { Store } from '../../core/port/store.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { ACTIVE_BINDING } from '../status.ts';
import type { Context } from './context.ts';
import { prepare, type Runner, value } from './statement.ts';

type TargetStore = Pick<Store, 'findTargets' | 'scanTargets'>;

/** One step of a search looks at no more devices than this, however few are linked. */
const SCAN_DEVICES = 2_000;
/** Nearly always one of the first devices is linked. */
const FIRST_LOOK_DEVICES = 50;
/** Rows for each of them: a device that is on no link is looked up in each of its bindings. */
const ROWS_EACH = 3;

/**
 * Condition: the device of row `p` of `device_provider` is linked there. Asks 16 ties at most, by
 * their keys: OFFSET keeps the planner from reading all that there are.
 */
export const LINKED = sql`(p.slot_count > 0 OR p.tie_count > 0 AND EXISTS (
  SELECT 1 FROM device_domain b
  WHERE b.device_id = p.device_id AND b.provider_id = p.provider_id AND ${ACTIVE_BINDING} =
    (SELECT m.status FROM domain m WHERE m.id = b.domain_id)
  OFFSET 0))`;

/** Condition: `deviceId` is linked to provider `providerId`, both expressions of SQL. */
export const linked = (deviceId: string, providerId: string) => sql`EXISTS (
  SELECT 1 FROM device_provider p WHERE p.device_id = ${sql.raw(deviceId)}
    AND p.provider_id = ${sql.raw(providerId)} AND ${LINKED} OFFSET 0)`;

/** A run of a provider's devices that have one operating system, in a range of ids. */
export interface TargetRange {
  os: string;
  afterId: number;
  toId: number;
}

/** `FROM` and `WHERE` of the linked devices `p` in a range. */
export const inRange = sql`
  device_provider p
  WHERE p.provider_id = ${value('providerId')} AND p.os = ${value('os')}
    AND p.device_id > ${value('afterId')} AND p.device_id <= ${value('toId')} AND ${LINKED}`;

/** Position of a search through a provider's devices, one operating system after another. */
export interface TargetPosition {
  /** Place of the operating system among those that were asked for. */
  source: number;
  /** The last device that was looked at. */
  id: number;
}

const BEGINNING: TargetPosition = { source: 0, id: 0 };

const on = {
  /** The last device of a range whose rows are no more than are quick to look at. */
  end: prepare<{ toId: number | null }>(sql`
      SELECT max(id) AS "toId" FROM (
        SELECT id, sum(rows) OVER (ORDER BY id) - rows AS before FROM (
          SELECT device_id AS id,
            CASE WHEN slot_count > 0 THEN 1 ELSE 1 + 2 * tie_count END AS rows
          FROM device_provider
          WHERE provider_id = ${value('providerId')} AND os = ${value('os')}
            AND device_id > ${value('afterId')}
          ORDER BY device_id LIMIT ${value('countMax')}) AS step) AS counted
      WHERE before < ${value('rowsMax')}`),
  find: prepare<{ id: number | null; isLinked: boolean }>(sql`
      SELECT d.id AS id, ${linked('d.id', 'o.id')} AS "isLinked"
      FROM unnest(${value('hwids')}::text[]) WITH ORDINALITY AS k (hwid, n)
        CROSS JOIN (SELECT ${value('providerId')}::bigint AS id) o
        LEFT JOIN LATERAL (SELECT id FROM device WHERE hwid = k.hwid LIMIT 1) d ON true
      ORDER BY k.n`),
  any: prepare<{ one: number }>(sql`SELECT 1 AS one FROM ${inRange} LIMIT 1`),
};

/** The range that begins at `from`, and the position after it; null: there is nothing more. */
export async function nextRange(
  runner: Runner,
  providerId: number,
  systems: readonly string[],
  from: TargetPosition,
  countMax = SCAN_DEVICES,
): Promise<{ range: TargetRange; next: TargetPosition } | null> {
  const rowsMax = ROWS_EACH * Math.max(countMax, SCAN_DEVICES);
  for (let { source, id: afterId } = from; ; source += 1, afterId = 0) {
    const os = systems[source];
    if (os === undefined) return null;
    const end = await on.end.get(runner, { providerId, os, afterId, countMax, rowsMax });
    const toId = end?.toId ?? null;
    if (toId !== null) return { range: { os, afterId, toId }, next: { source, id: toId } };
  }
}

export function targetStore({ db }: Context): TargetStore {
  return {
    findTargets: async (providerId, hwids) => {
      const found = await on.find.all(db, { providerId, hwids });
      return found.map(({ id, isLinked }) => (id === null ? null : { id, isLinked }));
    },

    scanTargets: async (providerId, systems, after) => {
      const from = positionOf(after, BEGINNING);
      const countMax = from.id === 0 ? FIRST_LOOK_DEVICES : SCAN_DEVICES;
      const found = await nextRange(db, providerId, systems, from, countMax);
      if (found === null) return { hasMatch: false, next: null };
      const isMatch = (await on.any.get(db, { providerId, ...found.range })) !== null;
      return { hasMatch: isMatch, next: cursorAt(found.next) };
    },
  };
}
