/** Devices that register for messages: what they claim, what they get. */

import { sql } from 'drizzle-orm';
import { mergeFacts, mergeUnproven } from '../../core/device.ts';
import {
  type Claiming,
  FREE_PLACE,
  judge,
  type Place,
  placeAfter,
  type Slot,
} from '../../core/message/registration-rule.ts';
import type { NewRegistration, RegisterRefusal } from '../../core/port/registration.ts';
import type { Store } from '../../core/port/store.ts';
import { type Admission, isAdmitted, judge as judgeAtDoor } from '../../core/slot.ts';
import { pushSteps } from '../noun/push-steps.ts';
import type { Context } from './context.ts';
import { runNow, sqliteStatements } from './dialect.ts';
import { type DoorHere, doorOf } from './door.ts';
import { deviceKeeper } from './known-device.ts';
import { ALL_SEEN, lookups } from './lookups.ts';
import { slotTaker } from './slot.ts';
import { value } from './statement.ts';

type RegistrationStore = Pick<Store, 'registerDevice' | 'findDeviceByToken' | 'listPushAddresses'>;

type ShownRefusal = Exclude<RegisterRefusal, 'hwid_required' | 'registration_refused'>;

/** The evidence that is shown, if it is good. */
interface Evidence {
  shown: Claiming['shown'];
  /** Provider of the place that is claimed; null: nobody's. */
  providerId: number | null;
  /** The link that lets the device in, and how. */
  entry: { door: DoorHere; welcome: Admission } | null;
  domainId: number | null;
  firstSlot: Slot | null;
}

type PlaceRow = Omit<Place, 'isByLink' | 'isOnLink'> & { isByLink: number; isOnLink: number };

const SLOT_COLUMNS = sql.raw(
  'id, install_id AS "installId", after_recipient_id AS "afterRecipientId"',
);

function placeStatements({ db }: Context) {
  const atPlace = sql`device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}`;
  return {
    firstSlot: db.prepare<Slot>(sql`
        SELECT ${SLOT_COLUMNS} FROM install_device WHERE ${atPlace} ORDER BY id LIMIT 1`),
    slotOn: db.prepare<Slot>(sql`
        SELECT ${SLOT_COLUMNS} FROM install_device
        WHERE install_id = ${value('installId')} AND device_id = ${value('deviceId')}`),
    place: db.prepare<PlaceRow>(sql`
        SELECT p.token_id AS "tokenId", p.is_by_link AS "isByLink",
          p.claim_install_id AS "installId", p.after_slot_id AS "afterSlotId",
          p.after_recipient_id AS "afterRecipientId",
          coalesce((SELECT t.last_seen_at_ms FROM device_token t WHERE t.id = p.token_id), 0)
            AS "tokenSeenAtMs",
          EXISTS (SELECT 1 FROM install_device s
            WHERE s.install_id = p.claim_install_id AND s.device_id = p.device_id) AS "isOnLink"
        FROM device_provider p WHERE ${atPlace}`),
    setPlace: db.prepare(sql`
        UPDATE device_provider SET token_id = ${value('tokenId')},
          is_by_link = ${value('isByLink')}, claim_install_id = ${value('installId')},
          after_slot_id = ${value('afterSlotId')}, after_recipient_id = ${value('afterRecipientId')}
        WHERE ${atPlace} AND token_id IS ${value('judgedTokenId')}`),
    newest: db.prepare<{ recipientId: number; slotId: number }>(sql`
        SELECT (SELECT coalesce(max(id), 0) FROM recipient) AS "recipientId",
          (SELECT coalesce(max(id), 0) FROM install_device) AS "slotId"`),
    nobodys: db.prepare<{ tokenId: number }>(sql`
        SELECT id AS "tokenId" FROM device_token
        WHERE device_id = ${value('deviceId')} AND nobody_after_distribution_id IS NOT NULL`),
  };
}

function tokenStatements({ db }: Context) {
  return {
    find: db.prepare<{ id: number; hwid: string; tokenId: number; lastSeenAtMs: number }>(sql`
        SELECT d.id AS id, d.hwid AS hwid, t.id AS "tokenId",
          min(d.last_seen_at_ms, t.last_seen_at_ms, coalesce(
            (SELECT min(${ALL_SEEN}) FROM device_provider p WHERE p.token_id = t.id),
            d.last_seen_at_ms)) AS "lastSeenAtMs"
        FROM device_token t CROSS JOIN device d ON d.id = t.device_id
        WHERE t.token_hash = ${value('tokenHash')}`),
    add: db.prepare<{ id: number }>(sql`
        INSERT INTO device_token (device_id, token_hash, locale, push, push_at_ms, stands_alone,
          last_seen_at_ms)
        VALUES (${value('deviceId')}, ${value('tokenHash')}, ${value('locale')},
          ${value('push')}, ${value('nowMs')}, 0, ${value('nowMs')})
        RETURNING id`),
    addresses: db.prepare<{ push: string; locale: string | null }>(sql`
        SELECT push, locale FROM device_token
        WHERE device_id = ${value('deviceId')} AND push IS NOT NULL ORDER BY id`),
    /** The row stays, with its places: the token in it is another. */
    renew: db.prepare(sql`
        UPDATE device_token SET token_hash = ${value('tokenHash')}, locale = ${value('locale')},
          push = ${value('push')}, push_at_ms = ${value('nowMs')}, push_dropped_at_ms = NULL,
          push_dropped_why = NULL, last_seen_at_ms = ${value('nowMs')}
        WHERE id = ${value('id')}`),
    takeNobodys: db.prepare(sql`
        UPDATE device_token
        SET stands_alone = ${value('standsAlone')},
          nobody_after_distribution_id = (SELECT coalesce(max(id), 0) FROM distribution),
          nobody_after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient)
        WHERE id = ${value('id')} AND NOT EXISTS (
          SELECT 1 FROM device_token o WHERE o.device_id = device_token.device_id
            AND o.nobody_after_distribution_id IS NOT NULL)`),
  };
}

export function registrationStore(context: Context): RegistrationStore {
  const { writer } = context;
  const on = placeStatements(context);
  const tokens = tokenStatements(context);
  const find = lookups(context);
  const keep = deviceKeeper(context);
  const findDoor = doorOf(context);
  const { take } = slotTaker(context);
  const pushes = pushSteps(sqliteStatements(context.db));

  /** The evidence that is shown, or its refusal; an unknown device has the id 0. */
  function evidenceOf(
    { hwid, shown, nowMs }: NewRegistration,
    deviceId: number,
  ): Evidence | ShownRefusal {
    if (shown.kind === 'link') {
      const door = findDoor({ ...shown, hwid });
      if (typeof door === 'string') return 'link_not_found';
      const { installId, providerId } = door.link;
      const welcome = judgeAtDoor(door, nowMs);
      if (!isAdmitted(welcome)) return welcome;
      const firstSlot = on.firstSlot.get({ deviceId, providerId });
      const entry = { door, welcome };
      return { shown: installId, providerId, entry, domainId: null, firstSlot };
    }
    const none = { providerId: null, entry: null, domainId: null, firstSlot: null };
    const nothing = { shown: 'nothing', ...none } as const;
    if (shown.providerCode === null) return nothing;
    const provider = find.provider.get({ providerCode: shown.providerCode });
    if (provider === null) return 'provider_not_found';
    if (shown.kind === 'nothing') return nothing;
    const providerId = provider.id;
    const bound = find.activeDomain.get({ ...shown, providerId });
    if (bound === null) return 'domain_not_bound';
    const firstSlot = on.firstSlot.get({ deviceId, providerId });
    return { shown: 'binding', providerId, entry: null, domainId: bound.id, firstSlot };
  }

  function placeOf(deviceId: number, providerId: number | null): Place {
    if (providerId === null) return { ...FREE_PLACE, ...on.nobodys.get({ deviceId }) };
    const row = on.place.get({ deviceId, providerId });
    if (row === null) return FREE_PLACE;
    return { ...row, isByLink: row.isByLink === 1, isOnLink: row.isOnLink === 1 };
  }

  /** Links the device through what it shows, and keeps what it says. */
  function link(
    deviceId: number,
    evidence: Evidence,
    wanted: NewRegistration,
    heldId: number | null,
  ) {
    const { facts, shown, nowMs } = wanted;
    const { providerId, entry, domainId } = evidence;
    if (providerId === null) {
      keep.keepOwnFacts(deviceId, facts);
      if (shown.kind === 'nothing' && shown.providerCode !== null) {
        const named = find.provider.get({ providerCode: shown.providerCode })?.id ?? 0;
        const holds = heldId !== null && placeOf(deviceId, named).tokenId === heldId;
        keep.seeAt(deviceId, named, facts, nowMs, holds ? mergeFacts : mergeUnproven);
        keep.checkIn(deviceId, named, nowMs);
      }
      return;
    }
    keep.seeAt(deviceId, providerId, facts, nowMs, mergeFacts);
    if (entry !== null) take(entry.door, entry.welcome, { deviceId, hwid: wanted.hwid }, nowMs);
    else keep.checkIn(deviceId, providerId, nowMs);
    if (domainId !== null) keep.tie(deviceId, providerId, domainId, nowMs);
  }

  return {
    registerDevice: (wanted) =>
      writer.run(() => {
        const { hwid, tokenHash, locale, heldTokenHash, nowMs } = wanted;
        const known = find.deviceId.get({ hwid })?.id ?? 0;
        const evidence = evidenceOf(wanted, known);
        if (typeof evidence === 'string') return evidence;
        const held = heldTokenHash && tokens.find.get({ tokenHash: heldTokenHash });
        const heldId = held !== null && held.id === known ? held.tokenId : null;
        const { shown, providerId, entry, firstSlot } = evidence;
        const place = placeOf(known, providerId);
        const verdict = judge({ shown, place, firstSlot, shownTokenId: heldId, nowMs });
        if (verdict === 'refused') return 'registration_refused';

        const deviceId = keep.see(hwid, nowMs);
        link(deviceId, evidence, wanted, heldId);
        const push = wanted.push && JSON.stringify(wanted.push);
        const row = { tokenHash, locale, push, nowMs };
        if (heldId !== null) tokens.renew.run({ id: heldId, ...row });
        const tokenId = heldId ?? (tokens.add.get({ deviceId, ...row }) as { id: number }).id;
        if (providerId !== null) {
          const installId = entry?.door.link.installId ?? null;
          const slot = installId === null ? null : on.slotOn.get({ deviceId, installId });
          const newest = on.newest.get() as { recipientId: number; slotId: number };
          const after = placeAfter(verdict, place, tokenId, slot, newest);
          const of = { deviceId, providerId, judgedTokenId: place.tokenId };
          if (after !== place && on.setPlace.run({ ...of, ...after }) === 0)
            throw new Error('a place moved while it was judged');
        }
        // Last: the token that lost its place may have held this one along with it.
        tokens.takeNobodys.run({ id: tokenId, standsAlone: providerId === null ? 1 : 0 });
        runNow(pushes.follow(context.notes, deviceId, nowMs));
        return { deviceId };
      }),

    findDeviceByToken: async (tokenHash) => tokens.find.get({ tokenHash }),

    listPushAddresses: async (hwid) => {
      const known = find.deviceId.get({ hwid });
      if (known === null) return null;
      const found = tokens.addresses.all({ deviceId: known.id });
      return found.map(({ push, locale }) => ({ push: JSON.parse(push), locale }));
    },
  };
}
