/** A provider's devices: asked for by HWID, or searched in bounded steps. */

import { sql } from 'drizzle-orm';
import type { Store } from '../../core/port/store.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { ACTIVE_BINDING } from '../status.ts';
import type { Context } from './context.ts';
import { once, value } from './statement.ts';

type TargetStore = Pick<Store, 'findTargets' | 'scanTargets'>;

/** One step of a search looks at no more devices than this, however few are linked: some 5 ms. */
const SCAN_DEVICES = 2_000;
/** Nearly always one of the first devices is linked. */
const FIRST_LOOK_DEVICES = 50;
/** Rows that it looks at: a device that is on no link is looked up in each of its bindings. */
const SCAN_ROWS = 6_000;

/** Condition: the device of row `p` of `device_provider` is linked there. Asks 16 ties at most. */
export const LINKED = sql`(p.slot_count > 0 OR p.tie_count > 0 AND EXISTS (
  SELECT 1 FROM device_domain b CROSS JOIN domain m ON m.id = b.domain_id
  WHERE b.device_id = p.device_id AND b.provider_id = p.provider_id
    AND m.status = ${ACTIVE_BINDING}))`;

/** Condition: `deviceId` is linked to provider `providerId`, both expressions of SQL. */
export const linked = (deviceId: string, providerId: string) => sql`EXISTS (
  SELECT 1 FROM device_provider p WHERE p.device_id = ${sql.raw(deviceId)}
    AND p.provider_id = ${sql.raw(providerId)} AND ${LINKED})`;

/** A run of a provider's devices that have one operating system, in a range of ids. */
interface TargetRange {
  os: string;
  afterId: number;
  toId: number;
}

/** `FROM` and `WHERE` of the linked devices `p` in a range. */
export const inRange = sql`
  device_provider p
  WHERE p.provider_id = ${once('providerId')} AND p.os = ${once('os')}
    AND p.device_id > ${once('afterId')} AND p.device_id <= ${once('toId')} AND ${LINKED}`;

/** Position of a search through a provider's devices, one operating system after another. */
interface TargetPosition {
  /** Place of the operating system among those that were asked for. */
  source: number;
  /** The last device that was looked at. */
  id: number;
}

const BEGINNING: TargetPosition = { source: 0, id: 0 };

/** Cuts a provider's devices into ranges that are quick to look at. */
export function targetRanges({ db }: Context) {
  const following = db.prepare<{ id: number; rows: number }>(sql`
      SELECT device_id AS id, iif(slot_count > 0, 1, 1 + 2 * tie_count) AS rows
      FROM device_provider
      WHERE provider_id = ${value('providerId')} AND os = ${value('os')}
        AND device_id > ${value('afterId')}
      ORDER BY device_id LIMIT ${once('countMax')}`);

  function endOf(key: { providerId: number; os: string; afterId: number; countMax: number }) {
    let rows = 0;
    let toId: number | null = null;
    for (const device of following.all(key)) {
      toId = device.id;
      rows += device.rows;
      if (rows >= SCAN_ROWS) break;
    }
    return toId;
  }

  /** The range that begins at `from`, and the position after it; null: there is nothing more. */
  return function next(
    providerId: number,
    systems: readonly string[],
    from: TargetPosition,
    countMax = SCAN_DEVICES,
  ): { range: TargetRange; next: TargetPosition } | null {
    for (let { source, id: afterId } = from; ; source += 1, afterId = 0) {
      const os = systems[source];
      if (os === undefined) return null;
      const toId = endOf({ providerId, os, afterId, countMax });
      if (toId !== null) return { range: { os, afterId, toId }, next: { source, id: toId } };
    }
  };
}

export function targetStore(context: Context): TargetStore {
  const { db } = context;
  const nextRange = targetRanges(context);
  const find = db.prepare<{ id: number; isLinked: number }>(sql`
      SELECT d.id AS id, ${linked('d.id', 'o.id')} AS "isLinked"
      FROM device d CROSS JOIN provider o ON o.id = ${once('providerId')}
      WHERE d.hwid = ${once('hwid')}`);
  const any = db.prepare<{ one: number }>(sql`SELECT 1 AS one FROM ${inRange} LIMIT 1`);

  return {
    findTargets: async (providerId, hwids) =>
      hwids.map((hwid) => {
        const found = find.get({ providerId, hwid });
        return found && { id: found.id, isLinked: found.isLinked === 1 };
      }),

    scanTargets: async (providerId, systems, after) => {
      const from = positionOf(after, BEGINNING);
      const countMax = from.id === 0 ? FIRST_LOOK_DEVICES : SCAN_DEVICES;
      const found = nextRange(providerId, systems, from, countMax);
      if (found === null) return { hasMatch: false, next: null };
      const isMatch = any.get({ providerId, ...found.range }) !== null;
      return { hasMatch: isMatch, next: cursorAt(found.next) };
    },
  };
}
