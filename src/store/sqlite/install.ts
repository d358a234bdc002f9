import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { closedTo } from '../../core/install.ts';
import {
  INSTALL_ACTIVE,
  type Install,
  type InstallSelector,
  type Slot,
} from '../../core/port/install.ts';
import type { Page } from '../../core/port/page.ts';
import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import { doorOf } from './door.ts';
import { rowStatements } from './install-rows.ts';
import { deviceKeeper } from './known-device.ts';
import { once } from './lookups.ts';
import { value } from './statement.ts';

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

const COLUMNS = sql.raw(`
  id, install_code AS "installCode", install_limit AS "installLimit",
  device_count AS "deviceCount", status, note, created_at_ms AS "createdAtMs"`);

/** The slots of a link, with what the devices call themselves at its provider. */
const SLOTS = sql`
  SELECT d.hwid AS hwid, p.device_name AS "deviceName", s.registered_at_ms AS "registeredAtMs"
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
        UPDATE install
        SET install_limit = coalesce(${value('installLimit')}, install_limit),
          note = iif(${value('changesNote')}, ${value('note')}, note),
          status = coalesce(${value('status')}, status)
        WHERE id = ${value('id')} AND ${OF_PROVIDER}
          AND device_count <= coalesce(${value('installLimit')}, install_limit)
        RETURNING install_code AS "installCode"`),
    find: db.prepare<Install>(sql`
        SELECT ${COLUMNS} FROM install WHERE id = ${value('id')} AND ${OF_PROVIDER}`),
    findByCode: db.prepare<Install>(sql`
        SELECT ${COLUMNS} FROM install
        WHERE install_code = ${value('installCode')} AND ${OF_PROVIDER}`),
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
    freeSlot: db.prepare(sql`
        DELETE FROM install_device
        WHERE install_id = ${value('installId')} AND device_id = ${BY_HWID}`),
  };
}

export function installStore(context: Context): InstallStore {
  const { writer, audit } = context;
  const on = { ...linkStatements(context), ...slotStatements(context), ...rowStatements(context) };
  const findDoor = doorOf(context);
  const keep = deviceKeeper(context);

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

  return {
    addInstall: ({ installCountMax, ...draft }, act) =>
      writer.run(() => {
        const { providerId, installCode } = draft;
        const room = on.room.get({ providerId, installCode });
        if (room === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        if (room.takenBy !== null) return 'install_code_exists';
        if (room.installCount >= installCountMax) return 'install_code_limit_reached';
        const id = on.add.insert({ ...draft, id: null, status: INSTALL_ACTIVE });
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
      const door = findDoor(key);
      return typeof door === 'string' ? door : { link: door.link, device: door.device };
    },

    takeSlot: (key, facts, nowMs) =>
      writer.run(() => {
        const door = findDoor(key);
        if (typeof door === 'string') return door;
        const { link, installId, providerId } = door;
        const closed = closedTo(link, door.device !== null);
        if (closed !== null) return closed;
        const deviceId = keep.visit(key.hwid, providerId, facts, nowMs);
        if (door.device !== null) return link;
        on.takeSlot.run({ installId, deviceId, providerId, registeredAtMs: nowMs });
        return { ...link, deviceCount: link.deviceCount + 1 };
      }),
  };
}
