/**
 * Calls of devices that name no link. The looks of a turn are one statement, and so are the calls
 * that are recorded: each sees its device, keeps what it says, and ties it to the binding it named.
 */

import { sql } from 'drizzle-orm';
import type { CheckInKey, DeviceFacts } from '../../core/port/device.ts';
import type { Store } from '../../core/port/store.ts';
import { ACTIVE_BINDING } from '../status.ts';
import type { Context } from './context.ts';
import { TurnGroup } from './group.ts';
import { countSeen, FACT_COLUMNS, keep, mergedUnproven, TIES_MAX } from './known-device.ts';
import { ALL_SEEN, lookups } from './lookups.ts';
import { inRounds } from './rounds.ts';
import { prepare, value } from './statement.ts';
import { LINKED } from './targets.ts';

type CheckInStore = Pick<Store, 'findCheckIn' | 'recordCheckIn'>;

/** Looks of one statement. */
const LOOKS_MAX = 200;
/** Calls of one: each is looked for among the devices of all. */
const CALLS_MAX = 64;

interface Look {
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

interface Recorded {
  n: number;
  providerId: number;
  seenBeforeMs: number | null;
}

const on = {
  look: prepare<Look>(sql`
      SELECT o.id AS "providerId", ${ALL_SEEN} AS "seenAtMs",
        coalesce(${LINKED}, false) AS "isLinked",
        m.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM device_domain b
          WHERE b.device_id = d.id AND b.domain_id = m.id) AS "isNewLink"
      FROM unnest(${value('codes')}::text[], ${value('hashes')}::text[],
          ${value('hwids')}::text[]) WITH ORDINALITY AS k (code, hash, hwid, n)
        LEFT JOIN provider o ON o.code = k.code
        LEFT JOIN domain m ON m.provider_id = o.id AND m.domain_hash = k.hash
          AND m.status = ${ACTIVE_BINDING}
        LEFT JOIN device d ON d.hwid = k.hwid
        LEFT JOIN device_provider p ON p.device_id = d.id AND p.provider_id = o.id
      ORDER BY k.n`),
  /**
   * Of different devices. Nothing comes back for a call of no provider, of a device that became
   * known there meanwhile, and of one that would be tied to more bindings than may be.
   */
  record: prepare<Recorded>(sql`
      WITH said AS (
        SELECT k.*, o.id AS provider_id, m.id AS domain_id
        FROM unnest(${value('codes')}::text[], ${value('hashes')}::text[],
            ${value('hwids')}::text[], ${value('os')}::text[], ${value('osVersions')}::text[],
            ${value('deviceNames')}::text[], ${value('appVersions')}::text[],
            ${value('userAgents')}::text[], ${value('nowMs')}::bigint[]) WITH ORDINALITY
            AS k (code, hash, hwid, os, os_version, device_name, app_version, user_agent,
              now_ms, n)
          JOIN provider o ON o.code = k.code
          LEFT JOIN domain m ON m.provider_id = o.id AND m.domain_hash = k.hash
            AND m.status = ${ACTIVE_BINDING}),
      seen AS (
        INSERT INTO device (hwid, ${FACT_COLUMNS}, first_seen_at_ms, last_seen_at_ms)
        SELECT hwid, '', '', '', '', '', now_ms, now_ms FROM said ORDER BY hwid COLLATE "C"
        ON CONFLICT (hwid) DO UPDATE SET last_seen_at_ms = excluded.last_seen_at_ms
        RETURNING id, hwid),
      placed AS (
        SELECT s.*, d.id AS device_id FROM said s JOIN seen d ON d.hwid = s.hwid),
      held AS (
        SELECT s.*, p.last_seen_at_ms AS before_ms, p.tie_count,
          s.domain_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM device_domain b
            WHERE b.device_id = p.device_id AND b.domain_id = s.domain_id) AS is_new_link
        FROM placed s JOIN device_provider p
          ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        FOR NO KEY UPDATE OF p),
      changed AS (
        UPDATE device_provider p SET ${mergedUnproven('p', 'h')},
          last_seen_at_ms = h.now_ms, checked_in_at_ms = h.now_ms
        FROM held h
        WHERE p.device_id = h.device_id AND p.provider_id = h.provider_id
          AND NOT (h.is_new_link AND h.tie_count >= ${TIES_MAX})
        RETURNING h.n, h.device_id, h.provider_id, h.domain_id, h.now_ms, h.before_ms,
          h.is_new_link),
      added AS (
        INSERT INTO device_provider (device_id, provider_id, ${FACT_COLUMNS}, last_seen_at_ms,
          checked_in_at_ms)
        SELECT s.device_id, s.provider_id, s.os, s.os_version, s.device_name, s.app_version,
          s.user_agent, s.now_ms, s.now_ms
        FROM placed s WHERE NOT EXISTS (SELECT 1 FROM held h WHERE h.device_id = s.device_id)
        ON CONFLICT DO NOTHING
        RETURNING device_id),
      done AS (
        SELECT * FROM changed
        UNION ALL
        SELECT s.n, s.device_id, s.provider_id, s.domain_id, s.now_ms, NULL,
          s.domain_id IS NOT NULL
        FROM added a JOIN placed s ON s.device_id = a.device_id),
      tied AS (
        INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)
        SELECT device_id, domain_id, provider_id, now_ms FROM done WHERE is_new_link
        ON CONFLICT DO NOTHING)
      SELECT n::integer AS n, provider_id AS "providerId", before_ms AS "seenBeforeMs" FROM done`),
};

/** Columns of the keys. */
const keysOf = (keys: readonly CheckInKey[]) => ({
  codes: keys.map(({ providerCode }) => providerCode),
  hashes: keys.map(({ domainHash }) => domainHash),
  hwids: keys.map(({ hwid }) => hwid),
});

export function checkInStore(context: Context): CheckInStore {
  const { db, write } = context;

  const looks = new TurnGroup({
    itemsMax: LOOKS_MAX,
    underWayMax: 2,
    run: (keys: readonly CheckInKey[]) => on.look.all(db, keysOf(keys)),
  });

  /** Records calls of different devices; false for those that are not so simple. */
  async function record(calls: readonly Call[]): Promise<boolean[]> {
    const done = await on.record.all(db.writing, {
      ...keysOf(calls.map(({ key }) => key)),
      os: calls.map(({ facts }) => facts.os),
      osVersions: calls.map(({ facts }) => facts.osVersion),
      deviceNames: calls.map(({ facts }) => facts.deviceName),
      appVersions: calls.map(({ facts }) => facts.appVersion),
      userAgents: calls.map(({ facts }) => facts.userAgent),
      nowMs: calls.map(({ nowMs }) => nowMs),
    });
    const isDone = calls.map(() => false);
    for (const { n, providerId, seenBeforeMs } of done) {
      isDone[n - 1] = true;
      countSeen(context, providerId, seenBeforeMs, calls[n - 1]?.nowMs ?? 0);
    }
    return isDone;
  }

  const calls = new TurnGroup<Call, boolean>({
    itemsMax: CALLS_MAX,
    underWayMax: 2,
    run: (asked) => inRounds(asked, ({ key }) => key.hwid, record),
  });

  /** Records one call, by all the rules. */
  const recordAlone = ({ key, facts, nowMs }: Call) =>
    write(async (w) => {
      const { providerCode, domainHash, hwid } = key;
      const provider = await lookups.provider.get(w, { providerCode });
      if (provider === null) return 'provider_not_found';
      const providerId = provider.id;
      const bound = domainHash && (await lookups.activeDomain.get(w, { providerId, domainHash }));
      const deviceId = await keep.visit(w, hwid, providerId, facts, nowMs);
      await keep.checkIn(w, deviceId, providerId, nowMs);
      if (bound) await keep.tie(w, deviceId, providerId, bound.id, nowMs);
      return 'ok';
    });

  return {
    findCheckIn: async (key) => {
      const { providerId, ...known } = await looks.ask(key);
      return providerId === null ? 'provider_not_found' : known;
    },

    recordCheckIn: async (key, facts, nowMs) => {
      const call = { key, facts, nowMs };
      return (await calls.ask(call)) ? 'ok' : recordAlone(call);
    },
  };
}
