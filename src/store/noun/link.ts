/** Limited links and their slots, for the provider that owns them. */

import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Act } from '../../core/port/audit.ts';
import type { KeyedCall, KeyRefusal, Made } from '../../core/port/idempotency.ts';
import {
  type AddRefusal,
  INSTALL_ACTIVE,
  INSTALL_DISABLED,
  type Link,
  type LinkChange,
  type LinkSelector,
  type LinkStore,
  type NewLink,
} from '../../core/port/link.ts';
import type { NamedHwid } from '../../core/port/named-hwid.ts';
import type { Slot } from '../../core/port/slot.ts';
import { movedShown } from '../../core/unconfirmed.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { endedSteps } from './ended.ts';
import { onceSteps } from './idempotency.ts';
import { KEEPS_LIMIT, linkStatements, setLink, termsColumns } from './link-rows.ts';
import { lookUpStatements, slotSeen, withDevice } from './look-ups.ts';
import { namedRows } from './named-hwid-rows.ts';
import { namedSteps } from './named-hwid-steps.ts';
import { FACTS_SUPERSEDED } from './panel-link.ts';
import { shared } from './shared.ts';
import { slotSteps } from './slot.ts';
import { slotEndSteps } from './slot-end.ts';
import { endedCode, tombstoneSteps } from './tombstone.ts';
import { buttonSteps } from './unconfirmed.ts';

export const INSTALL_COLUMNS = columns(
  'install',
  `id, installCode, installLimit, deviceCount, status, note,
  createdAtMs`,
);

interface Room {
  installCount: number;
  takenBy: number | null;
  /** Provider that removed or revoked a link with the code; null: none did. */
  endedOf: number | null;
}

function statements(backend: Backend) {
  const { prepare, once } = backend;
  const ofProvider = sql`provider_id = :providerId`;
  const byId = sql`WHERE id = :id AND ${ofProvider}`;
  const links = sql`SELECT ${INSTALL_COLUMNS} FROM install`;
  return {
    /** Number of links of a locked provider; the link and the tombstone with a code. */
    room: prepare(sql`
        SELECT ${columns('provider', 'installCount')},
          ${values<{ takenBy: Room['takenBy']; endedOf: Room['endedOf'] }>({
            takenBy: sql`(SELECT id FROM install WHERE install_code = :installCode)`,
            endedOf: sql`(
              SELECT provider_id FROM install_tombstone WHERE install_code = :installCode)`,
          })}
        FROM provider WHERE id = :providerId ${backend.locked}`),
    change: prepare(sql`
        UPDATE install SET ${setLink(backend)} ${byId} AND (device_count <= :installLimit
          OR ${KEEPS_LIMIT} OR :asTheyLeave = 1)`),
    /** From now on the link is disabled by its provider: see `DISABLED_BY_IMPORT`. */
    disabledHere: prepare(sql`
        UPDATE install SET panel_facts = ${FACTS_SUPERSEDED}
        WHERE id = :id AND panel_facts IS NOT NULL`),
    markOfGate: prepare(sql`UPDATE install SET of_gate = 1 WHERE id = :id`),
    find: prepare(sql`${links} ${byId}`),
    lock: prepare(sql`
        SELECT ${INSTALL_COLUMNS}, ${termsColumns(backend)},
          ${columns('install', 'limitWanted')} FROM install ${byId}
        ${backend.locked}`),
    findByCode: prepare(sql`
        ${links} WHERE install_code = :installCode AND ${ofProvider}`),
    findByKey: prepare(sql`
        ${links} WHERE subscription_key_hash = ${backend.bytes('subscriptionKeyHash')}
          AND ${ofProvider}`),
    list: prepare(sql`
        ${links} WHERE provider_id = ${once('providerId')} AND id < ${once('beforeId')}
        ORDER BY id DESC LIMIT ${once('countMax')}`),
  };
}

/** Statements about the slots of a link, with the provider's facts about the devices. */
function slotStatements(backend: Backend) {
  const { prepare, join, once } = backend;
  const ofLink = sql`
    SELECT ${columns(
      { d: 'device', p: 'device_provider', s: 'install_device' },
      'd.hwid, p.deviceName, s.registeredAtMs',
    )},
      ${values<{ lastSeenAtMs: number }>({ lastSeenAtMs: slotSeen(backend) })}
    FROM install_device s ${join} device d ON d.id = s.device_id ${withDevice(backend)}
    WHERE s.install_id = ${once('installId')}`;
  const byHwid = sql`(SELECT id FROM device WHERE hwid = :hwid)`;
  return {
    listSlots: prepare(sql`${ofLink} ORDER BY s.id DESC LIMIT ${once('countMax')}`),
    findSlotByHwid: prepare(sql`${ofLink} AND s.device_id = ${byHwid}`),
    slotOf: prepare(sql`
        SELECT ${columns('install_device', 'id AS slotId')} FROM install_device
        WHERE install_id = :installId AND device_id = ${byHwid}`),
  };
}

type On = ReturnType<typeof statements> & ReturnType<typeof linkStatements>;

/** Steps that add a link, alone or with the slot of a first device. */
function addition(backend: Backend, on: On): Pick<LinkStore, 'addLink' | 'addLinkWithSlot'> {
  const { activeDomain } = lookUpStatements(backend);
  const { enterLink } = slotSteps(backend);
  const tombstones = tombstoneSteps(backend);
  const once = onceSteps(backend);
  const buttons = buttonSteps(backend);

  function* add(notes: Notes, draft: NewLink, act: Act): Step<{ id: number } | AddRefusal> {
    const { isOfGate = false, ...more } = draft;
    const { providerId, installLimit, installCountMax: limit } = draft;
    const row = { ...more, id: null, status: INSTALL_ACTIVE };
    const room = yield* on.room.get(row);
    if (room === null) throw new Error(`provider ${providerId} was removed meanwhile`);
    if (room.takenBy !== null) return 'install_code_exists';
    if (room.endedOf !== null) return endedCode(room.endedOf, providerId);
    const { subscriptionKeyHash: key } = draft;
    // Most links have no key.
    if (key !== null) {
      if ((yield* on.otherWithKey.get(row)) !== null) return 'subscription_key_exists';
      const endedKey = yield* tombstones.find(providerId, { subscriptionKeyHash: key });
      if (endedKey !== null) return endedKey;
    }
    if (room.installCount >= limit) return 'install_code_limit_reached';
    const id = yield* on.add.insert(row);
    if (isOfGate) yield* on.markOfGate.run({ id });
    if ((draft.supportUrl ?? draft.webPageUrl) !== null) yield* buttons.added(id, act);
    notes.audit(act, deeds.addLink(id, draft), providerId);
    notes.figure(providerId, 'links', act.atMs);
    notes.event(providerId, act.atMs, () => happenings.linkCreated({ id, installLimit }));
    notes.quota(providerId, 'links', { used: room.installCount + 1, limit }, act.atMs);
    return { id };
  }

  /** One generator for all calls: declaring one in each call takes 0.2 us and 1 KB more. */
  function* addOnce(
    notes: Notes,
    draft: NewLink,
    act: Act,
    keyed: KeyedCall | null | undefined,
  ): Step<Made | AddRefusal | KeyRefusal> {
    const { installCode, providerId } = draft;
    // In a separate statement, so that the next one sees links of other nodes.
    yield* backend.lockProvider(providerId);
    if (!keyed) return yield* add(notes, draft, act);
    return yield* once(providerId, keyed, act.atMs, function* (): Step<Made | AddRefusal> {
      const added = yield* add(notes, draft, act);
      return typeof added === 'string' ? added : { ...added, installCode };
    });
  }

  return {
    addLink: (draft, act, keyed) => backend.write((notes) => addOnce(notes, draft, act, keyed)),

    addLinkWithSlot: (draft, key, facts, act) =>
      backend.write(function* (notes) {
        const { providerId } = draft;
        yield* backend.lockProvider(providerId);
        const entered = yield* enterLink(notes, key, facts, act.atMs);
        if (typeof entered !== 'string') return entered;
        const { domainHash } = key;
        if ((yield* activeDomain.get({ providerId, domainHash })) === null) {
          return 'link_domain_not_bound';
        }
        const added = yield* add(notes, { ...draft, isOfGate: true }, act);
        if (added === 'install_code_exists' || added === 'install_code_limit_reached') return added;
        if (added === 'install_code_ended') return 'install_code_exists';
        if (added === 'subscription_key_ended') return 'link_not_found';
        const first =
          typeof added === 'string'
            ? added
            : yield* enterLink(notes, { ...key, isFirst: true }, facts, act.atMs);
        if (typeof first === 'string') {
          throw new Error('the key at the door is not that of the link');
        }
        return 'says' in first ? first : { ...first, isNew: true };
      }),
  };
}

/** Finds the provider's link; given both a code and an id, only if both name the same link. */
function* select(on: SlotsOn, providerId: number, selector: LinkSelector): Step<Link | null> {
  const { installCode, installId } = selector;
  if (installCode === null) return yield* on.find.get({ providerId, id: installId });
  const found = yield* on.findByCode.get({ providerId, installCode });
  return installId === null || found?.id === installId ? found : null;
}

type SlotsOn = On & ReturnType<typeof slotStatements>;

/** Adds named HWIDs to slots, in the order of their times. */
function withNamed(slots: readonly Slot[], named: readonly NamedHwid[]): Slot[] {
  const waiting = named.map(({ hwid, deviceName, namedAtMs }) => ({
    hwid,
    deviceName,
    registeredAtMs: namedAtMs,
    lastSeenAtMs: namedAtMs,
    isNamed: true,
  }));
  return [...slots, ...waiting].sort((one, other) => other.registeredAtMs - one.registeredAtMs);
}

/** The changes of a link by its provider, whose row the caller has locked. */
export function linkChangeSteps(backend: Backend, on: SlotsOn = linkOn(backend)) {
  const { lockSlots, endSlot } = slotEndSteps(backend);
  const { turned } = endedSteps(backend);
  const names = namedSteps(backend);
  const buttons = buttonSteps(backend);
  return {
    /** `isChanged`: false if the link had these values before. */
    *update(
      notes: Notes,
      {
        providerId,
        id,
        change: { asTheyLeave = false, ...wanted },
      }: { providerId: number; id: number; change: LinkChange },
      act: Act,
    ): Step<
      | { installCode: string; isChanged: boolean }
      | 'install_not_found'
      | 'install_limit_below_count'
      | 'subscription_key_exists'
    > {
      const row = yield* on.lock.get({ providerId, id });
      if (row === null) return 'install_not_found';
      const known = { ...row, installLimit: row.limitWanted ?? row.installLimit };
      const after = { ...known, ...wanted, providerId, asTheyLeave: asTheyLeave ? 1 : 0 };
      const hasKey = after.subscriptionKeyHash !== null;
      if (hasKey && (yield* on.otherWithKey.get(after)) !== null) {
        return 'subscription_key_exists';
      }
      const moves = movedShown(known, after).length > 0;
      const buttonsBefore = moves ? yield* buttons.ofLink(id) : null;
      if ((yield* on.change.run(after)) === 0) return 'install_limit_below_count';
      if (buttonsBefore !== null) {
        yield* buttons.changed(notes, providerId, id, buttonsBefore, after, act);
      }
      const isDisabling = after.status === INSTALL_DISABLED && known.status !== INSTALL_DISABLED;
      if (isDisabling) yield* on.disabledHere.run({ id });
      if (after.status !== known.status) {
        yield* turned(notes, { installId: id, isDisabled: isDisabling }, act.atMs);
      }
      const deed = deeds.updateLink(known, after);
      notes.audit(act, deed, providerId);
      if (deed !== null) {
        const held = Math.min(row.installLimit, row.deviceCount);
        const link = { ...after, installLimit: Math.max(after.installLimit, held) };
        notes.event(providerId, act.atMs, () => happenings.linkUpdated(link, deed));
      }
      return { installCode: known.installCode, isChanged: deed !== null };
    },

    *free(
      notes: Notes,
      { providerId, selector, hwid }: { providerId: number; selector: LinkSelector; hwid: string },
      act: Act,
    ): Step<{ deviceCount: number } | 'install_code_error'> {
      const found = yield* select(on, providerId, selector);
      const link = found && (yield* on.lock.get({ providerId, id: found.id }));
      if (link === null) return 'install_code_error';
      const installId = link.id;
      const slot = yield* on.slotOf.get({ installId, hwid });
      if (slot === null) {
        if (!(yield* names.free({ installId, hwid }))) return { deviceCount: link.deviceCount };
        notes.audit(act, deeds.freeSlot(installId, hwid), providerId);
        return { deviceCount: link.deviceCount - 1 };
      }
      const row = { ...slot, installId, providerId };
      yield* lockSlots([row]);
      const { kind, name: actor } = act.actor;
      const why = { why: 'deleted', actor, isByUser: kind === 'user', forDeviceId: null } as const;
      yield* endSlot(notes, row, { ...why, nowMs: act.atMs });
      notes.audit(act, deeds.freeSlot(installId, hwid), providerId);
      return { deviceCount: link.deviceCount - 1 };
    },
  };
}

const linkOn = shared((backend: Backend): SlotsOn => {
  return { ...statements(backend), ...slotStatements(backend), ...linkStatements(backend) };
});

/** Finds links by what a caller gives, and locks them after their provider. */
export const linkSelection = shared((backend: Backend) => {
  const on = linkOn(backend);
  return {
    select: (providerId: number, selector: LinkSelector) => select(on, providerId, selector),
    lock: (providerId: number, id: number) => on.lock.get({ providerId, id }),
  };
});

export function linkNoun(backend: Backend): LinkStore {
  const on = linkOn(backend);
  const steps = linkChangeSteps(backend, on);
  const names = namedRows(backend);

  return {
    ...addition(backend, on),

    updateLink: (providerId, id, change, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const updated = yield* steps.update(notes, { providerId, id, change }, act);
        if (typeof updated === 'string') return updated;
        return { says: 'ok', installCode: updated.installCode };
      }),

    listLinksOf: (providerId, { id, beforeId, countMax }) => {
      const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (id !== null) return id < bound ? backend.read(() => on.find.all({ providerId, id })) : [];
      return backend.read(() => on.list.all({ providerId, beforeId: bound, countMax }));
    },

    findLinkByKey: (providerId, subscriptionKeyHash) =>
      backend.read(() => on.findByKey.get({ providerId, subscriptionKeyHash })),

    listSlots: (providerId, selector, hwid, countMax) =>
      backend.read(function* () {
        const link = yield* select(on, providerId, selector);
        if (link === null) return 'install_code_error';
        const installId = link.id;
        const [slots, named] = yield* backend.together([
          () =>
            hwid === null
              ? on.listSlots.all({ installId, countMax })
              : on.findSlotByHwid.all({ installId, hwid }),
          () =>
            hwid === null ? names.list.all({ installId }) : names.listOne.all({ installId, hwid }),
        ]);
        return named.length === 0 ? slots : withNamed(slots, named).slice(0, countMax);
      }),

    freeSlot: (providerId, selector, hwid, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        return yield* steps.free(notes, { providerId, selector, hwid }, act);
      }),
  };
}
