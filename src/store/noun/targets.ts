/** The devices of a provider: found by HWID, or searched in bounded steps. */

import type { SQL } from 'drizzle-orm';
import type { TargetCursor, TargetStep } from '../../core/port/distribution.ts';
import type { ReachFacts } from '../../core/port/message-reach.ts';
import { PUSH_GATEWAYS, type PushGateway } from '../../core/port/registration.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Dialect, Statements, Step } from '../backend.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { columns, sql, values } from '../statement-text.ts';
import { ACTIVE_BINDING } from '../status.ts';
import { deviceMatches, searchValues } from './device-match.ts';
import { shared } from './shared.ts';

type TargetNoun = Pick<Store, 'findTargets' | 'scanTargets' | 'scanSegment'>;

/** Devices of one step of a search, even if few are linked: some 5 ms on SQLite. */
const SCAN_DEVICES = 2_000;
/** Nearly always one of the first devices is linked. */
const FIRST_SCAN_DEVICES = 50;
/** Rows for each of them: a device on no link is looked up in each of its bindings. */
const ROWS_EACH = 3;
/** Devices of one step of a segment: each has bindings, links and figures to read. */
const SEGMENT_DEVICES = 1_000;

/** Condition: the device of `p` is linked there; reads at most 16 bindings by their keys. */
export const linkedRow = ({ fence }: Dialect) => sql`(p.slot_count > 0
  OR p.browser_install_id IS NOT NULL OR p.tie_count > 0 AND EXISTS (
    SELECT 1 FROM device_domain b
    WHERE b.device_id = p.device_id AND b.provider_id = p.provider_id AND ${ACTIVE_BINDING} =
      (SELECT m.status FROM domain m WHERE m.id = b.domain_id) ${fence}))`;

/** Condition: `deviceId` is linked to provider `providerId`, both expressions of SQL. */
export const linked = (dialect: Dialect, deviceId: string, providerId: string) => sql`EXISTS (
  SELECT 1 FROM device_provider p WHERE p.device_id = ${sql.raw(deviceId)}
    AND p.provider_id = ${sql.raw(providerId)} AND ${linkedRow(dialect)} ${dialect.fence})`;

/** Columns of a row `p` that decide how a message reaches its device: see `ReachFacts`. */
export const FETCH_COLUMNS = sql`${columns({ p: 'device_provider?' }, 'p.userAgent')}, ${values<
  Pick<GroupRow, 'hasSlot' | 'isAtHome'>
>({
  hasSlot: sql`CAST(p.slot_count > 0 AS integer)`,
  isAtHome: sql`CAST(p.slot_count > 0 AND p.home_install_id IS NOT NULL
    AND p.home_left_at_ms IS NULL AS integer)`,
})}`;

/** The gateway of the app that registered the device of `p`; the JSON is the store's own. */
const GATEWAY = sql`(SELECT CASE ${sql.join(
  PUSH_GATEWAYS.map((name) => sql.raw(`WHEN t.push LIKE '%"gateway":"${name}"%' THEN '${name}'`)),
  sql.raw(' '),
)} END FROM device_token t WHERE t.id = p.token_id)`;

/** Whether an app of a token opened a stream, for tokens that match a condition. */
export const streamOf = (condition: SQL) =>
  sql`coalesce((SELECT max(t.has_stream) FROM device_token t WHERE ${condition}), 0)`;
export const OWN_TOKEN = sql`t.id = p.token_id`;

interface GroupRow {
  userAgent: string | null;
  isReachable: number;
  hasStream: number;
  gateway: PushGateway | null;
  hasSlot: number | null;
  isAtHome: number | null;
}

/** Returns the facts of a row for the port; without a row at the provider they are empty. */
export const reachFacts = (row: GroupRow): ReachFacts => ({
  isReachable: row.isReachable === 1,
  hasStream: row.hasStream === 1,
  gateway: row.gateway,
  userAgent: row.userAgent ?? '',
  hasSlot: row.hasSlot === 1,
  isAtHome: row.isAtHome === 1,
});

/** Devices of a provider with one operating system, in a range of ids. */
interface TargetRange {
  os: string;
  afterId: number;
  toId: number;
}

/** Condition: the device of `p` may get a message; browsers get no commands. */
const TAKES = sql`(p.browser_install_id IS NULL OR :isCommand = 0)`;

/** `FROM` and `WHERE` of the linked devices `p` in a range. */
export const inRange = (dialect: Dialect) => sql`
  device_provider p
  WHERE p.provider_id = ${dialect.once('providerId')} AND p.os = ${dialect.once('os')}
    AND p.device_id > ${dialect.once('afterId')} AND p.device_id <= ${dialect.once('toId')}
    AND ${TAKES} AND ${linkedRow(dialect)}`;

/** The linked devices `p` in a range that match a search: see `searchValues`. */
export const inSegment = (dialect: Dialect) => sql`
  ${inRange(dialect)} AND ${deviceMatches(dialect)}`;

/** Position of a search through a provider's devices, one operating system after another. */
interface TargetPosition {
  /** Index of the operating system among the requested ones. */
  source: number;
  /** The last device that was read. */
  id: number;
}

const BEGINNING: TargetPosition = { source: 0, id: 0 };

/** Position of a search through all devices of a provider. */
interface SegmentPosition {
  os: string;
  id: number;
}

const SEGMENT_BEGINNING: SegmentPosition = { os: '', id: 0 };

/** Cuts a provider's devices into ranges that are quick to read. */
export const targetRanges = shared(({ prepare, once }: Statements) => {
  const end = prepare(sql`
      SELECT ${values<{ toId: number | null; rows: number }>({
        toId: sql`max(id)`,
        rows: sql`CAST(coalesce(sum(rows), 0) AS bigint)`,
      })} FROM (
        SELECT device_id AS id, CASE WHEN slot_count > 0 THEN 1 ELSE 1 + 2 * tie_count END AS rows
        FROM device_provider WHERE provider_id = :providerId AND os = :os AND device_id > :afterId
        ORDER BY device_id LIMIT ${once('countMax')}) AS step`);

  /** Finds the last device of a range that is still quick to read. */
  function* endOf(key: { providerId: number; os: string; afterId: number }, countMax: number) {
    const rowsMax = ROWS_EACH * Math.max(countMax, SCAN_DEVICES);
    for (let count = countMax; ; count = Math.ceil(count / 2)) {
      const found = yield* end.get({ ...key, countMax: count });
      if (found === null || found.rows <= rowsMax || count === 1) return found?.toId ?? null;
    }
  }

  const systemAfter = prepare(sql`
      SELECT ${values<{ os: string | null }>({ os: sql`min(os)` })}
      FROM device_provider WHERE provider_id = :providerId AND os > :os`);

  return {
    /** Returns the range that begins at `from`, and the position after it; null: the end. */
    *next(
      providerId: number,
      systems: readonly string[],
      from: TargetPosition,
      countMax = SCAN_DEVICES,
    ): Step<{ range: TargetRange; next: TargetPosition } | null> {
      for (let { source, id: afterId } = from; ; source += 1, afterId = 0) {
        const os = systems[source];
        if (os === undefined) return null;
        const toId = yield* endOf({ providerId, os, afterId }, countMax);
        if (toId !== null) return { range: { os, afterId, toId }, next: { source, id: toId } };
      }
    },

    /** Returns the range of any system, as {@link next}. */
    *nextOfAny(
      providerId: number,
      from: SegmentPosition,
    ): Step<{ range: TargetRange; next: SegmentPosition } | null> {
      for (let { os, id: afterId } = from; ; afterId = 0) {
        const toId = yield* endOf({ providerId, os, afterId }, SEGMENT_DEVICES);
        if (toId !== null) return { range: { os, afterId, toId }, next: { os, id: toId } };
        const after = yield* systemAfter.get({ providerId, os });
        if (after === null || after.os === null) return null;
        os = after.os;
      }
    },
  };
});

const NOTHING: TargetStep = { count: 0, reachableCount: 0, groups: [], next: null };

export function targetNoun(backend: Backend): TargetNoun {
  const ranges = targetRanges(backend);
  const find = backend.prepare(
    sql`
      SELECT ${values<
        Record<'id' | 'isLinked' | 'isBrowser', number> & { hwid: string } & GroupRow
      >({
        id: sql`id`,
        hwid: sql`hwid`,
        userAgent: sql`"userAgent"`,
        gateway: sql`gateway`,
        hasSlot: sql`"hasSlot"`,
        isAtHome: sql`"isAtHome"`,
        isLinked: sql`CAST(linked AS integer)`,
        isBrowser: sql`"isBrowser"`,
        isReachable: sql`CAST(CASE WHEN linked THEN token_id IS NOT NULL ELSE EXISTS (
          SELECT 1 FROM device_token t
          WHERE t.device_id = e.id AND t.nobody_after_distribution_id IS NOT NULL) END AS integer)`,
        hasStream: sql`CASE WHEN linked THEN "hasStream" ELSE ${streamOf(
          sql`t.device_id = e.id AND t.nobody_after_distribution_id IS NOT NULL`,
        )} END`,
      })}
      FROM (SELECT d.id AS id, d.hwid AS hwid, p.token_id AS token_id, ${FETCH_COLUMNS},
              ${GATEWAY} AS gateway, ${streamOf(OWN_TOKEN)} AS "hasStream",
              coalesce(${linkedRow(backend)}, FALSE) AS linked,
              CAST(p.browser_install_id IS NOT NULL AS integer) AS "isBrowser"
            FROM device d LEFT JOIN device_provider p
              ON p.device_id = d.id AND p.provider_id = ${backend.once('providerId')}
            WHERE d.hwid ${backend.among('hwids', 'text')}) e`,
  );
  const groupsOf = (from: SQL) =>
    backend.prepare(sql`
      SELECT ${FETCH_COLUMNS}, ${values<
        Pick<GroupRow, 'gateway' | 'isReachable' | 'hasStream'> & { count: number }
      >({
        gateway: GATEWAY,
        isReachable: sql`CAST(p.token_id IS NOT NULL AS integer)`,
        hasStream: streamOf(OWN_TOKEN),
        count: sql`count(*)`,
      })}
      FROM ${from} GROUP BY 1, 2, 3, 4, 5, 6`);
  const groups = groupsOf(inRange(backend));
  const segmentGroups = groupsOf(inSegment(backend));

  const stepOf = (rows: readonly (GroupRow & { count: number })[], next: object) => {
    const sum = (some: typeof rows) => some.reduce((all, { count }) => all + count, 0);
    return {
      count: sum(rows),
      reachableCount: sum(rows.filter(({ isReachable }) => isReachable === 1)),
      groups: rows.map((row) => ({ ...reachFacts(row), count: row.count })),
      next: cursorAt<TargetCursor>(next),
    };
  };

  return {
    findTargets: async (providerId, hwids) => {
      const rows = await backend.read(() => find.all({ providerId, hwids }));
      const found = new Map(
        rows.map(({ hwid, id, isLinked, isBrowser, ...row }) => {
          const is = { isLinked: isLinked === 1, ...(isBrowser === 1 && { isBrowser: true }) };
          return [hwid, { id, ...is, ...reachFacts(row) }];
        }),
      );
      return hwids.map((hwid) => found.get(hwid) ?? null);
    },

    scanTargets: async (providerId, systems, after, isCommand = false) =>
      backend.read(function* () {
        const from = positionOf(after, BEGINNING);
        const countMax = from.id === 0 ? FIRST_SCAN_DEVICES : SCAN_DEVICES;
        const found = yield* ranges.next(providerId, systems, from, countMax);
        if (found === null) return NOTHING;
        const kind = { isCommand: isCommand ? 1 : 0 };
        return stepOf(yield* groups.all({ providerId, ...found.range, ...kind }), found.next);
      }),

    scanSegment: async (providerId, search, after, isCommand = false) =>
      backend.read(function* () {
        const found = yield* ranges.nextOfAny(providerId, positionOf(after, SEGMENT_BEGINNING));
        if (found === null) return NOTHING;
        const of = { ...searchValues(backend, search), isCommand: isCommand ? 1 : 0 };
        const rows = yield* segmentGroups.all({ providerId, ...of, ...found.range });
        return stepOf(rows, found.next);
      }),
  };
}
