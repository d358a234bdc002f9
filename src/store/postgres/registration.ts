/** Devices that register for messages: what they claim, what they get. */

import { sql } from 'drizzle-orm';
import { mergeFacts, mergeUnproven } from '../../core/device.ts';
import {
  claimOf,
  type FirstSlot,
  FREE_PLACE,
  judge,
  type Place,
  placeAfter,
} from '../../core/message/registration-rule.ts';
import type { NewRegistration, RegisterRefusal } from '../../core/port/registration.ts';
import type { Store } from '../../core/port/store.ts';
import { isWelcome, judge as judgeAtDoor, type Welcome } from '../../core/slot.ts';
import type { Context } from './context.ts';
import { type DoorHere, findDoorLocked } from './door.ts';
import { TurnGroup } from './group.ts';
import { keep } from './known-device.ts';
import { ALL_SEEN, lookups } from './lookups.ts';
import { follow } from './push-steps.ts';
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
  entry: { door: DoorHere; welcome: Welcome } | null;
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

const AT_PLACE = sql`device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}`;

const places = {
  firstSlot: prepare<FirstSlot>(sql`
      SELECT id, install_id AS "installId", after_recipient_id AS "afterRecipientId"
      FROM install_device WHERE ${AT_PLACE} ORDER BY id LIMIT 1`),
  find: prepare<Place>(sql`
      SELECT token_id AS "tokenId", is_by_link = 1 AS "isByLink", after_slot_id AS "afterSlotId",
        after_recipient_id AS "afterRecipientId"
      FROM device_provider WHERE ${AT_PLACE}`),
  set: prepare(sql`
      UPDATE device_provider SET token_id = ${value('tokenId')},
        is_by_link = ${value('isByLink')}::boolean::integer,
        after_slot_id = ${value('afterSlotId')}, after_recipient_id = ${value('afterRecipientId')}
      WHERE ${AT_PLACE}`),
  newest: prepare<{ recipientId: number; slotId: number }>(sql`
      SELECT (SELECT coalesce(max(id), 0) FROM recipient) AS "recipientId",
        (SELECT coalesce(max(id), 0) FROM install_device) AS "slotId"`),
  nobodys: prepare<{ tokenId: number }>(sql`
      SELECT id AS "tokenId" FROM device_token
      WHERE device_id = ${value('deviceId')} AND nobody_after_distribution_id IS NOT NULL`),
};

const tokens = {
  find: prepare<TokenRow>(sql`
      SELECT d.id AS id, d.hwid AS hwid, t.id AS "tokenId",
        least(d.last_seen_at_ms, (SELECT min(${ALL_SEEN}) FROM device_provider p
          WHERE p.token_id = t.id)) AS "lastSeenAtMs"
      FROM unnest(${value('tokenHashes')}::bytea[]) WITH ORDINALITY AS k (token_hash, n)
        LEFT JOIN LATERAL (
          SELECT * FROM device_token WHERE token_hash = k.token_hash LIMIT 1) t ON true
        LEFT JOIN LATERAL (SELECT * FROM device WHERE id = t.device_id LIMIT 1) d ON true
      ORDER BY k.n`),
  /** A token of the device itself. */
  own: prepare<{ id: number }>(sql`
      SELECT id FROM device_token
      WHERE token_hash = ${value('tokenHash')} AND device_id = ${value('deviceId')}`),
  add: prepare<{ id: number }>(sql`
      INSERT INTO device_token (device_id, token_hash, locale, push, stands_alone)
      VALUES (${value('deviceId')}, ${value('tokenHash')}, ${value('locale')}, ${value('push')}, 0)
      RETURNING id`),
  addresses: prepare<{ push: string; locale: string | null }>(sql`
      SELECT push, locale FROM device_token
      WHERE device_id = ${value('deviceId')} AND push IS NOT NULL ORDER BY id`),
  /** The row stays, with its places: the token in it is another. */
  renew: prepare(sql`
      UPDATE device_token SET token_hash = ${value('tokenHash')}, locale = ${value('locale')},
        push = ${value('push')}, push_dropped_at_ms = NULL, push_dropped_why = NULL
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
    if (!isWelcome(welcome)) return welcome;
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

async function placeOf(w: Write, deviceId: number, providerId: number | null): Promise<Place> {
  if (providerId === null) return { ...FREE_PLACE, ...(await places.nobodys.get(w, { deviceId })) };
  return (await places.find.get(w, { deviceId, providerId })) ?? FREE_PLACE;
}

const firstSlotOf = async (w: Write, deviceId: number, providerId: number | null) =>
  providerId === null ? null : places.firstSlot.get(w, { deviceId, providerId });

/** Links the device through what it shows, and keeps what it says. */
async function link(
  w: Write,
  deviceId: number,
  { providerId, entry, domainId, namedId }: Evidence,
  { facts, nowMs }: NewRegistration,
  heldId: number | null,
): Promise<void> {
  if (providerId === null) {
    await keep.keepOwnFacts(w, deviceId, facts);
    if (namedId === null) return;
    const holds = heldId !== null && (await placeOf(w, deviceId, namedId)).tokenId === heldId;
    await keep.seeAt(w, deviceId, namedId, facts, nowMs, holds ? mergeFacts : mergeUnproven);
    await keep.checkIn(w, deviceId, namedId, nowMs);
    return;
  }
  await keep.seeAt(w, deviceId, providerId, facts, nowMs, mergeFacts);
  if (entry !== null) await takeSlot(w, entry.door, entry.welcome, deviceId, nowMs);
  else await keep.checkIn(w, deviceId, providerId, nowMs);
  if (domainId !== null) await keep.tie(w, deviceId, providerId, domainId, nowMs);
}

async function register(w: Write, wanted: NewRegistration) {
  const { hwid, tokenHash, locale, heldTokenHash, nowMs } = wanted;
  const evidence = await evidenceOf(w, wanted);
  if (typeof evidence === 'string') return evidence;
  const { providerId, entry } = evidence;
  // From here on nobody else changes what the device has: what is refused is taken back.
  const deviceId = await keep.see(w, hwid, nowMs);
  const held = heldTokenHash && (await tokens.own.get(w, { tokenHash: heldTokenHash, deviceId }));
  const heldId = held?.id ?? null;
  const firstSlot = await firstSlotOf(w, deviceId, providerId);
  const isNothing = providerId === null;
  const claim = isNothing ? 'nothing' : claimOf(entry?.door.link.installId ?? null, firstSlot);
  const before = await placeOf(w, deviceId, providerId);
  const verdict = judge(claim, before, firstSlot, heldId);
  if (verdict === 'refused') return w.refuse('registration_refused' as const);

  await link(w, deviceId, evidence, wanted, heldId);
  const row = { tokenHash, locale, push: wanted.push && JSON.stringify(wanted.push) };
  if (heldId !== null) await tokens.renew.run(w, { id: heldId, ...row });
  const tokenId = heldId ?? (await tokens.add.insert(w, { deviceId, ...row }));
  if (providerId !== null) {
    const slot = await firstSlotOf(w, deviceId, providerId);
    const newest = (await places.newest.get(w)) as { recipientId: number; slotId: number };
    const place = placeAfter(verdict, before, tokenId, slot, newest);
    if (place !== before) await places.set.run(w, { deviceId, providerId, ...place });
  }
  // Last: the token that lost its place may have held this one along with it.
  await tokens.takeNobodys.run(w, { id: tokenId, standsAlone: isNothing ? 1 : 0 });
  await follow(w, deviceId, nowMs);
  // Streams of a token that is replaced are to end, wherever they are.
  if (heldId !== null || before.tokenId !== null) w.notify([deviceId]);
  return { deviceId };
}

export function registrationStore({ db, write }: Context): RegistrationStore {
  const known = new TurnGroup(db, {
    itemsMax: TOKENS_MAX,
    underWayMax: 2,
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
