/** Records that move in. A link moves in as one step together with its HWIDs. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { mergeFacts } from '../../core/device.ts';
import { hashInHwid, isSharedHwid, sharedHwid } from '../../core/formats.ts';
import { merge, mergeInstall } from '../../core/moving/merge.ts';
import type { Act } from '../../core/port/audit.ts';
import type { DeviceAtProvider, DeviceFacts } from '../../core/port/device.ts';
import type { Install, InstallTerms } from '../../core/port/install.ts';
import type { ImportedInstall, ImportedSlot, ImportStore } from '../../core/port/moving.ts';
import { hwidHash } from '../../core/secret.ts';
import { NO_TERMS } from '../../core/slot.ts';
import { type Backend, type Notes, type Step, value } from '../backend.ts';
import { bindingStatements } from './domain.ts';
import { linkStatements, setLink, termsColumns } from './install-rows.ts';
import { knownDeviceSteps } from './known-device.ts';
import { tombstoneSteps } from './tombstone.ts';

type ImportNoun = Pick<ImportStore, 'reserveIds' | 'importInstall' | 'importDomain'>;
type Imported = Awaited<ReturnType<ImportNoun['importInstall']>>;

/** A link that moves in to a provider. */
interface MovingLink {
  providerId: number;
  install: ImportedInstall;
  rules: Parameters<ImportNoun['importInstall']>[2];
  act: Act;
}

type KnownInstall = Pick<Install, 'id' | 'installLimit' | 'deviceCount' | 'status' | 'note'> &
  InstallTerms & { providerId: number };

function statements(backend: Backend) {
  const { among, locked, prepare } = backend;
  const isTaken = (table: 'install' | 'domain') =>
    prepare<{ id: number }>(sql`SELECT id FROM ${sql.raw(table)} WHERE id = ${value('id')}`);
  return {
    lockLinks: backend.lockOnly(sql`
        SELECT id FROM install WHERE install_code ${among('codes', 'text')}
        ORDER BY id ${locked}`),
    lockDevices: backend.lockOnly(sql`
        SELECT id FROM device WHERE hwid ${among('hwids', 'text')} ORDER BY hwid ${locked}`),
    find: prepare<KnownInstall>(sql`
        SELECT id, provider_id AS "providerId", install_limit AS "installLimit",
          device_count AS "deviceCount", status, note, ${termsColumns(backend)}
        FROM install WHERE install_code = ${value('installCode')} ${locked}`),
    change: prepare(sql`UPDATE install SET ${setLink(backend)} WHERE id = ${value('id')}`),
    replaced: prepare(sql`
        UPDATE install SET replaced_at_ms = ${value('replacedAtMs')} WHERE id = ${value('id')}`),
    over: prepare(sql`UPDATE install SET over_max = ${value('overMax')} WHERE id = ${value('id')}`),
    /** Makes doors look for hashes of HWIDs. */
    markHashes: prepare(sql`UPDATE install SET has_hashes = 1 WHERE id ${among('ids')}`),
    held: prepare<{ hwid: string }>(sql`
        SELECT d.hwid AS hwid FROM install_device s ${backend.join} device d ON d.id = s.device_id
        WHERE s.install_id = ${backend.once('installId')}`),
    installIdIsTaken: isTaken('install'),
    domainIdIsTaken: isTaken('domain'),
  };
}

/** Chooses the other way round than for a call of a device: its facts here are later. */
const knownWins = (known: DeviceAtProvider, moved: DeviceFacts) => mergeFacts(moved, known);

/** A slot to add to a link, which is locked. */
interface NewSlot {
  installId: number;
  providerId: number;
  slot: ImportedSlot;
  nowMs: number;
}

const byHwid = ({ slot: a }: NewSlot, { slot: b }: NewSlot) =>
  Number(a.hwid > b.hwid) - Number(a.hwid < b.hwid);

/** Returns the steps that choose and add slots. */
function slotImport(backend: Backend) {
  const rows = linkStatements(backend);
  const keep = knownDeviceSteps(backend);
  const { held, markHashes } = statements(backend);
  /** Links come in the order of their ids, and the newer one may have had the device first. */
  const firstHomes = backend.prepare(sql`
      UPDATE device_provider AS p SET home_install_id = (
        SELECT s.install_id FROM install_device s
        WHERE s.device_id = p.device_id AND s.provider_id = p.provider_id
        ORDER BY s.registered_at_ms, s.id LIMIT 1)
      WHERE p.provider_id = ${value('providerId')} AND p.device_id ${backend.among('deviceIds')}
        AND p.slot_count > 1 AND p.token_id IS NULL
        AND p.home_left_at_ms IS NULL AND p.home_moved_at_ms = 0`);

  function keepFacts(slot: ImportedSlot, deviceId: number, providerId: number): Step<unknown> {
    const { os, osVersion, deviceName, appVersion, userAgent, lastSeenAtMs } = slot;
    const facts = { os, osVersion, deviceName, appVersion, userAgent };
    const seenAfter = (beforeMs: number | null) => Math.max(beforeMs ?? 0, lastSeenAtMs);
    return keep.keepFacts(deviceId, providerId, facts, seenAfter, knownWins);
  }

  return {
    /** Chooses the HWIDs that a link, which is locked, lacks and has room for. */
    *choose(
      { installId, isNew }: { installId: number; isNew: boolean },
      room: number,
      imported: readonly ImportedSlot[],
    ) {
      // The link may have another id than where it comes from.
      const slots = imported.map((slot) =>
        isSharedHwid(slot.hwid) ? { ...slot, hwid: sharedHwid(installId) } : slot,
      );
      const here = isNew || slots.length === 0 ? [] : yield* held.all({ installId });
      // A HWID and its hash are one device.
      const known = [...here, ...slots];
      const isByHash = known.some(({ hwid }) => hashInHwid(hwid) !== null);
      const nameOf = ({ hwid }: { hwid: string }) => (isByHash ? hwidHash(hwid) : hwid);
      const names = new Set(here.map(nameOf));
      const missing = slots.filter((slot) => !names.has(nameOf(slot)) && names.add(nameOf(slot)));
      const added = missing.slice(0, Math.max(0, room));
      const counts = {
        slotsAdded: added.length,
        slotsPresent: slots.length - missing.length,
        slotsWithoutRoom: missing.length - added.length,
      };
      return { added, counts };
    },

    /** Adds the slots of several links. New devices are added in the order of locks. */
    *add(slots: readonly NewSlot[]): Step<void> {
      const ids = new Map<string, number>();
      yield* backend.together(
        slots.toSorted(byHwid).map(
          ({ slot: { hwid, firstSeenAtMs, lastSeenAtMs } }) =>
            function* () {
              ids.set(hwid, yield* keep.seeImported(hwid, firstSeenAtMs, lastSeenAtMs));
            },
        ),
      );
      const idOf = ({ hwid }: ImportedSlot) => ids.get(hwid) as number;
      const byPlace = Map.groupBy(slots, ({ slot, providerId }) => `${providerId} ${slot.hwid}`);
      yield* backend.together(
        [...byPlace.values()].map(
          (own) =>
            function* () {
              for (const { slot, providerId } of own)
                yield* keepFacts(slot, idOf(slot), providerId);
            },
        ),
      );
      // Triggers count a slot at the device's provider, which knows the device by now.
      yield* backend.together(
        slots.map(({ installId, providerId, slot, nowMs }) => () => {
          const { registeredAtMs, slotSeenAtMs: lastSeenAtMs = nowMs } = slot;
          const times = { registeredAtMs, lastSeenAtMs };
          return rows.takeSlot.run({ installId, deviceId: idOf(slot), providerId, ...times });
        }),
      );
      const hashed = slots.filter(({ slot }) => hashInHwid(slot.hwid) !== null);
      if (hashed.length > 0) {
        yield* markHashes.run({ ids: [...new Set(hashed.map(({ installId }) => installId))] });
      }
      for (const [providerId, own] of Map.groupBy(slots, (slot) => slot.providerId)) {
        yield* firstHomes.run({ providerId, deviceIds: own.map(({ slot }) => idOf(slot)) });
      }
    },
  };
}

function linkImport(backend: Backend) {
  const on = { ...statements(backend), ...linkStatements(backend) };
  const slots = slotImport(backend);
  const tombstones = tombstoneSteps(backend);

  /**
   * Returns the imported terms; with the link's own key if another link has the imported one, or a
   * removed link had it.
   */
  function* termsHere(
    wanted: InstallTerms | undefined,
    known: Pick<KnownInstall, 'subscriptionKeyHash' | 'providerId'> & { id: number | null },
  ): Step<InstallTerms | undefined> {
    if (wanted === undefined || wanted.subscriptionKeyHash === null) return wanted;
    const { subscriptionKeyHash } = wanted;
    const { id, providerId } = known;
    const isFree =
      (yield* on.otherWithKey.get({ ...wanted, providerId, id })) === null &&
      (yield* tombstones.find(providerId, { subscriptionKeyHash })) === null;
    return isFree ? wanted : { ...wanted, subscriptionKeyHash: known.subscriptionKeyHash };
  }

  function* update(
    notes: Notes,
    known: KnownInstall,
    { install, rules, act }: MovingLink,
    newSlots: NewSlot[],
  ): Step<Imported> {
    const { installLimit, status, note, terms } = install;
    const { id, deviceCount, providerId } = known;
    const wanted = { installLimit, status, note, ...(yield* termsHere(terms, known)) };
    const { was, after } = mergeInstall(known, wanted, rules.updates);
    if (was === 'updated') yield* on.change.run({ ...after });
    const room = after.installLimit - deviceCount;
    const of = { installId: id, providerId, nowMs: act.atMs };
    const { added, counts } = yield* slots.choose({ ...of, isNew: false }, room, install.slots);
    newSlots.push(...added.map((slot) => ({ ...of, slot })));
    notes.audit(act, deeds.importInstall(known, after, counts.slotsAdded), providerId);
    return { was, id, ...counts };
  }

  /** Imports a link; its new slots go into `newSlots`. */
  function* importLink(notes: Notes, moving: MovingLink, newSlots: NewSlot[]): Step<Imported> {
    const { providerId, install, rules, act } = moving;
    const { slots: wanted, id, terms, replacedAtMs, overMax = 0, ...facts } = install;
    const known = yield* on.find.get({ installCode: facts.installCode });
    if (known !== null) {
      if (known.providerId !== providerId) return 'install_code_exists';
      return yield* update(notes, known, moving, newSlots);
    }
    const ended = yield* tombstones.find(providerId, { installCode: facts.installCode });
    if (ended !== null) return ended === 'install_code_ended' ? ended : 'install_code_exists';
    const owner = yield* on.countOf.get({ providerId });
    if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
    if (owner.installCount >= rules.installCountMax) return 'install_code_limit_reached';
    const isFree = id !== null && (yield* on.installIdIsTaken.get({ id })) === null;
    const none = { ...NO_TERMS, providerId, id: null };
    const added = { ...none, ...facts, ...(yield* termsHere(terms, none)) };
    const installId = yield* on.add.insert({ ...added, id: isFree ? id : null });
    if (replacedAtMs !== undefined) yield* on.replaced.run({ id: installId, replacedAtMs });
    const of = { installId, providerId, nowMs: act.atMs };
    const room = Math.max(facts.installLimit, overMax);
    const chosen = yield* slots.choose({ ...of, isNew: true }, room, wanted);
    const heldCount = chosen.added.length;
    if (heldCount > facts.installLimit) {
      yield* on.over.run({ id: installId, overMax: heldCount });
    }
    const { counts } = chosen;
    newSlots.push(...chosen.added.map((slot) => ({ ...of, slot })));
    const deed = deeds.importInstall(null, { ...added, id: installId }, counts.slotsAdded);
    notes.audit(act, deed, providerId);
    return { was: 'added', id: installId, ...counts };
  }

  return backend.writeInTurn<MovingLink, Imported>({
    /** Locks all that these links change, in the order of locks. */
    *begin(moving) {
      const installs = moving.map(({ install }) => install);
      const hwids = installs.flatMap(({ slots }) => slots.map(({ hwid }) => hwid));
      yield* backend.lockRows({ provider: moving.map(({ providerId }) => providerId) });
      yield* on.lockLinks.run({ codes: installs.map(({ installCode }) => installCode) });
      yield* backend.raiseIds('install', Math.max(0, ...installs.map(({ id }) => id ?? 0)));
      yield* on.lockDevices.run({ hwids });
    },
    keyOf: ({ install }) => install.installCode,
    *run(notes, moving) {
      const newSlots: NewSlot[] = [];
      const imported: Imported[] = [];
      for (const one of moving) imported.push(yield* importLink(notes, one, newSlots));
      yield* slots.add(newSlots);
      return imported;
    },
  });
}

export function importNoun(backend: Backend): ImportNoun {
  const { domainIdIsTaken } = statements(backend);
  const domains = bindingStatements(backend);
  const importLink = linkImport(backend);

  return {
    reserveIds: ({ installId, domainId }) =>
      backend.write(function* () {
        yield* backend.raiseIds('install', installId);
        yield* backend.raiseIds('domain', domainId);
      }),

    importInstall: (providerId, install, rules, act) =>
      importLink({ providerId, install, rules, act }),

    importDomain: (providerId, wanted, { domainCountMax, updates }, act) =>
      backend.write(function* (notes) {
        const { id, ...facts } = wanted;
        const { domainHash, domainName, status } = facts;
        const owner = yield* domains.countOf.get({ providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        const known = yield* domains.findByHash.get({ providerId, domainHash });
        if (known !== null) {
          const { was, after } = merge(known, { domainName, status }, updates);
          if (was === 'updated') yield* domains.change.run({ id: known.id, domainName, status });
          notes.audit(act, deeds.importDomain(known, after), providerId);
          return { was, id: known.id };
        }
        if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
        const isFree = id !== null && (yield* domainIdIsTaken.get({ id })) === null;
        yield* backend.raiseIds('domain', id ?? 0);
        const row = { ...facts, providerId, id: isFree ? id : null };
        const added = { id: yield* domains.add.insert(row) };
        notes.audit(act, deeds.importDomain(null, { ...facts, ...added }), providerId);
        return { was: 'added', id: added.id };
      }),
  };
}
