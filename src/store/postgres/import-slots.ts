/** The HWIDs of links that move in, as a part of their step: all at once. */

import { sql } from 'drizzle-orm';
import { mergeFacts } from '../../core/device.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { ImportedSlot } from '../../core/port/moving.ts';
import { FACT_COLUMNS } from '../noun/known-device.ts';
import { prepare, type Runner, value } from './statement.ts';

/** A link, which is locked, with the HWIDs that it is to have. */
export interface Destined {
  installId: number;
  providerId: number;
  slots: readonly ImportedSlot[];
  /** How many more it may have. */
  room: number;
  nowMs: number;
}

/** What became of the HWIDs of a link. */
export interface AddedSlots {
  slotsAdded: number;
  slotsPresent: number;
  slotsWithoutRoom: number;
}

/** A slot that is to be added. */
type NewSlot = ImportedSlot & Pick<Destined, 'installId' | 'providerId' | 'nowMs'>;

/** A device at a provider. */
interface AtProvider extends DeviceFacts {
  deviceId: number;
  providerId: number;
  lastSeenAtMs: number;
}

const on = {
  held: prepare<{ installId: number; hwid: string }>(sql`
      SELECT s.install_id AS "installId", d.hwid AS hwid
      FROM install_device s JOIN device d ON d.id = s.device_id
      WHERE s.install_id = ANY(${value('installIds')}::bigint[])`),
  /** Makes devices known, or notes that they were seen elsewhere, and locks them. */
  see: prepare<{ id: number; hwid: string }>(sql`
      INSERT INTO device (hwid, ${FACT_COLUMNS}, first_seen_at_ms, last_seen_at_ms)
      SELECT x.hwid, '', '', '', '', '', min(x.first_ms), max(x.last_ms)
      FROM unnest(${value('hwids')}::text[], ${value('firstMs')}::bigint[],
        ${value('lastMs')}::bigint[]) AS x(hwid, first_ms, last_ms)
      GROUP BY x.hwid ORDER BY x.hwid COLLATE "C"
      ON CONFLICT (hwid) DO UPDATE SET
        first_seen_at_ms = least(device.first_seen_at_ms, excluded.first_seen_at_ms),
        last_seen_at_ms = greatest(device.last_seen_at_ms, excluded.last_seen_at_ms)
      RETURNING id, hwid`),
  atProvider: prepare<AtProvider>(sql`
      SELECT p.device_id AS "deviceId", p.provider_id AS "providerId", p.os AS os,
        p.os_version AS "osVersion", p.device_name AS "deviceName",
        p.app_version AS "appVersion", p.user_agent AS "userAgent",
        p.last_seen_at_ms AS "lastSeenAtMs"
      FROM device_provider p
      WHERE p.provider_id = ANY(${value('providerIds')}::bigint[]) AND p.device_id = ANY(
        ARRAY(SELECT d.id FROM device d WHERE d.hwid = ANY(${value('hwids')}::text[])))`),
  keepFacts: prepare(sql`
      INSERT INTO device_provider AS p (device_id, provider_id, ${FACT_COLUMNS}, last_seen_at_ms)
      SELECT x.device_id, x.provider_id, x.os, x.os_version, x.device_name, x.app_version,
        x.user_agent, x.seen_ms
      FROM unnest(${value('deviceId')}::bigint[], ${value('providerId')}::bigint[],
          ${value('os')}::text[], ${value('osVersion')}::text[], ${value('deviceName')}::text[],
          ${value('appVersion')}::text[], ${value('userAgent')}::text[],
          ${value('lastSeenAtMs')}::bigint[])
        AS x(device_id, provider_id, os, os_version, device_name, app_version, user_agent, seen_ms)
      ORDER BY x.device_id, x.provider_id
      ON CONFLICT (device_id, provider_id) DO UPDATE SET os = excluded.os,
        os_version = excluded.os_version, device_name = excluded.device_name,
        app_version = excluded.app_version, user_agent = excluded.user_agent,
        last_seen_at_ms = excluded.last_seen_at_ms`),
  takeSlots: prepare(sql`
      INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
        last_seen_at_ms, after_recipient_id)
      SELECT x.install_id, x.device_id, x.provider_id, x.registered_ms, x.seen_ms,
        (SELECT coalesce(max(id), 0) FROM recipient)
      FROM unnest(${value('installIds')}::bigint[], ${value('deviceIds')}::bigint[],
          ${value('providerIds')}::bigint[], ${value('registeredMs')}::bigint[],
          ${value('seenMs')}::bigint[])
        WITH ORDINALITY AS x(install_id, device_id, provider_id, registered_ms, seen_ms, n)
      ORDER BY x.n`),
};

/** Slots of a link that are to be added, and what becomes of all of them. */
function chosen({ slots, room, ...of }: Destined, here: ReadonlySet<string>) {
  const held = new Set(here);
  const counts: AddedSlots = { slotsAdded: 0, slotsPresent: 0, slotsWithoutRoom: 0 };
  const added: NewSlot[] = [];
  for (const slot of slots) {
    if (held.has(slot.hwid)) {
      counts.slotsPresent += 1;
    } else if (added.length >= room) {
      counts.slotsWithoutRoom += 1;
    } else {
      held.add(slot.hwid);
      added.push({ ...slot, ...of });
    }
  }
  return { added, counts: { ...counts, slotsAdded: added.length } };
}

/**
 * What is known of the devices at their providers with what moves in. What is known here wins: it
 * is later than any import.
 */
function factsOf(
  slots: readonly NewSlot[],
  deviceIds: readonly number[],
  known: readonly AtProvider[],
): AtProvider[] {
  const keyOf = (deviceId: number, providerId: number) => `${deviceId} ${providerId}`;
  const here = new Map(known.map((row) => [keyOf(row.deviceId, row.providerId), row]));
  const kept = new Map<string, AtProvider>();
  slots.forEach((slot, n) => {
    const deviceId = deviceIds[n] ?? 0;
    const { providerId, os, osVersion, deviceName, appVersion, userAgent } = slot;
    const key = keyOf(deviceId, providerId);
    const before = kept.get(key) ?? here.get(key);
    const said = { os, osVersion, deviceName, appVersion, userAgent };
    const facts = before === undefined ? said : mergeFacts(said, before);
    const lastSeenAtMs = Math.max(before?.lastSeenAtMs ?? 0, slot.lastSeenAtMs);
    kept.set(key, { ...facts, deviceId, providerId, lastSeenAtMs });
  });
  return [...kept.values()];
}

/** Adds to each link the HWIDs that it lacks while there is room; null: there is no link. */
export async function addSlots(
  w: Runner,
  destined: readonly (Destined | null)[],
): Promise<(AddedSlots | null)[]> {
  const installIds = destined.flatMap((link) => (link?.slots.length ? link.installId : []));
  const held = installIds.length === 0 ? [] : await on.held.all(w, { installIds });
  const byLink = Map.groupBy(held, ({ installId }) => installId);
  const chosenOf = destined.map((link) => {
    const here = byLink.get(link?.installId ?? 0) ?? [];
    return link && chosen(link, new Set(here.map(({ hwid }) => hwid)));
  });
  const added = chosenOf.flatMap((one) => one?.added ?? []);
  if (added.length > 0) await take(w, added);
  return chosenOf.map((one) => one?.counts ?? null);
}

async function take(w: Runner, added: readonly NewSlot[]): Promise<void> {
  const hwids = added.map(({ hwid }) => hwid);
  const providerIds = added.map(({ providerId }) => providerId);
  // One behind the other, without waiting: what is known is looked at when they are locked.
  const [devices, here] = await Promise.all([
    on.see.all(w, {
      hwids,
      firstMs: added.map(({ firstSeenAtMs }) => firstSeenAtMs),
      lastMs: added.map(({ lastSeenAtMs }) => lastSeenAtMs),
    }),
    on.atProvider.all(w, { hwids, providerIds: [...new Set(providerIds)] }),
  ]);
  const ids = new Map(devices.map(({ id, hwid }) => [hwid, id]));
  const deviceIds = hwids.map((hwid) => ids.get(hwid) ?? 0);
  const kept = factsOf(added, deviceIds, here);
  const column = <Name extends keyof AtProvider>(name: Name) => kept.map((row) => row[name]);
  const keeping = on.keepFacts.run(w, {
    deviceId: column('deviceId'),
    providerId: column('providerId'),
    os: column('os'),
    osVersion: column('osVersion'),
    deviceName: column('deviceName'),
    appVersion: column('appVersion'),
    userAgent: column('userAgent'),
    lastSeenAtMs: column('lastSeenAtMs'),
  });
  const taking = on.takeSlots.run(w, {
    ...{ deviceIds, providerIds, installIds: added.map(({ installId }) => installId) },
    registeredMs: added.map(({ registeredAtMs }) => registeredAtMs),
    seenMs: added.map(({ slotSeenAtMs, nowMs }) => slotSeenAtMs ?? nowMs),
  });
  await Promise.all([keeping, taking]);
}
