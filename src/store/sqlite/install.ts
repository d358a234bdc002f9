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
import type { Context } from './context.ts';
import { rowStatements, SET_LINK, TERMS_COLUMNS } from './install-rows.ts';
import { lookups, SLOT_SEEN } from './lookups.ts';
import { slotTaker } from './slot.ts';
import { slotEnder } from './slot-end.ts';
import { once, value } from './statement.ts';

const COLUMNS = sql.raw(`
  id, install_code AS "installCode", install_limit AS "installLimit",
  device_count AS "deviceCount", status, note, created_at_ms AS "createdAtMs"`);

/** The slots of a link, with what the devices call themselves at its provider. */
const SLOTS = sql`
  SELECT d.hwid AS hwid, p.device_name AS "deviceName", s.registered_at_ms AS "registeredAtMs",
    ${SLOT_SEEN} AS "lastSeenAtMs"
  FROM install_device s CROSS JOIN device d ON d.id = s.device_id
    CROSS JOIN device_provider p ON p.device_id = s.device_id AND p.provider_id = s.provider_id
  WHERE s.install_id = ${once('installId')}`;

const OF_PROVIDER = sql`provider_id = ${value('providerId')}`;
const BY_HWID = sql`(SELECT id FROM device WHERE hwid = ${value('hwid')})`;

function linkStatements({ db }: Context) {
  return {
    /** Number of a provider's links, and the link that has the code of the one to add. */
    room: db.prepare<{ installCount: number; takenBy: number | null }>(sql`
        SELECT install_count AS "installCount",
          (SELECT id FROM install WHERE install_code = ${value('installCode')}) AS "takenBy"
        FROM provider WHERE id = ${value('providerId')}`),
    change: db.prepare<{ installCode: string }>(sql`
        UPDATE install SET ${SET_LINK}
        WHERE id = ${value('id')} AND ${OF_PROVIDER}
          AND device_count <= ${value('installLimit')}
        RETURNING install_code AS "installCode"`),
    find: db.prepare<Install>(sql`
        SELECT ${COLUMNS} FROM install WHERE id = ${value('id')} AND ${OF_PROVIDER}`),
    findWithTerms: db.prepare<Install & InstallTerms>(sql`
        SELECT ${COLUMNS}, ${TERMS_COLUMNS} FROM install
        WHERE id = ${value('id')} AND ${OF_PROVIDER}`),
    findByCode: db.prepare<Install>(sql`
        SELECT ${COLUMNS} FROM install
        WHERE install_code = ${value('installCode')} AND ${OF_PROVIDER}`),
    findByKey: db.prepare<Install>(sql`
        SELECT ${COLUMNS} FROM install
        WHERE subscription_key_hash = unhex(${value('subscriptionKeyHash')}) AND ${OF_PROVIDER}`),
    list: db.prepare<Install>(sql`
        SELECT ${COLUMNS} FROM install
        WHERE provider_id = ${once('providerId')} AND id < ${once('beforeId')}
        ORDER BY id DESC LIMIT ${once('countMax')}`),
  };
}

function slotStatements({ db }: Context) {
  return {
    listSlots: db.prepare<Slot>(sql`${SLOTS} ORDER BY s.id DESC LIMIT ${once('countMax')}`),
    findSlotByHwid: db.prepare<Slot>(sql`${SLOTS} AND s.device_id = ${BY_HWID}`),
    slotOf: db.prepare<{ slotId: number }>(sql`
        SELECT id AS "slotId" FROM install_device
        WHERE install_id = ${value('installId')} AND device_id = ${BY_HWID}`),
  };
}

export function installStore(context: Context): InstallStore {
  const { writer, audit, figures, events } = context;
  const on = { ...linkStatements(context), ...slotStatements(context), ...rowStatements(context) };
  const find = lookups(context);
  const { enter } = slotTaker(context);
  const end = slotEnder(context);

  /** The provider's link that the selector names; by code and id only if both name the same. */
  function select(providerId: number, selector: InstallSelector): Install | null {
    const { installCode, installId } = selector;
    if (installCode === null) return on.find.get({ providerId, id: installId });
    const found = on.findByCode.get({ providerId, installCode });
    return installId === null || found?.id === installId ? found : null;
  }

  function list(providerId: number, { id, beforeId, countMax }: Page): Install[] {
    const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
    if (id === null) return on.list.all({ providerId, beforeId: bound, countMax });
    return id < bound ? on.find.all({ providerId, id }) : [];
  }

  function add(draft: NewInstall, act: Act): { id: number } | AddRefusal {
    const { providerId, installLimit, installCountMax: limit } = draft;
    const row = { ...draft, id: null, status: INSTALL_ACTIVE };
    const room = on.room.get(row);
    if (room === null) throw new Error(`provider ${providerId} was removed meanwhile`);
    if (room.takenBy !== null) return 'install_code_exists';
    // Most have no key: nothing is looked for then.
    const hasKey = draft.subscriptionKeyHash !== null;
    if (hasKey && on.otherWithKey.get(row) !== null) return 'subscription_key_exists';
    if (room.installCount >= limit) return 'install_code_limit_reached';
    const id = on.add.insert(row);
    audit.note(act, deeds.addInstall(id, draft), providerId);
    figures.note(providerId, 'links', act.atMs);
    events.note(providerId, act.atMs, () => happenings.linkCreated({ id, installLimit }));
    const used = room.installCount + 1;
    events.noteQuota(providerId, 'links', { used, limit }, act.atMs);
    return { id };
  }

  return {
    addInstall: (draft, act) => writer.run(() => add(draft, act)),

    updateInstall: (providerId, id, wanted, act) =>
      writer.run(() => {
        const known = on.findWithTerms.get({ providerId, id });
        if (known === null) return 'install_not_found';
        const after = { ...known, ...wanted, providerId };
        if (on.otherWithKey.get(after) !== null) return 'subscription_key_exists';
        const changed = on.change.get(after);
        if (changed === null) return 'install_limit_below_count';
        const deed = deeds.updateInstall(known, after);
        audit.note(act, deed, providerId);
        if (deed !== null) {
          events.note(providerId, act.atMs, () => happenings.linkUpdated(after, deed));
        }
        return { says: 'ok', installCode: changed.installCode };
      }),

    listInstalls: list,

    findInstallByKey: (providerId, subscriptionKeyHash) =>
      on.findByKey.get({ providerId, subscriptionKeyHash }),

    listSlots: (providerId, selector, hwid, countMax) => {
      const link = select(providerId, selector);
      if (link === null) return 'install_code_error';
      return hwid === null
        ? on.listSlots.all({ installId: link.id, countMax })
        : on.findSlotByHwid.all({ installId: link.id, hwid });
    },

    freeSlot: (providerId, selector, hwid, act) =>
      writer.run(() => {
        const link = select(providerId, selector);
        if (link === null) return 'install_code_error';
        const slot = on.slotOf.get({ installId: link.id, hwid });
        if (slot === null) return { deviceCount: link.deviceCount };
        const why = { why: 'deleted', actor: act.actor.name, forDeviceId: null } as const;
        end({ ...slot, installId: link.id, providerId }, { ...why, nowMs: act.atMs });
        audit.note(act, deeds.freeSlot(link.id, hwid), providerId);
        return { deviceCount: link.deviceCount - 1 };
      }),

    addInstallWithSlot: (draft, key, facts, act) =>
      writer.run(() => {
        const { providerId } = draft;
        const entered = enter(key, facts, act.atMs);
        if (typeof entered !== 'string') return entered;
        if (find.activeDomain.get({ providerId, domainHash: key.domainHash }) === null) {
          return 'link_domain_not_bound';
        }
        const added = add(draft, act);
        if (added === 'install_code_exists' || added === 'install_code_limit_reached') return added;
        const first = typeof added === 'string' ? added : enter(key, facts, act.atMs);
        if (typeof first === 'string') {
          throw new Error('the key at the door is not that of the link');
        }
        return 'says' in first ? first : { ...first, isNew: true };
      }),
  };
}
