/**
 * Calls of devices that name no link, those of a turn in one statement, or else by the noun. By
 * bench/sets.ts one of 32 costs 32 us of processor time to look up and 91 us to record,
 * PostgreSQL's included; by the noun 519 and 2,064 us.
 */

import { TIES_MAX } from '../../../core/device.ts';
import { FACT_FIELDS } from '../../../core/device-facts.ts';
import type { CheckInKey, DeviceFacts } from '../../../core/port/device.ts';
import type { Store } from '../../../core/port/store.ts';
import { isFirstOfDay, UNREPORTED } from '../../noun/known-device.ts';
import { allSeen } from '../../noun/look-ups.ts';
import { linkedRow } from '../../noun/targets.ts';
import { columnNames, sql } from '../../statement-text.ts';
import { ACTIVE_BINDING } from '../../status.ts';
import { DIALECT, runInRounds } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, type Runner, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';
import { FACT_TYPES, mergedUnproven } from './unproven.ts';

type CheckInStore = Pick<Store, 'findCheckIn' | 'recordCheckIn'>;

/** Most calls whose facts one statement reads. */
const FOUND_MAX = 200;
/** Most calls that one statement records: it compares each with all others. */
const CALLS_MAX = 64;

interface Found {
  providerId: number | null;
  seenAtMs: number | null;
  isLinked: boolean;
  isNewLink: boolean;
}

interface Call {
  key: CheckInKey;
  facts: DeviceFacts;
  nowMs: number;
}

const KEY = { providerCode: 'text', domainHash: 'text', hwid: 'text' } as const;
const KEYS = tableOf('k', KEY);
const CALLS = tableOf('k', { ...KEY, ...FACT_TYPES, nowMs: 'bigint' });

/** Looks up the rows of call `k` one by one, whatever the planner estimates. */
const PROVIDER_OF_CALL = sql`
  LEFT JOIN LATERAL (SELECT id FROM provider WHERE code = k.provider_code LIMIT 1) o ON true`;
const BINDING_OF_CALL = sql`
  LEFT JOIN LATERAL (SELECT id FROM domain WHERE provider_id = o.id AND domain_hash = k.domain_hash
    AND status = ${ACTIVE_BINDING} LIMIT 1) m ON true`;

const on = {
  find: prepare<Found>(sql`
      SELECT o.id AS "providerId", ${allSeen(DIALECT)} AS "seenAtMs",
        coalesce(${linkedRow(DIALECT)}, false) AS "isLinked",
        m.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM device_domain b
          WHERE b.device_id = d.id AND b.domain_id = m.id OFFSET 0) AS "isNewLink"
      FROM ${KEYS.from}
        ${PROVIDER_OF_CALL} ${BINDING_OF_CALL}
        LEFT JOIN LATERAL (SELECT id FROM device WHERE hwid = k.hwid LIMIT 1) d ON true
        LEFT JOIN LATERAL (SELECT * FROM device_provider
          WHERE device_id = d.id AND provider_id = o.id LIMIT 1) p ON true
      ORDER BY k.n`),
  /**
   * Records calls of different devices, unless a device was added meanwhile or its bindings are
   * full.
   */
  record: prepare<{ n: number; providerId: number; seenBeforeMs: number | null }>(sql`
      WITH call AS MATERIALIZED (
        SELECT k.*, o.id AS provider_id, m.id AS domain_id
        FROM ${CALLS.from}
          ${PROVIDER_OF_CALL} ${BINDING_OF_CALL}
        WHERE o.id IS NOT NULL),
      seen AS (
        INSERT INTO device (hwid, ${columnNames(FACT_FIELDS)}, first_seen_at_ms, last_seen_at_ms)
        SELECT hwid, ${UNREPORTED}, now_ms, now_ms FROM call ORDER BY hwid COLLATE "C"
        ON CONFLICT (hwid) DO UPDATE SET last_seen_at_ms = excluded.last_seen_at_ms
        RETURNING id, hwid),
      placed AS MATERIALIZED (
        SELECT s.*, d.id AS device_id, p.last_seen_at_ms AS before_ms, p.tie_count,
          s.domain_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM device_domain b
            WHERE b.device_id = d.id AND b.domain_id = s.domain_id OFFSET 0) AS is_new_link
        FROM call s JOIN seen d ON d.hwid = s.hwid
          LEFT JOIN LATERAL (SELECT * FROM device_provider
            WHERE device_id = d.id AND provider_id = s.provider_id
            LIMIT 1 FOR NO KEY UPDATE) p ON true),
      plain AS MATERIALIZED (
        SELECT * FROM placed WHERE NOT (is_new_link AND coalesce(tie_count, 0) >= ${TIES_MAX})),
      reported AS (
        INSERT INTO device_provider AS p (device_id, provider_id, ${columnNames(FACT_FIELDS)},
          last_seen_at_ms, checked_in_at_ms)
        SELECT device_id, provider_id, ${columnNames(FACT_FIELDS)}, now_ms, now_ms FROM plain
        ON CONFLICT (device_id, provider_id) DO UPDATE SET ${mergedUnproven('p', 'excluded')},
          last_seen_at_ms = excluded.last_seen_at_ms, checked_in_at_ms = excluded.checked_in_at_ms
        WHERE p.device_id = ANY(ARRAY(SELECT device_id FROM plain WHERE before_ms IS NOT NULL))
        RETURNING device_id),
      done AS MATERIALIZED (
        SELECT * FROM plain WHERE device_id = ANY(ARRAY(SELECT device_id FROM reported))),
      tied AS (
        INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)
        SELECT device_id, domain_id, provider_id, now_ms FROM done WHERE is_new_link
        ON CONFLICT DO NOTHING)
      SELECT n::integer AS n, provider_id AS "providerId", before_ms AS "seenBeforeMs" FROM done`),
};

export function checkInsInGroups(
  { db, figures }: Context,
  { recordCheckIn }: Pick<Store, 'recordCheckIn'>,
): CheckInStore {
  const standings = new TurnGroup(db, {
    itemsMax: FOUND_MAX,
    run: (keys: readonly CheckInKey[]) => on.find.all(db, KEYS.of(keys)),
  });

  /** Records calls of different devices; false: the noun records the call. */
  async function record(writer: Runner, calls: readonly Call[]): Promise<boolean[]> {
    const rows = calls.map(({ key, facts, nowMs }) => ({ ...key, ...facts, nowMs }));
    const done = await on.record.all(writer, CALLS.of(rows));
    const isDone = calls.map(() => false);
    for (const { n, providerId, seenBeforeMs } of done) {
      isDone[n - 1] = true;
      const nowMs = calls[n - 1]?.nowMs ?? 0;
      if (isFirstOfDay(seenBeforeMs, nowMs)) figures.note(providerId, 'seen', nowMs);
    }
    return isDone;
  }

  const calls = new TurnGroup<Call, boolean>(db, {
    isWrite: true,
    itemsMax: CALLS_MAX,
    run: (asked) => runInRounds(db.writing, asked, ({ key }) => key.hwid, record),
  });

  return {
    findCheckIn: async (key) => {
      const { providerId, ...known } = await standings.ask(key);
      return providerId === null ? 'provider_not_found' : known;
    },

    recordCheckIn: async (key, facts, nowMs) => {
      const isDone = await calls.ask({ key, facts, nowMs });
      return isDone ? 'ok' : recordCheckIn(key, facts, nowMs);
    },
  };
}
