/**
 * Admits the devices of many calls by one statement. It admits a device if all conditions of the
 * statement hold: its link is bound and active, has room for it, no bar and no webhook; no slot
 * there is stored under a hash that may be the new device's, or named; the link refuses no new
 * devices; and no other link is its home. The conditions repeat `judge` of core/slot.ts;
 * test/store/admission-rules.test.ts compares both. noun/slot.ts decides about the others, refusals
 * included. By bench/sets.ts one of 32 costs 133 us of processor time with PostgreSQL's; by the
 * noun 3,089 us.
 */

import { FACT_FIELDS } from '../../../core/device-facts.ts';
import type { DeviceFacts } from '../../../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../../../core/port/domain.ts';
import { INSTALL_ACTIVE } from '../../../core/port/link.ts';
import type { AdmittedLink, SlotKey } from '../../../core/port/slot.ts';
import type { Store } from '../../../core/port/store.ts';
import { isFirstOfDay, UNREPORTED } from '../../noun/known-device.ts';
import { columnNames, sql } from '../../statement-text.ts';
import { isBroken } from '../fault.ts';
import { TurnGroup } from '../group.ts';
import { prepare, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';
import { FACT_TYPES, mergedUnproven } from './unproven.ts';

/** A device that asks for a slot. */
interface Entry {
  key: SlotKey;
  facts: DeviceFacts;
  nowMs: number;
}

interface AdmittedRow extends AdmittedLink {
  /** Number of the device in the statement, from 1. */
  n: number;
  /** False: it had the slot before. */
  isNew: boolean;
  /** Time at which the provider last saw the device; null: never. */
  seenBeforeMs: number | null;
}

const WANTED = tableOf('x', {
  code: 'text',
  subscriptionKey: 'text',
  providerCode: 'text',
  domainHash: 'text',
  hwid: 'text',
  ...FACT_TYPES,
  nowMs: 'bigint',
});

/**
 * Locks links by id, then the known devices by HWID: the statement reads those rows as they are
 * now, and all others as they were before it waited. A slot or device that another write adds
 * meanwhile breaks its unique index, which rolls the statement back. Slots deleted meanwhile are
 * not seen, nor are links whose code or key changed. Rows of a link are looked up one by one,
 * because joins would be planned for the table sizes of the last ANALYZE. A new device gets its
 * counts here instead of by triggers, so that its rows are written once.
 */
const ADMIT = prepare<AdmittedRow>(sql`
  WITH wanted AS MATERIALIZED (
    SELECT x.*, i.id AS link_id FROM ${WANTED.from}
    CROSS JOIN LATERAL (
      SELECT c.id FROM install c WHERE c.install_code = x.code
      UNION ALL
      SELECT c.id FROM provider o JOIN install c ON c.provider_id = o.id
      WHERE o.code = x.provider_code
        AND c.subscription_key_hash = decode(x.subscription_key, 'hex')) i
  ), link AS MATERIALIZED (
    SELECT id, provider_id, status, install_code, install_limit, device_count,
      subscription_key_hash, has_hashes, has_bars, awaits_fetch, when_new
    FROM install WHERE id = ANY(ARRAY(SELECT link_id FROM wanted)) ORDER BY id FOR NO KEY UPDATE
  ), met AS MATERIALIZED (
    SELECT w.*, l.provider_id, l.status, l.install_code, l.install_limit, l.device_count,
      l.subscription_key_hash, l.has_hashes, l.has_bars, l.awaits_fetch,
      coalesce(l.when_new, (SELECT o.when_new FROM provider o WHERE o.id = l.provider_id))
        IS NOT DISTINCT FROM 'refuse' AS is_closed,
      (SELECT o.code FROM provider o WHERE o.id = l.provider_id) AS owner_code,
      (SELECT b.status FROM domain b
       WHERE b.provider_id = l.provider_id AND b.domain_hash = w.domain_hash) AS domain_status,
      (SELECT h.id FROM webhook h
       WHERE h.provider_id = l.provider_id AND h.disabled_at_ms IS NULL LIMIT 1) AS webhook_id
    FROM link l JOIN wanted w ON w.link_id = l.id
  ), open AS MATERIALIZED (
    SELECT * FROM met
    WHERE status = ${sql.raw(String(INSTALL_ACTIVE))} AND has_bars = 0 AND awaits_fetch = 0
      AND domain_status = ${sql.raw(String(DOMAIN_ACTIVE))} AND webhook_id IS NULL
      AND (provider_code IS NULL OR provider_code = owner_code)
      AND (code IS NULL OR install_code = code)
      AND (subscription_key IS NULL OR subscription_key_hash = decode(subscription_key, 'hex'))
  ), known AS MATERIALIZED (
    SELECT id, hwid FROM device WHERE hwid = ANY(ARRAY(SELECT hwid FROM open))
    ORDER BY hwid FOR NO KEY UPDATE
  ), here AS MATERIALIZED (
    SELECT o.*, d.id AS device_id, (SELECT s.id FROM install_device s
      WHERE s.install_id = o.link_id AND s.device_id = d.id) AS slot_id
    FROM open o LEFT JOIN known d ON d.hwid = o.hwid
    WHERE NOT EXISTS (SELECT 1 FROM device_provider p WHERE p.device_id = d.id
      AND p.provider_id = o.provider_id AND p.home_install_id IS DISTINCT FROM o.link_id)
  ), seen AS (
    UPDATE install_device s
    SET last_seen_at_ms = (SELECT h.now_ms FROM here h WHERE h.slot_id = s.id)
    WHERE s.id = ANY(ARRAY(SELECT slot_id FROM here WHERE slot_id IS NOT NULL)) RETURNING s.id
  ), admitted AS MATERIALIZED (
    SELECT *, coalesce(device_id, nextval('device_id_seq')) AS visitor_id FROM (
      SELECT *, row_number() OVER (PARTITION BY link_id, slot_id IS NULL ORDER BY n) AS nth
      FROM here) x
    WHERE CASE WHEN slot_id IS NULL THEN has_hashes = 0 AND NOT is_closed
        AND device_count + nth <= install_limit
      ELSE slot_id = ANY(ARRAY(SELECT id FROM seen)) END
  ), newcomer AS (
    INSERT INTO device (id, hwid, ${columnNames(FACT_FIELDS)}, first_seen_at_ms, last_seen_at_ms,
      holder_count)
    SELECT visitor_id, hwid, ${UNREPORTED}, now_ms, now_ms, 1 FROM admitted
    WHERE device_id IS NULL ORDER BY hwid
  ), visited AS (
    UPDATE device d
    SET last_seen_at_ms = (SELECT a.now_ms FROM admitted a WHERE a.device_id = d.id)
    WHERE d.id = ANY(ARRAY(SELECT device_id FROM admitted WHERE device_id IS NOT NULL))
  ), taken AS (
    INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
      last_seen_at_ms, after_recipient_id)
    SELECT link_id, visitor_id, provider_id, now_ms, now_ms,
      (SELECT coalesce(max(id), 0) FROM recipient)
    FROM admitted WHERE slot_id IS NULL ORDER BY n
  ), placed AS (
    INSERT INTO device_provider AS p (device_id, provider_id, ${columnNames(FACT_FIELDS)},
      last_seen_at_ms, slot_count, home_install_id)
    SELECT visitor_id, provider_id, ${columnNames(FACT_FIELDS)}, now_ms,
      CASE WHEN device_id IS NULL THEN 1 ELSE 0 END,
      CASE WHEN device_id IS NULL THEN link_id END
    FROM admitted
    ON CONFLICT (device_id, provider_id) DO UPDATE SET ${mergedUnproven('p', 'excluded')},
      last_seen_at_ms = excluded.last_seen_at_ms
  )
  SELECT n, link_id AS "installId", provider_id AS "providerId", owner_code AS "providerCode",
    status, install_limit AS "installLimit",
    device_count + CASE WHEN slot_id IS NULL THEN nth ELSE 0 END AS "deviceCount",
    slot_id IS NULL AS "isNew",
    (SELECT p.last_seen_at_ms FROM device_provider p
     WHERE p.device_id = a.device_id AND p.provider_id = a.provider_id) AS "seenBeforeMs"
  FROM admitted a`);

type Own = Pick<Store, 'takeSlot'>;

export function admitTogether(context: Context, noun: Own): Own {
  /** HWIDs in the group: a statement with one of them twice, or two such, would break. */
  const underWay = new Set<string>();
  const group = new TurnGroup<Entry, AdmittedLink | null>(context.db, {
    isWrite: true,
    run: (entries) => admitAll(context, entries),
    itemsMax: 64,
  });
  return {
    takeSlot: async (key, facts, nowMs) => {
      // A key without a provider may name links of several.
      const isNamed = 'installCode' in key || key.providerCode !== null;
      // The noun tells phones apart that send one HWID.
      const isPlain = isNamed && key.sight === undefined;
      if (!isPlain || underWay.has(key.hwid)) return noun.takeSlot(key, facts, nowMs);
      underWay.add(key.hwid);
      const admitted = await group
        .ask({ key, facts, nowMs })
        .finally(() => underWay.delete(key.hwid));
      return admitted ?? noun.takeSlot(key, facts, nowMs);
    },
  };
}

/** Admits devices; null for each that is not admitted. */
async function admitAll(
  { db, figures }: Context,
  entries: readonly Entry[],
): Promise<(AdmittedLink | null)[]> {
  const wanted = entries.map(({ key, facts, nowMs }) => {
    const { domainHash, hwid, providerCode = null } = key;
    const code = 'installCode' in key ? key.installCode : null;
    const subscriptionKey = 'installCode' in key ? null : key.subscriptionKeyHash;
    return { code, subscriptionKey, providerCode, domainHash, hwid, ...facts, nowMs };
  });
  const answers = entries.map((): AdmittedLink | null => null);
  try {
    const rows = await ADMIT.all(db.writing, WANTED.of(wanted));
    for (const { n, isNew, seenBeforeMs, ...link } of rows) {
      const nowMs = entries[n - 1]?.nowMs ?? 0;
      answers[n - 1] = link;
      if (isFirstOfDay(seenBeforeMs, nowMs)) figures.note(link.providerId, 'seen', nowMs);
      if (isNew) figures.note(link.providerId, 'admitted', nowMs);
    }
  } catch (fault) {
    // Another node added one of the slots or devices first: the noun admits them one by one.
    if (!isBroken(fault)) throw fault;
  }
  return answers;
}
