import { and, desc, eq, lt, sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { mergeClaims } from '../../core/device.ts';
import {
  INSTALL_ACTIVE,
  type Install,
  type InstallSelector,
  type Slot,
  type SlotKey,
} from '../../core/port/install.ts';
import type { Page } from '../../core/port/page.ts';
import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import { rowStatements } from './install-rows.ts';
import { deviceKeeper } from './known-device.ts';
import { AT_PROVIDER_COLUMNS, atProvider, lookups, once, type RowAtProvider } from './lookups.ts';
import { raw } from './raw.ts';
import { install, provider } from './schema.ts';
import { installDevice } from './schema-device.ts';
import { named, prepare, value } from './statement.ts';

type InstallStore = Pick<
  Store,
  | 'addInstall'
  | 'updateInstall'
  | 'listInstalls'
  | 'listSlots'
  | 'freeSlot'
  | 'findSlot'
  | 'takeSlot'
>;

const COLUMNS = named({
  id: install.id,
  installCode: install.install_code,
  installLimit: install.install_limit,
  deviceCount: install.device_count,
  status: install.status,
  note: install.note,
  createdAtMs: install.created_at_ms,
});

/** The slots of a link, with what the devices call themselves at its provider. */
const SLOTS = sql`
  SELECT d.hwid AS hwid, p.device_name AS "deviceName", s.registered_at_ms AS "registeredAtMs"
  FROM install_device s CROSS JOIN device d ON d.id = s.device_id
    CROSS JOIN device_provider p ON p.device_id = s.device_id AND p.provider_id = s.provider_id
  WHERE s.install_id = ${once('installId')}`;

function statements({ db, query }: Context) {
  const ofProvider = eq(install.provider_id, value('providerId'));
  const onInstall = eq(installDevice.install_id, value('installId'));
  return {
    codeIsTaken: prepare(
      db,
      query
        .select({ id: install.id })
        .from(install)
        .where(eq(install.install_code, value('installCode'))),
    ),
    change: prepare(
      db,
      query
        .update(install)
        .set({
          install_limit: sql`coalesce(${value('installLimit')}, ${install.install_limit})`,
          note: sql`iif(${value('changesNote')}, ${value('note')}, ${install.note})`,
          status: sql`coalesce(${value('status')}, ${install.status})`,
        })
        .where(
          and(
            eq(install.id, value('id')),
            ofProvider,
            sql`${install.device_count} <= coalesce(${value('installLimit')}, ${install.install_limit})`,
          ),
        )
        .returning(named({ installCode: install.install_code })),
    ),
    find: prepare(
      db,
      query
        .select(COLUMNS)
        .from(install)
        .where(and(eq(install.id, value('id')), ofProvider)),
    ),
    findByCode: prepare(
      db,
      query
        .select(COLUMNS)
        .from(install)
        .where(and(eq(install.install_code, value('installCode')), ofProvider)),
    ),
    list: prepare(
      db,
      query
        .select(COLUMNS)
        .from(install)
        .where(and(ofProvider, lt(install.id, value('beforeId'))))
        .orderBy(desc(install.id))
        .limit(value('countMax')),
    ),
    listSlots: prepare(db, raw<Slot>(sql`${SLOTS} ORDER BY s.id DESC LIMIT ${once('countMax')}`)),
    findSlotByHwid: prepare(
      db,
      raw<Slot>(sql`
        ${SLOTS} AND s.device_id = (SELECT id FROM device WHERE hwid = ${value('hwid')})`),
    ),
    freeSlot: prepare(
      db,
      query
        .delete(installDevice)
        .where(
          and(
            onInstall,
            sql`${installDevice.device_id} = (SELECT id FROM device WHERE hwid = ${value('hwid')})`,
          ),
        ),
    ),
    // The door is asked step by step: a join over bound values is planned anew at every run, which
    // takes ten times as long as these look-ups.
    doorLink: prepare(
      db,
      query
        .select(
          named({
            installId: install.id,
            providerId: install.provider_id,
            status: install.status,
            installLimit: install.install_limit,
            deviceCount: install.device_count,
          }),
        )
        .from(install)
        .where(eq(install.install_code, value('installCode'))),
    ),
    doorDevice: prepare(
      db,
      raw<RowAtProvider>(sql`
        SELECT ${AT_PROVIDER_COLUMNS}
        FROM device d CROSS JOIN install_device s
            ON s.install_id = ${once('installId')} AND s.device_id = d.id
          CROSS JOIN device_provider p
            ON p.device_id = d.id AND p.provider_id = ${once('providerId')}
        WHERE d.hwid = ${once('hwid')}`),
    ),
    providerCode: prepare(
      db,
      query
        .select({ code: provider.code })
        .from(provider)
        .where(eq(provider.id, value('providerId'))),
    ),
  };
}

export function installStore(context: Context): InstallStore {
  const { writer, audit } = context;
  const on = { ...statements(context), ...rowStatements(context) };
  const find = lookups(context);
  const keep = deviceKeeper(context);

  /** The provider's link that the selector names; by code and id only if both name the same. */
  function select(providerId: number, selector: InstallSelector): Install | null {
    const { installCode, installId } = selector;
    if (installCode === null) return on.find.get({ providerId, id: installId });
    const found = on.findByCode.get({ providerId, installCode });
    return installId === null || found?.id === installId ? found : null;
  }

  /** Codes and ids of providers never change and are never used again, so they may be kept. */
  const providerCodes = new Map<number, string>();
  function providerCodeOf(providerId: number): string | null {
    const kept = providerCodes.get(providerId);
    if (kept !== undefined) return kept;
    const code = on.providerCode.get({ providerId })?.code ?? null;
    if (code !== null) providerCodes.set(providerId, code);
    return code;
  }

  /** The link that a device asks for, and the device if it holds a slot there. */
  function knock({ installCode, domainHash, hwid }: SlotKey) {
    const found = on.doorLink.get({ installCode });
    if (found === null) return 'link_not_found';
    const { installId, providerId, status, installLimit, deviceCount } = found;
    if (find.activeDomain.get({ providerId, domainHash }) === null) return 'link_domain_not_bound';
    const code = providerCodeOf(providerId);
    if (code === null) return 'link_not_found';
    const known = on.doorDevice.get({ installId, providerId, hwid });
    return {
      installId,
      providerId,
      link: { providerCode: code, status, installLimit, deviceCount },
      device: known && atProvider(known),
    };
  }

  function list(providerId: number, { id, beforeId, countMax }: Page): Install[] {
    const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
    if (id === null) return on.list.all({ providerId, beforeId: bound, countMax });
    return id < bound ? on.find.all({ providerId, id }) : [];
  }

  return {
    addInstall: ({ installCountMax, ...draft }, act) =>
      writer.run(() => {
        const { providerId, installCode } = draft;
        if (on.codeIsTaken.get({ installCode }) !== null) return 'install_code_exists';
        const provider = on.countOf.get({ providerId });
        if (provider === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        if (provider.installCount >= installCountMax) return 'install_code_limit_reached';
        const { id } = on.add.get({ ...draft, id: null, status: INSTALL_ACTIVE }) as { id: number };
        audit.note(act, deeds.addInstall({ id, installLimit: draft.installLimit }), providerId);
        return { id };
      }),

    updateInstall: (providerId, id, wanted, act) =>
      writer.run(() => {
        const known = on.find.get({ providerId, id });
        if (known === null) return 'install_not_found';
        const { installLimit, note, status } = wanted;
        const changed = on.change.get({
          providerId,
          id,
          installLimit: installLimit ?? null,
          changesNote: note === undefined ? 0 : 1,
          note: note ?? null,
          status: status ?? null,
        });
        if (changed === null) return 'install_limit_below_count';
        audit.note(act, deeds.updateInstall(known, { ...known, ...wanted }), providerId);
        return { says: 'ok', installCode: changed.installCode };
      }),

    listInstalls: list,

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
        if (on.freeSlot.run({ installId: link.id, hwid }) === 0) {
          return { deviceCount: link.deviceCount };
        }
        audit.note(act, deeds.freeSlot(link.id, hwid), providerId);
        return { deviceCount: link.deviceCount - 1 };
      }),

    findSlot: (key) => {
      const door = knock(key);
      return typeof door === 'string' ? door : { link: door.link, device: door.device };
    },

    takeSlot: (key, facts, nowMs) =>
      writer.run(() => {
        const door = knock(key);
        if (typeof door === 'string') return door;
        const { link, installId, providerId } = door;
        if (link.status !== INSTALL_ACTIVE) return 'link_disabled';
        const isFull = link.deviceCount >= link.installLimit;
        if (door.device === null && isFull) return 'link_limit_reached';
        const deviceId = keep.see(key.hwid, nowMs);
        keep.keepFacts(deviceId, providerId, facts, nowMs, mergeClaims);
        if (door.device !== null) return link;
        on.takeSlot.run({ installId, deviceId, registeredAtMs: nowMs });
        return { ...link, deviceCount: link.deviceCount + 1 };
      }),
  };
}
