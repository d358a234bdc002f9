/** Devices that register for messages: what they claim, what they get. */

import { sql } from 'drizzle-orm';
import { mergeFacts, mergeUnproven } from '../../core/device.ts';
import {
  FREE_PLACE,
  judge,
  type Place,
  placeAfter,
  type Slot,
} from '../../core/message/registration-rule.ts';
import type { DeviceAtProvider, DeviceFacts } from '../../core/port/device.ts';
import type { NewRegistration, RegisterRefusal } from '../../core/port/registration.ts';
import type { Store } from '../../core/port/store.ts';
import { type Admission, isAdmitted, judge as judgeAtDoor } from '../../core/slot.ts';
import { pushSteps } from '../noun/push-steps.ts';
import type { Context } from './context.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import { type DoorHere, findDoorLocked } from './door.ts';
import { TurnGroup } from './group.ts';
import { keep } from './known-device.ts';
import { ALL_SEEN, lookups } from './lookups.ts';
import { takeSlot } from './slot.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

type RegistrationStore = Pick<Store, 'registerDevice' | 'findDeviceByToken' | 'listPushAddresses'>;

type ShownRefusal = Exclude<RegisterRefusal, 'hwid_required' | 'registration_refused'>;

/** Tokens that are looked up by one statement. */
const TOKENS_MAX = 200;

/** The evidence that is shown, if it is good. */
interface Evidence {
  /** Provider of the place that is claimed; null: nobody's. */
  providerId: number | null;
  /** The link that lets the device in, and how. */
  entry: { door: DoorHere; welcome: Admission } | null;
  domainId: number | null;
  /** A provider that the device named without showing anything. */
  namedId: number | null;
}

interface TokenRow {
  id: number | null;
  hwid: string;
  tokenId: number;
  lastSeenAtMs: number;
}

/** A device as a registration finds it, once it is locked. */
interface Standing extends DeviceFacts {
  /** The token of it that is shown; null: none is. */
  heldId: number | null;
  /** The token that holds the place of nobody. */
  nobodysId: number | null;
  /** What is known of it at the provider that it claims or names; null: nothing. */
  at: (Place & DeviceAtProvider) | null;
  firstSlot: Slot | null;
}

type StandingRow = DeviceFacts &
  Pick<Standing, 'heldId' | 'nobodysId'> & {
    [At in keyof DeviceAtProvider as `at${Capitalize<At>}`]: DeviceAtProvider[At] | null;
  } & {
    [In in Exclude<keyof Place, 'installId'>]: Place[In];
  } & { claimInstallId: number | null } & SlotRow;

interface SlotRow {
  slotId: number | null;
  slotInstallId: number;
  slotAfterRecipientId: number;
}

const SLOT_COLUMNS = sql.raw(`s.id AS "slotId", s.install_id AS "slotInstallId",
  s.after_recipient_id AS "slotAfterRecipientId"`);
const FIRST_SLOT = sql`LEFT JOIN LATERAL (
  SELECT id, install_id, after_recipient_id FROM install_device
  WHERE device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}
  ORDER BY id LIMIT 1) s ON true`;

const places = {
  standing: prepare<StandingRow>(sql`
      SELECT d.os AS os, d.os_version AS "osVersion", d.device_name AS "deviceName",
        d.app_version AS "appVersion", d.user_agent AS "userAgent",
        (SELECT t.id FROM device_token t WHERE t.token_hash = ${value('heldTokenHash')}::bytea
          AND t.device_id = d.id) AS "heldId",
        (SELECT t.id FROM device_token t
         WHERE t.device_id = d.id AND t.nobody_after_distribution_id IS NOT NULL) AS "nobodysId",
        p.os AS "atOs", p.os_version AS "atOsVersion", p.device_name AS "atDeviceName",
        p.app_version AS "atAppVersion", p.user_agent AS "atUserAgent",
        p.last_seen_at_ms AS "atLastSeenAtMs", p.token_id IS NOT NULL AS "atIsRegistered",
        p.token_id AS "tokenId", p.is_by_link = 1 AS "isByLink",
        p.claim_install_id AS "claimInstallId", p.after_slot_id AS "afterSlotId",
        p.after_recipient_id AS "afterRecipientId",
        coalesce((SELECT t.last_seen_at_ms FROM device_token t WHERE t.id = p.token_id), 0)
          AS "tokenSeenAtMs",
        EXISTS (SELECT 1 FROM install_device o
          WHERE o.install_id = p.claim_install_id AND o.device_id = d.id) AS "isOnLink",
        ${SLOT_COLUMNS}
      FROM device d
        LEFT JOIN device_provider p ON p.device_id = d.id
          AND p.provider_id = ${value('providerId')}
        ${FIRST_SLOT}
      WHERE d.id = ${value('deviceId')}`),
  /** The slot on a link, and the newest rows of all. */
  newest: prepare<SlotRow & { recipientId: number; newestSlotId: number }>(sql`
      SELECT (SELECT coalesce(max(id), 0) FROM recipient) AS "recipientId",
        (SELECT coalesce(max(id), 0) FROM install_device) AS "newestSlotId", ${SLOT_COLUMNS}
      FROM (SELECT 1) one LEFT JOIN install_device s
        ON s.install_id = ${value('installId')} AND s.device_id = ${value('deviceId')}`),
  set: prepare(sql`
      UPDATE device_provider SET token_id = ${value('tokenId')},
        is_by_link = ${value('isByLink')}::boolean::integer,
        claim_install_id = ${value('installId')},
        after_slot_id = ${value('afterSlotId')}, after_recipient_id = ${value('afterRecipientId')}
      WHERE device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}
        AND token_id IS NOT DISTINCT FROM ${value('judgedTokenId')}::bigint`),
};

const slotOf = (row: SlotRow): Slot | null =>
  row.slotId === null
    ? null
    : {
        id: row.slotId,
        installId: row.slotInstallId,
        afterRecipientId: row.slotAfterRecipientId,
      };

const pushes = pushSteps(STATEMENTS);

const tokens = {
  find: prepare<TokenRow>(sql`
      SELECT d.id AS id, d.hwid AS hwid, t.id AS "tokenId",
        least(d.last_seen_at_ms, t.last_seen_at_ms, (SELECT min(${ALL_SEEN}) FROM device_provider p
          WHERE p.token_id = t.id)) AS "lastSeenAtMs"
      FROM unnest(${value('tokenHashes')}::bytea[]) WITH ORDINALITY AS k (token_hash, n)
        LEFT JOIN LATERAL (
          SELECT * FROM device_token WHERE token_hash = k.token_hash LIMIT 1) t ON true
        LEFT JOIN LATERAL (SELECT * FROM device WHERE id = t.device_id LIMIT 1) d ON true
      ORDER BY k.n`),
  add: prepare<{ id: number }>(sql`
      INSERT INTO device_token (device_id, token_hash, locale, push, push_at_ms, stands_alone,
        last_seen_at_ms)
      VALUES (${value('deviceId')}, ${value('tokenHash')}, ${value('locale')}, ${value('push')},
        ${value('nowMs')}, 0, ${value('nowMs')})
      RETURNING id`),
  addresses: prepare<{ push: string; locale: string | null }>(sql`
      SELECT push, locale FROM device_token
      WHERE device_id = ${value('deviceId')} AND push IS NOT NULL ORDER BY id`),
  /** The row stays, with its places: the token in it is another. */
  renew: prepare(sql`
      UPDATE device_token SET token_hash = ${value('tokenHash')}, locale = ${value('locale')},
        push = ${value('push')}, push_at_ms = ${value('nowMs')}, push_dropped_at_ms = NULL,
        push_dropped_why = NULL, last_seen_at_ms = ${value('nowMs')}
      WHERE id = ${value('id')}`),
  takeNobodys: prepare(sql`
      UPDATE device_token t
      SET stands_alone = ${value('standsAlone')},
        nobody_after_distribution_id = (SELECT coalesce(max(id), 0) FROM distribution),
        nobody_after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient)
      WHERE t.id = ${value('id')} AND NOT EXISTS (
        SELECT 1 FROM device_token o WHERE o.device_id = t.device_id
          AND o.nobody_after_distribution_id IS NOT NULL)`),
};

/** The evidence that is shown, or its refusal. A link that is shown stays locked. */
async function evidenceOf(
  w: Write,
  { hwid, shown, nowMs }: NewRegistration,
): Promise<Evidence | ShownRefusal> {
  const nothing = { providerId: null, entry: null, domainId: null, namedId: null };
  if (shown.kind === 'link') {
    const door = await findDoorLocked(w, { ...shown, hwid });
    if (typeof door === 'string') return 'link_not_found';
    const welcome = judgeAtDoor(door, nowMs);
    if (!isAdmitted(welcome)) return welcome;
    return { ...nothing, providerId: door.link.providerId, entry: { door, welcome } };
  }
  if (shown.providerCode === null) return nothing;
  const provider = await lookups.provider.get(w, { providerCode: shown.providerCode });
  if (provider === null) return 'provider_not_found';
  const providerId = provider.id;
  if (shown.kind === 'nothing') return { ...nothing, namedId: providerId };
  const { domainHash } = shown;
  const bound = await lookups.activeDomain.get(w, { providerId, domainHash });
  return bound === null ? 'domain_not_bound' : { ...nothing, providerId, domainId: bound.id };
}

/** The device, which is locked, with what it has at a provider. */
async function standingOf(
  w: Write,
  deviceId: number,
  providerId: number | null,
  heldTokenHash: Uint8Array | null,
): Promise<Standing> {
  const of = { deviceId, providerId: providerId ?? 0, heldTokenHash };
  const row = await places.standing.get(w, of);
  if (row === null) throw new Error('a device that is locked is not there');
  const { tokenId, tokenSeenAtMs, isByLink, claimInstallId, isOnLink } = row;
  const { afterSlotId, afterRecipientId, atLastSeenAtMs } = row;
  const at = atLastSeenAtMs !== null && {
    ...{ tokenId, tokenSeenAtMs, isByLink, installId: claimInstallId, isOnLink },
    ...{ afterSlotId, afterRecipientId },
    os: row.atOs ?? '',
    osVersion: row.atOsVersion ?? '',
    deviceName: row.atDeviceName ?? '',
    appVersion: row.atAppVersion ?? '',
    userAgent: row.atUserAgent ?? '',
    lastSeenAtMs: atLastSeenAtMs,
    isRegistered: tokenId !== null,
  };
  return { ...row, at: at || null, firstSlot: slotOf(row) };
}

/** Links the device through what it shows, and keeps what it says. */
async function link(
  w: Write,
  deviceId: number,
  standing: Standing,
  { providerId, entry, domainId, namedId }: Evidence,
  { facts, hwid, nowMs }: NewRegistration,
): Promise<void> {
  const { at, heldId } = standing;
  const seenBeforeMs = at?.lastSeenAtMs ?? null;
  if (providerId === null) {
    await keep.setOwnFacts(w, deviceId, mergeFacts(standing, facts));
    if (namedId === null) return;
    const merge = heldId !== null && at?.tokenId === heldId ? mergeFacts : mergeUnproven;
    const merged = at === null ? facts : merge(at, facts);
    await keep.setAt(w, deviceId, namedId, merged, { seenBeforeMs, nowMs, isCheckIn: true });
    return;
  }
  const merged = at === null ? facts : mergeFacts(at, facts);
  const isCheckIn = entry === null;
  await keep.setAt(w, deviceId, providerId, merged, { seenBeforeMs, nowMs, isCheckIn });
  if (entry !== null) await takeSlot(w, entry.door, entry.welcome, { deviceId, hwid }, nowMs);
  if (domainId !== null) await keep.tie(w, deviceId, providerId, domainId, nowMs);
}

async function register(w: Write, wanted: NewRegistration) {
  const { hwid, tokenHash, locale, heldTokenHash, nowMs } = wanted;
  const evidence = await evidenceOf(w, wanted);
  if (typeof evidence === 'string') return evidence;
  const { providerId, entry, namedId } = evidence;
  // From here on nobody else changes what the device has: what is refused is taken back.
  const deviceId = await keep.see(w, hwid, nowMs);
  const standing = await standingOf(w, deviceId, providerId ?? namedId, heldTokenHash);
  const { heldId, nobodysId } = standing;
  const isNothing = providerId === null;
  const firstSlot = isNothing ? null : standing.firstSlot;
  const installId = entry?.door.link.installId ?? null;
  const shown = isNothing ? 'nothing' : (installId ?? 'binding');
  const place = isNothing ? { ...FREE_PLACE, tokenId: nobodysId } : (standing.at ?? FREE_PLACE);
  const verdict = judge({ shown, place, firstSlot, shownTokenId: heldId, nowMs });
  if (verdict === 'refused') return w.refuse('registration_refused' as const);

  await link(w, deviceId, standing, evidence, wanted);
  const row = { tokenHash, locale, push: wanted.push && JSON.stringify(wanted.push), nowMs };
  if (heldId !== null) await tokens.renew.run(w, { id: heldId, ...row });
  const tokenId = heldId ?? (await tokens.add.insert(w, { deviceId, ...row }));
  if (providerId !== null) {
    await takePlace(w, { deviceId, providerId, installId }, verdict, place, tokenId);
  }
  // Last: the token that lost its place may have held this one along with it.
  await tokens.takeNobodys.run(w, { id: tokenId, standsAlone: isNothing ? 1 : 0 });
  await runOn(w, pushes.follow(w.notes, deviceId, nowMs));
  // Streams of a token that is replaced are to end, wherever they are.
  if (heldId !== null || place.tokenId !== null) w.notify([deviceId]);
  return { deviceId };
}

/** Gives a token the place that the verdict allows, as it is with the slot on the link shown. */
async function takePlace(
  w: Write,
  key: { deviceId: number; providerId: number; installId: number | null },
  verdict: Parameters<typeof placeAfter>[0],
  before: Place,
  tokenId: number,
): Promise<void> {
  const row = await places.newest.get(w, key);
  if (row === null) throw new Error('a row of its own is not there');
  const newest = { recipientId: row.recipientId, slotId: row.newestSlotId };
  const place = placeAfter(verdict, before, tokenId, slotOf(row), newest);
  if (place === before) return;
  const { isByLink, installId, afterSlotId, afterRecipientId } = place;
  const count = await places.set.run(w, {
    ...key,
    judgedTokenId: before.tokenId,
    ...{ tokenId: place.tokenId, isByLink, installId, afterSlotId, afterRecipientId },
  });
  if (count === 0) throw new Error('a place moved while it was judged');
}

export function registrationStore({ db, write }: Context): RegistrationStore {
  const known = new TurnGroup(db, {
    itemsMax: TOKENS_MAX,
    run: (tokenHashes: readonly Uint8Array[]) => tokens.find.all(db, { tokenHashes }),
  });

  return {
    registerDevice: (wanted) => write((w) => register(w, wanted)),

    findDeviceByToken: async (tokenHash) => {
      const { id, ...rest } = await known.ask(tokenHash);
      return id === null ? null : { id, ...rest };
    },

    listPushAddresses: async (hwid) => {
      const device = await lookups.deviceId.get(db, { hwid });
      if (device === null) return null;
      const found = await tokens.addresses.all(db, { deviceId: device.id });
      return found.map(({ push, locale }) => ({ push: JSON.parse(push), locale }));
    },
  };
}
