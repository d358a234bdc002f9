/**
 * Devices of a turn that take slots, let in together by one statement: the plain ones, of which the
 * guards in the statement say that nothing is in the way. Of all others, refusals too, the
 * transaction of slot.ts decides.
 */

import { sql } from 'drizzle-orm';
import type { DeviceFacts } from '../../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import { INSTALL_ACTIVE } from '../../core/port/install.ts';
import type { AdmittedLink, SlotKey } from '../../core/port/slot.ts';
import type { Context } from './context.ts';
import { TurnGroup } from './group.ts';
import { countSeen, FACT_COLUMNS, mergedUnproven } from './known-device.ts';
import { prepare, value } from './statement.ts';

interface Knock {
  key: SlotKey;
  facts: DeviceFacts;
  nowMs: number;
}

interface AdmittedRow extends AdmittedLink {
  /** Which of those who knocked, from 1. */
  n: number;
  /** False: it had its slot already. */
  isNew: boolean;
  /** When the device was seen at the provider before; null: never. */
  seenBeforeMs: number | null;
}

/**
 * Links are locked, by id, then the devices that are known, by HWID: those rows are as they are,
 * all others as they were before the statement waited. So whatever another write may have put there
 * meanwhile is left out by its index, and what it took away is not found any more.
 */
const ADMIT = prepare<AdmittedRow>(sql`
  WITH wanted AS MATERIALIZED (
    SELECT x.*, i.id AS link_id FROM unnest(${value('codes')}::text[], ${value('keys')}::text[],
      ${value('providerCodes')}::text[], ${value('domainHashes')}::text[],
      ${value('hwids')}::text[], ${value('oses')}::text[], ${value('osVersions')}::text[],
      ${value('deviceNames')}::text[], ${value('appVersions')}::text[],
      ${value('userAgents')}::text[], ${value('times')}::bigint[])
    WITH ORDINALITY AS x(code, subscription_key, provider_code, domain_hash, hwid, os, os_version,
      device_name, app_version, user_agent, now_ms, n)
    CROSS JOIN LATERAL (
      SELECT c.id FROM install c WHERE c.install_code = x.code
      UNION ALL
      SELECT c.id FROM provider o JOIN install c ON c.provider_id = o.id
      WHERE o.code = x.provider_code
        AND c.subscription_key_hash = decode(x.subscription_key, 'hex')) i
  ), link AS MATERIALIZED (
    SELECT id, provider_id, status, install_limit, device_count, subscription_key_hash
    FROM install WHERE id = ANY(ARRAY(SELECT link_id FROM wanted)) ORDER BY id FOR NO KEY UPDATE
  ), open AS MATERIALIZED (
    SELECT w.*, l.provider_id, o.code AS owner_code, l.status, l.install_limit, l.device_count
    FROM link l JOIN wanted w ON w.link_id = l.id JOIN provider o ON o.id = l.provider_id
    WHERE l.status = ${sql.raw(String(INSTALL_ACTIVE))}
      AND (w.provider_code IS NULL OR w.provider_code = o.code)
      AND (w.subscription_key IS NULL
        OR l.subscription_key_hash = decode(w.subscription_key, 'hex'))
      AND EXISTS (SELECT 1 FROM domain b WHERE b.provider_id = l.provider_id
        AND b.domain_hash = w.domain_hash AND b.status = ${sql.raw(String(DOMAIN_ACTIVE))})
      AND NOT EXISTS (
        SELECT 1 FROM webhook h WHERE h.provider_id = l.provider_id AND h.disabled_at_ms IS NULL)
  ), known AS MATERIALIZED (
    SELECT id, hwid FROM device WHERE hwid = ANY(ARRAY(SELECT hwid FROM open))
    ORDER BY hwid FOR NO KEY UPDATE
  ), here AS MATERIALIZED (
    SELECT o.*, d.id AS device_id, s.id AS slot_id,
      row_number() OVER (PARTITION BY o.link_id, s.id IS NULL ORDER BY o.n) AS nth
    FROM open o LEFT JOIN known d ON d.hwid = o.hwid
      LEFT JOIN install_device s ON s.install_id = o.link_id AND s.device_id = d.id
  ), newcomer AS (
    INSERT INTO device (hwid, ${FACT_COLUMNS}, first_seen_at_ms, last_seen_at_ms)
    SELECT hwid, '', '', '', '', '', now_ms, now_ms FROM here
    WHERE device_id IS NULL AND device_count + nth <= install_limit
    ORDER BY hwid
    ON CONFLICT DO NOTHING RETURNING id, hwid
  ), taken AS (
    INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
      last_seen_at_ms, after_recipient_id)
    SELECT h.link_id, coalesce(h.device_id, w.id), h.provider_id, h.now_ms, h.now_ms,
      (SELECT coalesce(max(id), 0) FROM recipient)
    FROM here h LEFT JOIN newcomer w ON w.hwid = h.hwid
    WHERE h.slot_id IS NULL AND h.device_count + h.nth <= h.install_limit
      AND coalesce(h.device_id, w.id) IS NOT NULL
    ORDER BY h.n
    ON CONFLICT DO NOTHING RETURNING install_id, device_id
  ), seen AS (
    UPDATE install_device s SET last_seen_at_ms = h.now_ms FROM here h
    WHERE s.id = h.slot_id RETURNING s.install_id, s.device_id
  ), admitted AS MATERIALIZED (
    SELECT h.*, true AS is_new, t.device_id AS visitor_id
    FROM taken t LEFT JOIN newcomer w ON w.id = t.device_id
      JOIN here h ON h.link_id = t.install_id AND (h.device_id = t.device_id OR h.hwid = w.hwid)
    UNION ALL
    SELECT h.*, false, s.device_id
    FROM seen s JOIN here h ON h.link_id = s.install_id AND h.device_id = s.device_id
  ), visited AS (
    UPDATE device d SET last_seen_at_ms = a.now_ms FROM admitted a WHERE d.id = a.device_id
  ), told AS (
    INSERT INTO device_provider AS p (device_id, provider_id, ${FACT_COLUMNS}, last_seen_at_ms)
    SELECT visitor_id, provider_id, ${FACT_COLUMNS}, now_ms FROM admitted
    ON CONFLICT (device_id, provider_id) DO UPDATE SET ${mergedUnproven('p', 'excluded')},
      last_seen_at_ms = excluded.last_seen_at_ms
  )
  SELECT a.n, a.link_id AS "installId", a.provider_id AS "providerId",
    a.owner_code AS "providerCode", a.status, a.install_limit AS "installLimit",
    a.device_count + CASE WHEN a.is_new THEN
      row_number() OVER (PARTITION BY a.link_id, a.is_new ORDER BY a.n) ELSE 0 END AS "deviceCount",
    a.is_new AS "isNew",
    (SELECT p.last_seen_at_ms FROM device_provider p
     WHERE p.device_id = a.device_id AND p.provider_id = a.provider_id) AS "seenBeforeMs"
  FROM admitted a`);

/** Returns the function that lets a device in with others. Null: not plain, nothing was done. */
export function admitTogether(context: Context) {
  const group = new TurnGroup<Knock, AdmittedLink | null>({
    run: (knocks) => admitAll(context, knocks),
    itemsMax: 256,
    underWayMax: 2,
  });
  return (key: SlotKey, facts: DeviceFacts, nowMs: number): Promise<AdmittedLink | null> | null =>
    // A key alone may be several providers'.
    'installCode' in key || key.providerCode !== null ? group.ask({ key, facts, nowMs }) : null;
}

async function admitAll(
  { db, figures }: Context,
  knocks: readonly Knock[],
): Promise<(AdmittedLink | null)[]> {
  // A device that knocks at several doors at a time takes its slots one after the other.
  const byHwid = new Map<string, { knock: Knock; at: number }>();
  for (const [at, knock] of knocks.entries()) {
    const { hwid } = knock.key;
    if (!byHwid.has(hwid)) byHwid.set(hwid, { knock, at });
  }
  const first = [...byHwid.values()];
  const keys = first.map(({ knock }) => knock.key);
  const facts = first.map(({ knock }) => knock.facts);
  const rows = await ADMIT.all(db.writing, {
    codes: keys.map((key) => ('installCode' in key ? key.installCode : null)),
    keys: keys.map((key) => ('installCode' in key ? null : key.subscriptionKeyHash)),
    providerCodes: keys.map(({ providerCode = null }) => providerCode),
    domainHashes: keys.map(({ domainHash }) => domainHash),
    hwids: keys.map(({ hwid }) => hwid),
    oses: facts.map(({ os }) => os),
    osVersions: facts.map(({ osVersion }) => osVersion),
    deviceNames: facts.map(({ deviceName }) => deviceName),
    appVersions: facts.map(({ appVersion }) => appVersion),
    userAgents: facts.map(({ userAgent }) => userAgent),
    times: first.map(({ knock }) => knock.nowMs),
  });
  const answers = knocks.map((): AdmittedLink | null => null);
  for (const { n, isNew, seenBeforeMs, ...link } of rows) {
    const { knock, at } = first[n - 1] as { knock: Knock; at: number };
    answers[at] = link;
    countSeen({ figures }, link.providerId, seenBeforeMs, knock.nowMs);
    if (isNew) figures.note(link.providerId, 'admitted', knock.nowMs);
  }
  return answers;
}
