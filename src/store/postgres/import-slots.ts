/** The HWIDs of a link that moves in, as a part of its step: all at once. */

import { sql } from 'drizzle-orm';
import { mergeFacts } from '../../core/device.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { ImportedSlot } from '../../core/port/moving.ts';
import { FACT_COLUMNS } from './known-device.ts';
import { prepare, type Runner, value } from './statement.ts';

const on = {
  held: prepare<{ hwid: string }>(sql`
      SELECT d.hwid AS hwid FROM install_device s JOIN device d ON d.id = s.device_id
      WHERE s.install_id = ${value('installId')} AND d.hwid = ANY(${value('hwids')}::text[])`),
  /** Makes devices known, or notes that they were seen elsewhere, and locks them. */
  see: prepare<{ id: number; hwid: string }>(sql`
      INSERT INTO device (hwid, ${FACT_COLUMNS}, first_seen_at_ms, last_seen_at_ms)
      SELECT x.hwid, '', '', '', '', '', x.first_ms, x.last_ms
      FROM unnest(${value('hwids')}::text[], ${value('firstMs')}::bigint[],
        ${value('lastMs')}::bigint[]) AS x(hwid, first_ms, last_ms)
      ORDER BY x.hwid COLLATE "C"
      ON CONFLICT (hwid) DO UPDATE SET
        first_seen_at_ms = least(device.first_seen_at_ms, excluded.first_seen_at_ms),
        last_seen_at_ms = greatest(device.last_seen_at_ms, excluded.last_seen_at_ms)
      RETURNING id, hwid`),
  atProvider: prepare<DeviceFacts & { deviceId: number; lastSeenAtMs: number }>(sql`
      SELECT p.device_id AS "deviceId", p.os AS os, p.os_version AS "osVersion",
        p.device_name AS "deviceName", p.app_version AS "appVersion",
        p.user_agent AS "userAgent", p.last_seen_at_ms AS "lastSeenAtMs"
      FROM device d
        JOIN device_provider p ON p.device_id = d.id AND p.provider_id = ${value('providerId')}
      WHERE d.hwid = ANY(${value('hwids')}::text[])`),
  keepFacts: prepare(sql`
      INSERT INTO device_provider AS p (device_id, provider_id, ${FACT_COLUMNS}, last_seen_at_ms)
      SELECT x.device_id, ${value('providerId')}::bigint, x.os, x.os_version, x.device_name,
        x.app_version, x.user_agent, x.seen_ms
      FROM unnest(${value('deviceIds')}::bigint[], ${value('os')}::text[],
          ${value('osVersion')}::text[], ${value('deviceName')}::text[],
          ${value('appVersion')}::text[], ${value('userAgent')}::text[],
          ${value('seenMs')}::bigint[])
        AS x(device_id, os, os_version, device_name, app_version, user_agent, seen_ms)
      ORDER BY x.device_id
      ON CONFLICT (device_id, provider_id) DO UPDATE SET os = excluded.os,
        os_version = excluded.os_version, device_name = excluded.device_name,
        app_version = excluded.app_version, user_agent = excluded.user_agent,
        last_seen_at_ms = excluded.last_seen_at_ms`),
  takeSlots: prepare(sql`
      INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
        last_seen_at_ms, after_recipient_id)
      SELECT ${value('installId')}::bigint, x.device_id, ${value('providerId')}::bigint,
        x.registered_ms, x.seen_ms, (SELECT coalesce(max(id), 0) FROM recipient)
      FROM unnest(${value('deviceIds')}::bigint[], ${value('registeredMs')}::bigint[],
          ${value('slotSeenMs')}::bigint[])
        WITH ORDINALITY AS x(device_id, registered_ms, seen_ms, n)
      ORDER BY x.n`),
};

/** Slots to be added, and what became of the others. */
function chosen(slots: readonly ImportedSlot[], here: ReadonlySet<string>, room: number) {
  const counts = { slotsAdded: 0, slotsPresent: 0, slotsWithoutRoom: 0 };
  const held = new Set(here);
  const added: ImportedSlot[] = [];
  for (const slot of slots) {
    if (held.has(slot.hwid)) {
      counts.slotsPresent += 1;
    } else if (added.length >= room) {
      counts.slotsWithoutRoom += 1;
    } else {
      held.add(slot.hwid);
      added.push(slot);
    }
  }
  return { added, counts: { ...counts, slotsAdded: added.length } };
}

/**
 * Adds to a link, which is locked, the HWIDs that it lacks while there is `room`. Facts of a device
 * that are known here win: they are later than any import.
 */
export async function addSlots(
  w: Runner,
  { installId, providerId }: { installId: number; providerId: number },
  slots: readonly ImportedSlot[],
  room: number,
  nowMs: number,
) {
  const hwids = slots.map(({ hwid }) => hwid);
  const held = hwids.length === 0 ? [] : await on.held.all(w, { installId, hwids });
  const { added, counts } = chosen(slots, new Set(held.map(({ hwid }) => hwid)), room);
  if (added.length === 0) return counts;
  const seen = added.map(({ hwid }) => hwid);
  // One behind the other, without waiting: what is known is looked at when they are locked.
  const [devices, here] = await Promise.all([
    on.see.all(w, {
      hwids: seen,
      firstMs: added.map(({ firstSeenAtMs }) => firstSeenAtMs),
      lastMs: added.map(({ lastSeenAtMs }) => lastSeenAtMs),
    }),
    on.atProvider.all(w, { providerId, hwids: seen }),
  ]);
  const ids = new Map(devices.map(({ id, hwid }) => [hwid, id]));
  const deviceIds = added.map(({ hwid }) => ids.get(hwid) ?? 0);
  const byDevice = new Map(here.map((row) => [row.deviceId, row]));
  const kept = added.map((slot, n) => {
    const known = byDevice.get(deviceIds[n] ?? 0);
    const facts: DeviceFacts = known === undefined ? slot : mergeFacts(slot, known);
    return { ...facts, seenMs: Math.max(known?.lastSeenAtMs ?? 0, slot.lastSeenAtMs) };
  });
  const columns = {
    ...{ installId, providerId, deviceIds, seenMs: kept.map(({ seenMs }) => seenMs) },
    os: kept.map(({ os }) => os),
    osVersion: kept.map(({ osVersion }) => osVersion),
    deviceName: kept.map(({ deviceName }) => deviceName),
    appVersion: kept.map(({ appVersion }) => appVersion),
    userAgent: kept.map(({ userAgent }) => userAgent),
    registeredMs: added.map(({ registeredAtMs }) => registeredAtMs),
    slotSeenMs: added.map(({ slotSeenAtMs }) => slotSeenAtMs ?? nowMs),
  };
  await Promise.all([on.keepFacts.run(w, columns), on.takeSlots.run(w, columns)]);
  return counts;
}
