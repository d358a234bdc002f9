/** Imported records. A link is imported in one step together with its HWIDs. */

import type { SQL } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { BINDING_NAMES } from '../../core/domain-fields.ts';
import { only } from '../../core/field.ts';
import { merge } from '../../core/moving/merge.ts';
import type { Act } from '../../core/port/audit.ts';
import type { OwnBinding } from '../../core/port/domain.ts';
import { INSTALL_DISABLED, type Link, type LinkTermsAndKey } from '../../core/port/link.ts';
import type { ImportedLink, ImportStore } from '../../core/port/moving.ts';
import { NO_TERMS } from '../../core/slot.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { barSteps } from './cut-off-steps.ts';
import { bindingStatements } from './domain.ts';
import { endedSteps } from './ended.ts';
import { type NewSlot, slotImport } from './import-slot.ts';
import { linkStatements, SET_LIMIT, setLink, termsColumns } from './link-rows.ts';
import {
  FROM_PANEL,
  type FromPanel,
  isOfUser,
  panelLinkNoun,
  panelLinkSteps,
} from './panel-link.ts';
import { tombstoneSteps } from './tombstone.ts';

type ImportNoun = Omit<ImportStore, 'exportProvider'>;
type Imported = Awaited<ReturnType<ImportNoun['importLink']>>;

/** A link that is imported into a provider. */
interface MovingLink {
  providerId: number;
  install: ImportedLink;
  rules: Parameters<ImportNoun['importLink']>[2];
  act: Act;
}

type KnownLink = Pick<Link, 'id' | 'installLimit' | 'deviceCount' | 'status' | 'note'> &
  LinkTermsAndKey & { providerId: number } & FromPanel;

function statements(backend: Backend) {
  const { among, bytes, locked, prepare } = backend;
  const isTaken = (table: 'install' | 'domain') =>
    prepare(sql`SELECT ${columns(table, 'id')} FROM ${sql.raw(table)} WHERE id = :id`);
  const ofProvider = sql`provider_id = :providerId`;
  const known = (isIt: SQL) =>
    prepare(sql`
        SELECT ${columns('install', 'id, providerId, deviceCount, status, note')}, ${SET_LIMIT},
          ${termsColumns(backend)}, ${FROM_PANEL}
        FROM install WHERE ${isIt} ${locked}`);
  return {
    lockLinks: backend.lockOnly(sql`
        SELECT id FROM install WHERE install_code ${among('codes', 'text')} ORDER BY id ${locked}`),
    lockDevices: backend.lockOnly(sql`
        SELECT id FROM device WHERE hwid ${among('hwids', 'text')} ORDER BY hwid ${locked}`),
    find: known(sql`install_code = :installCode`),
    findByUser: known(sql`${ofProvider} AND panel_user = :panelUser`),
    findByKey: known(sql`
        subscription_key_hash = ${bytes('subscriptionKeyHash')} AND ${ofProvider}`),
    codesOfPanel: prepare(sql`
        SELECT ${columns('install', 'installCode')} FROM install WHERE ${ofProvider}
          AND (panel_user = :panelUser
            OR subscription_key_hash = ${bytes('subscriptionKeyHash')})`),
    change: prepare(sql`
        UPDATE install SET ${setLink(backend)} WHERE id = :id`),
    replaced: prepare(sql`
        UPDATE install SET replaced_at_ms = :replacedAtMs WHERE id = :id`),
    over: prepare(sql`
        UPDATE install SET over_max = :overMax WHERE id = :id`),
    wanted: prepare(sql`
        UPDATE install SET limit_wanted = :limitWanted WHERE id = :id`),
    installIdIsTaken: isTaken('install'),
    domainIdIsTaken: isTaken('domain'),
  };
}

function linkImport(backend: Backend) {
  const on = { ...statements(backend), ...linkStatements(backend) };
  const slots = slotImport(backend);
  const tombstones = tombstoneSteps(backend);
  const panel = panelLinkSteps(backend);
  const { turned } = endedSteps(backend);
  const { keepBars } = barSteps(backend);

  /**
   * Returns the imported terms; keeps the link's own key if another or a removed link has the
   * imported one.
   */
  function* termsHere(
    wanted: LinkTermsAndKey | undefined,
    known: Pick<KnownLink, 'subscriptionKeyHash' | 'providerId'> & { id: number | null },
  ): Step<LinkTermsAndKey | undefined> {
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
    known: KnownLink,
    { install, rules, act }: MovingLink,
    newSlots: NewSlot[],
  ): Step<Imported> {
    const { limitWanted, note, panelUser, panel: ofUser } = install;
    const installLimit = limitWanted ?? install.installLimit;
    const { id, deviceCount, providerId, subscriptionKeyHash } = known;
    const status = ofUser?.keepsStatus ? known.status : install.status;
    const terms = yield* termsHere(install.terms, known);
    const wanted = { installLimit, status, note, subscriptionKeyHash, ...terms };
    const { was, after } =
      panelUser === undefined
        ? merge(known, wanted, rules.updates)
        : panel.merge(known, wanted, rules.updates);
    if (was === 'updated') yield* on.change.run({ ...after });
    if (after.status !== known.status) {
      const isDisabled = after.status === INSTALL_DISABLED;
      yield* turned(notes, { installId: id, isDisabled }, act.atMs);
    }
    const room = after.installLimit - deviceCount;
    const of = { installId: id, providerId, nowMs: act.atMs };
    const coming = panelUser === undefined ? install.slots : panel.newSlots(known, install.slots);
    const { added, left, counts } = yield* slots.choose({ ...of, isNew: false }, room, coming);
    newSlots.push(...added.map((slot) => ({ ...of, slot })));
    if (panelUser !== undefined) {
      yield* panel.keep(known, install, wanted, coming, left);
    }
    yield* keepBars(id, install.bars);
    notes.audit(act, deeds.importLink(known, after, counts.slotsAdded), providerId);
    return { was, id, ...counts };
  }

  /** Finds an existing link by its code, or by its panel's user or its key. */
  function* find({ providerId, install }: MovingLink): Step<KnownLink | null> {
    const { installCode, panelUser, terms } = install;
    if (panelUser === undefined) return yield* on.find.get({ installCode });
    const subscriptionKeyHash = terms?.subscriptionKeyHash ?? null;
    const ofUser = yield* on.findByUser.get({ providerId, panelUser });
    const formerUser = install.panel?.formerUser;
    const former =
      ofUser === null && formerUser !== undefined
        ? yield* on.findByUser.get({ providerId, panelUser: formerUser })
        : null;
    return ofUser ?? former ?? (yield* on.findByKey.get({ providerId, subscriptionKeyHash }));
  }

  /** Imports a link; its new slots go into `newSlots`. */
  function* importLink(notes: Notes, moving: MovingLink, newSlots: NewSlot[]): Step<Imported> {
    const { providerId, install, rules, act } = moving;
    const {
      slots: wanted,
      id,
      terms,
      replacedAtMs,
      overMax = 0,
      limitWanted,
      bars,
      ...rest
    } = install;
    const { panelUser, ...more } = rest;
    const { panel: ofUser, ...facts } = more;
    const known = yield* find(moving);
    if (known !== null) {
      if (known.providerId !== providerId) return 'install_code_exists';
      const isOther = panelUser !== undefined && !isOfUser(known, panelUser, ofUser?.formerUser);
      if (isOther) return 'install_code_exists';
      return yield* update(notes, known, moving, newSlots);
    }
    const subscriptionKeyHash = terms?.subscriptionKeyHash ?? null;
    if (panelUser !== undefined && subscriptionKeyHash !== null) {
      const endedKey = yield* tombstones.find(providerId, { subscriptionKeyHash });
      if (endedKey !== null) return 'install_code_ended';
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
    if (limitWanted !== undefined) yield* on.wanted.run({ id: installId, limitWanted });
    const of = { installId, providerId, nowMs: act.atMs };
    const room = Math.max(facts.installLimit, overMax);
    const chosen = yield* slots.choose({ ...of, isNew: true }, room, wanted);
    const heldCount = chosen.added.length;
    if (heldCount > facts.installLimit) {
      yield* on.over.run({ id: installId, overMax: heldCount });
    }
    const { counts } = chosen;
    yield* keepBars(installId, bars);
    if (panelUser !== undefined) {
      const none = { id: installId, panelUser: null, panelFacts: null, status: added.status };
      yield* panel.keep(none, install, added, wanted, chosen.left);
    }
    newSlots.push(...chosen.added.map((slot) => ({ ...of, slot })));
    const deed = deeds.importLink(null, { ...added, id: installId }, counts.slotsAdded);
    notes.audit(act, deed, providerId);
    return { was: 'added', id: installId, ...counts };
  }

  return backend.writeInTurn<MovingLink, Imported>({
    /** Locks all rows that these links change, in the order of locks. */
    *begin(moving) {
      const installs = moving.map(({ install }) => install);
      const hwids = installs.flatMap(({ slots }) => slots.map(({ hwid }) => hwid));
      yield* backend.lockRows({ provider: moving.map(({ providerId }) => providerId) });
      const codes = installs.map(({ installCode }) => installCode);
      for (const { providerId, install } of moving) {
        const { panelUser, terms } = install;
        if (panelUser === undefined) continue;
        const subscriptionKeyHash = terms?.subscriptionKeyHash ?? null;
        const here = yield* on.codesOfPanel.all({ providerId, panelUser, subscriptionKeyHash });
        codes.push(...here.map(({ installCode }) => installCode));
      }
      yield* on.lockLinks.run({ codes });
      yield* backend.raiseIds('install', Math.max(0, ...installs.map(({ id }) => id ?? 0)));
      yield* on.lockDevices.run({ hwids });
    },
    keyOf: ({ install }) => install.panelUser ?? install.installCode,
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
    ...panelLinkNoun(backend),

    reserveIds: ({ installId, domainId }) =>
      backend.write(function* () {
        yield* backend.raiseIds('install', installId);
        yield* backend.raiseIds('domain', domainId);
      }),

    importLink: (providerId, install, rules, act) =>
      importLink({ providerId, install, rules, act }),

    importDomain: (providerId, wanted, { domainCountMax, updates }, act) =>
      backend.write(function* (notes) {
        const { id, ...facts } = wanted;
        const { domainHash } = facts;
        const own = only<OwnBinding, keyof OwnBinding>(facts, BINDING_NAMES);
        const owner = yield* domains.countOf.get({ providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        const known = yield* domains.findByHash.get({ providerId, domainHash });
        if (known !== null) {
          const { was, after } = merge(known, own, updates);
          if (was === 'updated') yield* domains.change.run({ id: known.id, ...own });
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
