import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Act } from '../../core/port/audit.ts';
import {
  type AddRefusal,
  INSTALL_ACTIVE,
  type Install,
  type InstallSelector,
  type InstallStore,
  type InstallTerms,
  type NewInstall,
} from '../../core/port/install.ts';
import type { Page } from '../../core/port/page.ts';
import type { Slot } from '../../core/port/slot.ts';
import { addTogether } from './addition.ts';
import type { Context } from './context.ts';
import { TurnGroup } from './group.ts';
import { linkRows, SET_LINK, TERMS_COLUMNS } from './install-rows.ts';
import { lockProvider, lookups, SLOT_SEEN } from './lookups.ts';
import { enterLink } from './slot.ts';
import { endSlot, lockSlots } from './slot-end.ts';
import { prepare, type Runner, value } from './statement.ts';
import type { Write } from './write.ts';

const COLUMNS = sql.raw(`
  id::float8 AS id, install_code AS "installCode", install_limit AS "installLimit",
  device_count AS "deviceCount", status, note, created_at_ms::float8 AS "createdAtMs"`);

/** The slots of a link, with what the devices call themselves at its provider. */
const SLOTS = sql`
  SELECT d.hwid AS hwid, p.device_name AS "deviceName",
    s.registered_at_ms::float8 AS "registeredAtMs", (${SLOT_SEEN})::float8 AS "lastSeenAtMs"
  FROM install_device s JOIN device d ON d.id = s.device_id
    JOIN device_provider p ON p.device_id = s.device_id AND p.provider_id = s.provider_id
  WHERE s.install_id = ${value('installId')}`;

const OF_PROVIDER = sql`provider_id = ${value('providerId')}`;
const BY_HWID = sql`(SELECT id FROM device WHERE hwid = ${value('hwid')})`;

const on = {
  /** Number of a provider's links, and the link that has the code of the one to add. */
  takenBy: prepare<{ id: number }>(
    sql`SELECT id FROM install WHERE install_code = ${value('installCode')}`,
  ),
  change: prepare<{ installCode: string }>(sql`
      UPDATE install SET ${SET_LINK}
      WHERE id = ${value('id')} AND ${OF_PROVIDER}
        AND device_count <= ${value('installLimit')}
      RETURNING install_code AS "installCode"`),
  find: prepare<Install & { providerId: number }>(sql`
      SELECT ${COLUMNS}, provider_id::float8 AS "providerId" FROM install
      WHERE id = ANY(${value('ids')}::bigint[])`),
  lock: prepare<Install & InstallTerms>(sql`
      SELECT ${COLUMNS}, ${TERMS_COLUMNS} FROM install
      WHERE id = ${value('id')} AND ${OF_PROVIDER} FOR NO KEY UPDATE`),
  findByCode: prepare<Install>(sql`
      SELECT ${COLUMNS} FROM install
      WHERE install_code = ${value('installCode')} AND ${OF_PROVIDER}`),
  findByKey: prepare<Install>(sql`
      SELECT ${COLUMNS} FROM install
      WHERE subscription_key_hash = decode(${value('subscriptionKeyHash')}, 'hex')
        AND ${OF_PROVIDER}`),
  list: prepare<Install>(sql`
      SELECT ${COLUMNS} FROM install
      WHERE ${OF_PROVIDER} AND id < ${value('beforeId')}
      ORDER BY install.id DESC LIMIT ${value('countMax')}`),
  listSlots: prepare<Slot>(sql`${SLOTS} ORDER BY s.id DESC LIMIT ${value('countMax')}`),
  findSlotByHwid: prepare<Slot>(sql`${SLOTS} AND s.device_id = ${BY_HWID}`),
  slotOf: prepare<{ slotId: number }>(sql`
      SELECT id AS "slotId" FROM install_device
      WHERE install_id = ${value('installId')} AND device_id = ${BY_HWID}`),
};

/** The provider's link that the selector names; by code and id only if both name the same. */
async function select(
  runner: Runner,
  providerId: number,
  { installCode, installId }: InstallSelector,
): Promise<Install | null> {
  if (installCode === null) {
    const found = await on.find.get(runner, { ids: [installId] });
    return ownOf(found, providerId);
  }
  const found = await on.findByCode.get(runner, { providerId, installCode });
  return installId === null || found?.id === installId ? found : null;
}

function ownOf(
  found: (Install & { providerId: number }) | null | undefined,
  ownerId: number,
): Install | null {
  if (found == null || found.providerId !== ownerId) return null;
  const { providerId: _, ...link } = found;
  return link;
}

async function add(w: Write, draft: NewInstall, act: Act): Promise<{ id: number } | AddRefusal> {
  const link = { ...draft, id: null, status: INSTALL_ACTIVE };
  const { providerId, installLimit } = link;
  const owner = await linkRows.countOf.get(w, { providerId });
  if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
  const { installCount } = owner;
  if ((await on.takenBy.get(w, link)) !== null) return 'install_code_exists';
  // Most have no key: nothing is looked for then.
  const hasKey = link.subscriptionKeyHash !== null;
  if (hasKey && (await linkRows.otherWithKey.get(w, link)) !== null) {
    return 'subscription_key_exists';
  }
  if (installCount >= link.installCountMax) return 'install_code_limit_reached';
  const added = await linkRows.add.get(w, link);
  // Another provider's link got the code a moment ago.
  if (added === null) return 'install_code_exists';
  const { id } = added;
  w.audit.note(act, deeds.addInstall(id, draft), providerId);
  w.figures.note(providerId, 'links', act.atMs);
  w.events.note(providerId, act.atMs, () => happenings.linkCreated({ id, installLimit }));
  const used = installCount + 1;
  w.events.noteQuota(providerId, 'links', { used, limit: link.installCountMax }, act.atMs);
  return { id };
}

function changingStore({ write }: Context): Pick<InstallStore, 'updateInstall' | 'freeSlot'> {
  return {
    updateInstall: (providerId, id, wanted, act) =>
      write(async (w) => {
        await lockProvider.run(w, { providerId });
        const known = await on.lock.get(w, { providerId, id });
        if (known === null) return 'install_not_found';
        const after = { ...known, ...wanted, providerId };
        const hasKey = after.subscriptionKeyHash !== null;
        if (hasKey && (await linkRows.otherWithKey.get(w, after)) !== null) {
          return 'subscription_key_exists';
        }
        const changed = await on.change.get(w, after);
        if (changed === null) return 'install_limit_below_count';
        const deed = deeds.updateInstall(known, after);
        w.audit.note(act, deed, providerId);
        if (deed !== null) {
          w.events.note(providerId, act.atMs, () => happenings.linkUpdated(after, deed));
        }
        return { says: 'ok', installCode: changed.installCode };
      }),

    freeSlot: (providerId, selector, hwid, act) =>
      write(async (w) => {
        await lockProvider.run(w, { providerId });
        const found = await select(w, providerId, selector);
        const link = found && (await on.lock.get(w, { providerId, id: found.id }));
        if (link === null) return 'install_code_error';
        const installId = link.id;
        const slot = await on.slotOf.get(w, { installId, hwid });
        if (slot === null) return { deviceCount: link.deviceCount };
        const row = { ...slot, installId, providerId };
        await lockSlots(w, [row]);
        const why = { why: 'deleted', actor: act.actor.name, forDeviceId: null } as const;
        await endSlot(w, row, { ...why, nowMs: act.atMs });
        w.audit.note(act, deeds.freeSlot(installId, hwid), providerId);
        return { deviceCount: link.deviceCount - 1 };
      }),
  };
}

export function installStore(context: Context): InstallStore {
  const { db, write } = context;
  const addPlain = addTogether(context);
  const byId = new TurnGroup(db, {
    run: async (ids: readonly number[]) => {
      const found = await on.find.all(db, { ids: [...new Set(ids)] });
      const links = new Map(found.map((link) => [link.id, link]));
      return ids.map((id) => links.get(id) ?? null);
    },
    itemsMax: 64,
  });

  async function list(providerId: number, { id, beforeId, countMax }: Page): Promise<Install[]> {
    const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
    if (id === null) return on.list.all(db, { providerId, beforeId: bound, countMax });
    const link = id < bound ? ownOf(await byId.ask(id), providerId) : null;
    return link === null ? [] : [link];
  }

  return {
    ...changingStore(context),

    addInstall: async (draft, act) =>
      (await addPlain(draft, act)) ?? write((w) => add(w, draft, act)),

    listInstalls: list,

    findInstallByKey: (providerId, subscriptionKeyHash) =>
      on.findByKey.get(db, { providerId, subscriptionKeyHash }),

    listSlots: async (providerId, selector, hwid, countMax) => {
      const link = await select(db, providerId, selector);
      if (link === null) return 'install_code_error';
      return hwid === null
        ? on.listSlots.all(db, { installId: link.id, countMax })
        : on.findSlotByHwid.all(db, { installId: link.id, hwid });
    },

    addInstallWithSlot: (draft, key, facts, act) =>
      write(async (w) => {
        const { providerId } = draft;
        await lockProvider.run(w, { providerId });
        const entered = await enterLink(w, key, facts, act.atMs);
        if (typeof entered !== 'string') return entered;
        const { domainHash } = key;
        const bound = await lookups.activeDomain.get(w, { providerId, domainHash });
        if (bound === null) return 'link_domain_not_bound';
        const added = await add(w, draft, act);
        if (added === 'install_code_exists' || added === 'install_code_limit_reached') return added;
        const first = typeof added === 'string' ? added : await enterLink(w, key, facts, act.atMs);
        if (typeof first === 'string') {
          throw new Error('the key at the door is not that of the link');
        }
        return 'says' in first ? first : { ...first, isNew: true };
      }),
  };
}
