/** Devices that register for messages: what they claim, what they get. */

import { sql } from 'drizzle-orm';
import { mergeClaims, mergeFacts } from '../../core/device.ts';
import { type Claim, type Holder, judge } from '../../core/message/registration.ts';
import { INSTALL_ACTIVE } from '../../core/port/install.ts';
import type { NewRegistration, RegisterRefusal, Shown } from '../../core/port/registration.ts';
import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import { rowStatements } from './install-rows.ts';
import { deviceKeeper } from './known-device.ts';
import { lookups } from './lookups.ts';
import { prepare, value } from './statement.ts';

type RegistrationStore = Pick<Store, 'registerDevice' | 'findDeviceByToken'>;

type ShownRefusal = Exclude<RegisterRefusal, 'hwid_required' | 'registration_refused'>;

/** The evidence that is shown, if it is good. */
interface Evidence {
  claim: Claim;
  /** Whose place is claimed; null: nobody's. */
  providerId: number | null;
  /** The link on which the device takes a slot, if it is not on it. */
  takesSlotOn: number | null;
  domainId: number | null;
  /** The first slot of the device at the provider. */
  firstSlot: Slot | null;
}

interface Slot {
  id: number;
  installId: number;
  afterRecipientId: number;
}

interface Place {
  tokenId: number | null;
  isByLink: number;
  afterSlotId: number;
}

function placeStatements({ db }: Context) {
  const atPlace = sql`device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}`;
  return {
    link: prepare<{ installId: number; providerId: number; status: number; isFull: number }>(
      db,
      sql`
        SELECT id AS "installId", provider_id AS "providerId", status,
          device_count >= install_limit AS "isFull"
        FROM install WHERE install_code = ${value('installCode')}`,
    ),
    firstSlot: prepare<Slot>(
      db,
      sql`
        SELECT id, install_id AS "installId", after_recipient_id AS "afterRecipientId"
        FROM install_device WHERE ${atPlace} ORDER BY id LIMIT 1`,
    ),
    place: prepare<Place>(
      db,
      sql`
        SELECT token_id AS "tokenId", is_by_link AS "isByLink", after_slot_id AS "afterSlotId"
        FROM device_provider WHERE ${atPlace}`,
    ),
    nobodys: prepare<{ tokenId: number }>(
      db,
      sql`
        SELECT id AS "tokenId" FROM device_token
        WHERE device_id = ${value('deviceId')} AND nobody_after_distribution_id IS NOT NULL`,
    ),
    grant: prepare(
      db,
      sql`
        UPDATE device_provider SET token_id = ${value('tokenId')}, is_by_link = 0,
          after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient),
          after_slot_id = (SELECT coalesce(max(id), 0) FROM install_device)
        WHERE ${atPlace}`,
    ),
    /** By a link; whoever kept the place keeps what it opened. */
    grantByLink: prepare(
      db,
      sql`
        UPDATE device_provider SET is_by_link = 1,
          after_recipient_id = iif(token_id IS ${value('tokenId')},
            min(after_recipient_id, ${value('afterRecipientId')}), ${value('afterRecipientId')}),
          after_slot_id = (SELECT coalesce(max(id), 0) FROM install_device),
          token_id = ${value('tokenId')}
        WHERE ${atPlace}`,
    ),
  };
}

function tokenStatements({ db }: Context) {
  return {
    find: prepare<{ id: number; hwid: string; tokenId: number; lastSeenAtMs: number }>(
      db,
      sql`
        SELECT d.id AS id, d.hwid AS hwid, t.id AS "tokenId", d.last_seen_at_ms AS "lastSeenAtMs"
        FROM device_token t CROSS JOIN device d ON d.id = t.device_id
        WHERE t.token_hash = ${value('tokenHash')}`,
    ),
    add: prepare<{ id: number }>(
      db,
      sql`
        INSERT INTO device_token (device_id, token_hash, locale, push, stands_alone)
        VALUES (${value('deviceId')}, ${value('tokenHash')}, ${value('locale')},
          ${value('push')}, 0)
        RETURNING id`,
    ),
    /** The row stays, with its places: the token in it is another. */
    renew: prepare(
      db,
      sql`
        UPDATE device_token SET token_hash = ${value('tokenHash')}, locale = ${value('locale')},
          push = ${value('push')}
        WHERE id = ${value('id')}`,
    ),
    takeNobodys: prepare(
      db,
      sql`
        UPDATE device_token
        SET stands_alone = ${value('standsAlone')},
          nobody_after_distribution_id = (SELECT coalesce(max(id), 0) FROM distribution),
          nobody_after_recipient_id = (SELECT coalesce(max(id), 0) FROM recipient)
        WHERE id = ${value('id')} AND NOT EXISTS (
          SELECT 1 FROM device_token o WHERE o.device_id = device_token.device_id
            AND o.nobody_after_distribution_id IS NOT NULL)`,
    ),
  };
}

export function registrationStore(context: Context): RegistrationStore {
  const { writer } = context;
  const on = placeStatements(context);
  const tokens = tokenStatements(context);
  const slots = rowStatements(context);
  const find = lookups(context);
  const keep = deviceKeeper(context);

  /** No device has the id 0. */
  function evidenceOf(shown: Shown, deviceId: number): Evidence | ShownRefusal {
    if (shown.kind === 'link') {
      const link = on.link.get(shown);
      if (link === null) return 'link_not_found';
      const { installId, providerId } = link;
      if (find.activeDomain.get({ ...shown, providerId }) === null) return 'link_domain_not_bound';
      if (link.status !== INSTALL_ACTIVE) return 'link_disabled';
      const holdsSlot = slots.holdsSlot.get({ installId, deviceId }) !== null;
      if (!holdsSlot && link.isFull === 1) return 'link_limit_reached';
      const firstSlot = on.firstSlot.get({ deviceId, providerId });
      const isFirst = firstSlot === null || firstSlot.installId === installId;
      const takesSlotOn = holdsSlot ? null : installId;
      const claim = isFirst ? 'first_link' : 'later';
      return { claim, providerId, takesSlotOn, domainId: null, firstSlot };
    }
    const nothing = { claim: 'nothing', providerId: null, takesSlotOn: null } as const;
    if (shown.providerCode === null) return { ...nothing, domainId: null, firstSlot: null };
    const provider = find.provider.get({ providerCode: shown.providerCode });
    if (provider === null) return 'provider_not_found';
    if (shown.kind === 'nothing') return { ...nothing, domainId: null, firstSlot: null };
    const providerId = provider.id;
    const bound = find.activeDomain.get({ ...shown, providerId });
    if (bound === null) return 'domain_not_bound';
    const firstSlot = on.firstSlot.get({ deviceId, providerId });
    const claim = firstSlot === null ? 'binding' : 'later';
    return { claim, providerId, takesSlotOn: null, domainId: bound.id, firstSlot };
  }

  function verdictOn({ claim, providerId, firstSlot }: Evidence, deviceId: number, heldId: number) {
    const place = providerId === null ? null : on.place.get({ deviceId, providerId });
    const nobodysId = providerId === null ? on.nobodys.get({ deviceId })?.tokenId : undefined;
    const tokenId = place?.tokenId ?? nobodysId ?? null;
    // With nothing shown, a token speaks for all the places that it holds.
    const isOwn = heldId !== 0 && (tokenId === heldId || claim === 'nothing');
    const holder: Holder = isOwn ? 'token_shown' : tokenId === null ? 'nobody' : 'other_token';
    return judge(claim, holder, {
      isByLink: place?.isByLink === 1,
      isYoungerThanSlot: firstSlot !== null && firstSlot.id <= (place?.afterSlotId ?? 0),
    });
  }

  /** Links the device through what it shows, and keeps what it says. */
  function link(deviceId: number, evidence: Evidence, wanted: NewRegistration, heldId: number) {
    const { facts, shown, nowMs } = wanted;
    const { providerId, takesSlotOn, domainId } = evidence;
    if (providerId === null) {
      keep.keepOwnFacts(deviceId, facts);
      if (shown.kind === 'nothing' && shown.providerCode !== null) {
        const named = find.provider.get({ providerCode: shown.providerCode })?.id ?? 0;
        const holds = on.place.get({ deviceId, providerId: named })?.tokenId === heldId;
        keep.keepFacts(deviceId, named, facts, nowMs, holds ? mergeFacts : mergeClaims);
      }
      return;
    }
    keep.keepFacts(deviceId, providerId, facts, nowMs, mergeFacts);
    if (domainId !== null) keep.tie(deviceId, providerId, domainId, nowMs);
    if (takesSlotOn !== null) {
      slots.takeSlot.run({ installId: takesSlotOn, deviceId, providerId, registeredAtMs: nowMs });
    }
  }

  return {
    registerDevice: (wanted) =>
      writer.run(() => {
        const { hwid, shown, tokenHash, locale, heldTokenHash, nowMs } = wanted;
        const known = find.deviceId.get({ hwid })?.id ?? 0;
        const evidence = evidenceOf(shown, known);
        if (typeof evidence === 'string') return evidence;
        const held = heldTokenHash && tokens.find.get({ tokenHash: heldTokenHash });
        const heldId = held !== null && held.id === known ? held.tokenId : 0;
        const verdict = verdictOn(evidence, known, heldId);
        if (verdict === 'refused') return 'registration_refused';

        const deviceId = keep.see(hwid, nowMs);
        link(deviceId, evidence, wanted, heldId);
        const row = { tokenHash, locale, push: wanted.push && JSON.stringify(wanted.push) };
        let tokenId = heldId;
        if (heldId === 0) tokenId = (tokens.add.get({ deviceId, ...row }) as { id: number }).id;
        else tokens.renew.run({ id: heldId, ...row });
        const { providerId } = evidence;
        if (providerId !== null) {
          const place = { deviceId, providerId, tokenId };
          if (verdict === 'granted') on.grant.run(place);
          else if (verdict !== 'kept') {
            const slot = on.firstSlot.get({ deviceId, providerId });
            on.grantByLink.run({ ...place, afterRecipientId: slot?.afterRecipientId ?? 0 });
          }
        }
        // Last: the token that lost its place may have held this one along with it.
        tokens.takeNobodys.run({ id: tokenId, standsAlone: providerId === null ? 1 : 0 });
        return { deviceId };
      }),

    findDeviceByToken: async (tokenHash) => tokens.find.get({ tokenHash }),
  };
}
