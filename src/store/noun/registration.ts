/** Registrations of devices for messages: checks their evidence and gives them places. */

import { mergeFacts, mergeUnproven } from '../../core/device.ts';
import {
  FREE_PLACE,
  type Place,
  placeAfter,
  registrationOutcome,
} from '../../core/message/registration-rule.ts';
import type { NewRegistration, RegisterRefusal } from '../../core/port/registration.ts';
import type { PhoneSight, SlotKey } from '../../core/port/slot.ts';
import type { Store } from '../../core/port/store.ts';
import { type Admission, isAdmitted, judge as judgeAtDoor } from '../../core/slot.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { type DoorHere, doorSteps, factsAt } from './door.ts';
import { knownDeviceSteps } from './known-device.ts';
import { lookUpStatements } from './look-ups.ts';
import { phoneSavingSteps } from './phone-saving.ts';
import { pushSteps } from './push-steps.ts';
import { slotSteps } from './slot.ts';
import { tokenStatements } from './token.ts';

type ShownRefusal = Exclude<RegisterRefusal, 'registration_refused'>;

/** Valid evidence of a registration. */
interface Evidence {
  /** Provider of the place that is claimed; null: the unattached place. */
  providerId: number | null;
  /** The link that admits the device, and how it does so. */
  entry: {
    door: DoorHere;
    admission: Admission;
    hwid: string;
    sight: PhoneSight | undefined;
  } | null;
  domainId: number | null;
  /** A provider that the device named without evidence. */
  namedId: number | null;
}

type PlaceRow = Omit<Place, 'isByLink' | 'isOnLink'> & { isByLink: number; isOnLink: number };

function placeStatements({ prepare }: Backend) {
  const slotColumns = columns('install_device', 'id, installId, afterRecipientId');
  /** The home link after the write: the link that claims the place, else the present one. */
  const to = sql`coalesce(CAST(:installId AS bigint), home_install_id)`;
  const atPlace = sql`device_id = :deviceId AND provider_id = :providerId`;
  return {
    firstSlot: prepare(sql`
        SELECT ${slotColumns} FROM install_device WHERE ${atPlace} ORDER BY id LIMIT 1`),
    slotOn: prepare(sql`
        SELECT ${slotColumns} FROM install_device
        WHERE install_id = :installId AND device_id = :deviceId`),
    place: prepare(sql`
        SELECT ${columns(
          { p: 'device_provider' },
          `p.tokenId, p.isByLink, p.claimInstallId AS installId, p.claimEndedAtMs AS endedAtMs,
              p.afterSlotId, p.afterRecipientId`,
        )},
          ${values<{
            tokenSeenAtMs: PlaceRow['tokenSeenAtMs'];
            isOnLink: PlaceRow['isOnLink'];
          }>({
            tokenSeenAtMs: sql`coalesce(
              (SELECT t.last_seen_at_ms FROM device_token t WHERE t.id = p.token_id),
              p.claim_ended_at_ms, 0)`,
            isOnLink: sql`CAST(EXISTS (SELECT 1 FROM install_device s
            WHERE s.install_id = p.claim_install_id AND s.device_id = p.device_id) AS integer)`,
          })} FROM device_provider p WHERE ${atPlace}`),
    setPlace: prepare(sql`
        UPDATE device_provider SET token_id = :tokenId, is_by_link = :isByLink,
          claim_install_id = :installId, claim_ended_at_ms = NULL, after_slot_id = :afterSlotId,
          after_recipient_id = :afterRecipientId,
          home_moved_at_ms = CASE WHEN home_install_id IS DISTINCT FROM ${to} THEN :nowMs
            ELSE home_moved_at_ms END, home_install_id = ${to},
          home_left_at_ms = CASE WHEN CAST(:installId AS bigint) IS NULL THEN home_left_at_ms END
        WHERE ${atPlace} AND token_id IS NOT DISTINCT FROM CAST(:judgedTokenId AS bigint)`),
    newest: prepare(sql`
        SELECT ${values<{ recipientId: number; slotId: number }>({
          recipientId: sql`(SELECT coalesce(max(id), 0) FROM recipient)`,
          slotId: sql`(SELECT coalesce(max(id), 0) FROM install_device)`,
        })}`),
  };
}

/**
 * Returns the step that finds the evidence or its refusal. The link of the evidence stays locked.
 */
function evidenceStep(backend: Backend) {
  const find = lookUpStatements(backend);
  const { findDoorLocked } = doorSteps(backend);
  const phones = phoneSavingSteps(backend);
  const nothing = { providerId: null, entry: null, domainId: null, namedId: null };

  /** Returns what names the device: a token that it shows, or else the facts of its phone. */
  function* whoAsks({
    facts,
    heldTokenHash,
    hwid,
    isPrivate,
    nowMs,
  }: NewRegistration): Step<Pick<SlotKey, 'hwid' | 'sight'>> {
    const held = heldTokenHash && (yield* phones.holderOf(heldTokenHash, hwid));
    if (held) return { hwid: held };
    if (isPrivate) return { hwid };
    const door = 'device' as const;
    return { hwid, sight: { door, facts, isShared: false, isUnproved: false, nowMs } };
  }

  return function* evidenceOf(registration: NewRegistration): Step<Evidence | ShownRefusal> {
    const { shown, nowMs } = registration;
    if (shown.kind === 'link' || shown.kind === 'slot') {
      const who = yield* whoAsks(registration);
      const door = yield* findDoorLocked({ ...shown, ...who });
      if (typeof door === 'string') return 'link_not_found';
      const admission = judgeAtDoor(door, backend.leastMs(nowMs));
      if (!isAdmitted(admission)) return admission;
      if (shown.kind === 'slot' && admission !== 'known') return 'link_not_found';
      const hwid = door.phone?.hwid ?? who.hwid;
      const entry = { door, admission, hwid, sight: who.sight };
      return { ...nothing, providerId: door.link.providerId, entry };
    }
    if (shown.providerCode === null) return nothing;
    const provider = yield* find.provider.get({ providerCode: shown.providerCode });
    if (provider === null) return 'provider_not_found';
    const providerId = provider.id;
    if (shown.kind === 'nothing') return { ...nothing, namedId: providerId };
    const { domainHash } = shown;
    const bound = yield* find.activeDomain.get({ providerId, domainHash });
    return bound === null ? 'domain_not_bound' : { ...nothing, providerId, domainId: bound.id };
  };
}

export function registrationNoun(backend: Backend): Pick<Store, 'registerDevice'> {
  const on = placeStatements(backend);
  const tokens = tokenStatements(backend);
  const known = knownDeviceSteps(backend);
  const evidenceOf = evidenceStep(backend);
  const { takeSlot } = slotSteps(backend);
  const pushes = pushSteps(backend);
  const phones = phoneSavingSteps(backend);

  function* placeAt(deviceId: number, providerId: number): Step<Place> {
    const row = yield* on.place.get({ deviceId, providerId });
    if (row === null) return FREE_PLACE;
    return { ...row, isByLink: row.isByLink === 1, isOnLink: row.isOnLink === 1 };
  }

  function* placeOf(deviceId: number, providerId: number | null): Step<Place> {
    if (providerId !== null) return yield* placeAt(deviceId, providerId);
    const holder = yield* tokens.unattached.get({ deviceId });
    return { ...FREE_PLACE, tokenId: holder?.id ?? null };
  }

  /** Attaches the device as its evidence allows, and saves the facts that it reports. */
  function* attach(
    notes: Notes,
    deviceId: number,
    { providerId, entry, domainId, namedId }: Evidence,
    { facts, nowMs }: NewRegistration,
    heldId: number | null,
  ): Step<void> {
    if (providerId === null) {
      yield* known.keepOwnFacts(deviceId, facts);
      if (namedId === null) return;
      const isHolder = heldId !== null && (yield* placeAt(deviceId, namedId)).tokenId === heldId;
      const merge = isHolder ? mergeFacts : mergeUnproven;
      yield* known.seeAt(notes, deviceId, namedId, facts, nowMs, merge);
      yield* known.checkIn(deviceId, namedId, nowMs);
      return;
    }
    const told = entry === null ? facts : factsAt(entry.door, facts);
    if (entry !== null) {
      yield* phones.saveBefore(notes, entry.door, { sight: entry.sight, reported: told });
    }
    yield* known.seeAt(notes, deviceId, providerId, told, nowMs, mergeFacts);
    if (entry === null) yield* known.checkIn(deviceId, providerId, nowMs);
    else {
      // Not away: the registration itself sets the home of the place.
      const { admission, door, hwid, sight } = entry;
      const visitor = { deviceId, hwid, isNewHere: true };
      yield* takeSlot(notes, { ...door, isAway: false }, admission, visitor, nowMs);
      yield* phones.saveAfter(notes, door, { sight, reported: told }, deviceId);
    }
    if (domainId !== null) yield* known.tie(deviceId, providerId, domainId, nowMs);
  }

  /** Gives a token the place that the verdict allows. */
  function* takePlace(
    key: { deviceId: number; providerId: number; installId: number | null; nowMs: number },
    verdict: Parameters<typeof placeAfter>[0],
    before: Place,
    tokenId: number,
  ): Step<void> {
    const { deviceId, providerId, installId, nowMs } = key;
    const slot = installId === null ? null : yield* on.slotOn.get({ deviceId, installId });
    const newest = yield* on.newest.get();
    if (newest === null) throw new Error('a query of one row returned none');
    const place = placeAfter(verdict, before, tokenId, slot, newest);
    if (place === before) return;
    const { afterSlotId, afterRecipientId } = place;
    const count = yield* on.setPlace.run({
      deviceId,
      providerId,
      judgedTokenId: before.tokenId,
      tokenId: place.tokenId,
      isByLink: place.isByLink ? 1 : 0,
      installId: place.installId,
      afterSlotId,
      afterRecipientId,
      nowMs,
    });
    if (count === 0) throw new Error('a place changed while it was judged');
  }

  return {
    registerDevice: (wanted) =>
      backend.write(function* (notes) {
        const { tokenHash, locale, heldTokenHash, nowMs } = wanted;
        const evidence = yield* evidenceOf(wanted);
        if (typeof evidence === 'string') return evidence;
        const { providerId, entry } = evidence;
        const hwid = entry?.hwid ?? wanted.hwid;
        const ageMs = backend.leastMs(nowMs);
        // The device stays locked from here on; a refusal rolls this back.
        const deviceId = yield* known.see(hwid, nowMs);
        const held =
          heldTokenHash && (yield* tokens.held.get({ tokenHash: heldTokenHash, deviceId }));
        const heldId = held?.id ?? null;
        const place = yield* placeOf(deviceId, providerId);
        const isClaim = providerId !== null;
        const firstSlot = isClaim ? yield* on.firstSlot.get({ deviceId, providerId }) : null;
        const installId = entry?.door.link.installId ?? null;
        const shown = isClaim ? (installId ?? 'binding') : 'nothing';
        const verdict = registrationOutcome({
          shown,
          place,
          firstSlot,
          shownTokenId: heldId,
          isOnce: wanted.shown.kind === 'slot',
          nowMs: ageMs,
        });
        if (verdict === 'refused') return notes.refuse('registration_refused');

        yield* attach(notes, deviceId, evidence, wanted, heldId);
        const push = wanted.push && JSON.stringify(wanted.push);
        const row = { tokenHash, locale, push, nowMs };
        if (heldId !== null) yield* tokens.renew.run({ id: heldId, ...row });
        const tokenId = heldId ?? (yield* tokens.add.insert({ deviceId, ...row }));
        if (isClaim) {
          yield* takePlace({ deviceId, providerId, installId, nowMs }, verdict, place, tokenId);
        }
        // Last, because the token that lost its place may have had this one too.
        yield* tokens.takeUnattached.run({ id: tokenId, standsAlone: isClaim ? 0 : 1 });
        yield* pushes.follow(notes, deviceId, nowMs);
        // Ends streams of a replaced token on all nodes.
        if (heldId !== null || place.tokenId !== null) notes.changed([deviceId]);
        return { deviceId };
      }),
  };
}
