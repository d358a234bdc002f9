import { type SQL, sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import type { Act } from '../../core/port/audit.ts';
import type {
  CheckInKey,
  Device,
  DeviceDetail,
  DeviceFilter,
  DeviceToken,
} from '../../core/port/device.ts';
import type { Store } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import { linkedRow } from '../noun/targets.ts';
import type { Context } from './context.ts';
import { DIALECT } from './dialect.ts';
import { deviceKeeper } from './known-device.ts';
import {
  ALL_SEEN,
  AT_PROVIDER_COLUMNS,
  atProvider,
  LAST_SEEN,
  lookups,
  type RowAtProvider,
  SLOT_SEEN,
} from './lookups.ts';
import { slotEnder, storyStatements } from './slot-end.ts';
import { listOnce, value } from './statement.ts';

type DeviceStore = Pick<
  Store,
  'findCheckIn' | 'recordCheckIn' | 'listDevices' | 'findDevice' | 'forgetDevice'
>;

/** Rows of a device that go in one step when it is forgotten. */
const FORGET_STEP = 2_000;
/** Slots that do: each leaves an end in the story of its link. */
const END_STEP = 200;

/** A fact that a device told last: at the provider of row `p`, else to nobody in particular. */
const latest = (column: string) => `coalesce(nullif(p.${column}, ''), d.${column})`;

const DEVICE_COLUMNS = sql.raw(`
  d.id AS id, d.hwid AS hwid, ${latest('os')} AS os, ${latest('os_version')} AS "osVersion",
  ${latest('device_name')} AS "deviceName", ${latest('app_version')} AS "appVersion",
  ${latest('user_agent')} AS "userAgent", d.first_seen_at_ms AS "firstSeenAtMs",
  d.last_seen_at_ms AS "lastSeenAtMs"`);

/** Devices `d`, each with its latest row `p` at the providers that `which` names. */
const devicesAt = (which: SQL) => sql`
  device d LEFT JOIN device_provider p ON p.device_id = d.id AND p.provider_id = (
    SELECT v.provider_id FROM device_provider v WHERE v.device_id = d.id ${which}
    ORDER BY v.last_seen_at_ms DESC, v.provider_id DESC LIMIT 1)`;

/** The standing of a device with a provider. */
function standingStatement({ db }: Context) {
  return db.prepare<{ seenAtMs: number; isLinked: number }>(sql`
      SELECT ${ALL_SEEN} AS "seenAtMs", ${linkedRow(DIALECT)} AS "isLinked"
      FROM device_provider p
      WHERE p.device_id = ${value('deviceId')} AND p.provider_id = ${value('providerId')}`);
}

/** Questions of the operator about devices. */
function operatorStatements({ db }: Context) {
  const ofDevice = value('deviceId');
  return {
    device: db.prepare<Device>(sql`
        SELECT ${DEVICE_COLUMNS} FROM ${devicesAt(sql``)} WHERE d.hwid = ${value('hwid')}`),
    tokens: db.prepare<
      Omit<DeviceToken, 'dropped'> & { atMs: number | null; why: string | null }
    >(sql`
        SELECT locale, push ->> '$.gateway' AS gateway, push_dropped_at_ms AS "atMs",
          push_dropped_why AS why
        FROM device_token WHERE device_id = ${ofDevice} ORDER BY id`),
    installs: db.prepare<DeviceDetail['installs'][number]>(sql`
        SELECT i.install_code AS "installCode", o.code AS "providerCode",
          s.registered_at_ms AS "registeredAtMs", ${SLOT_SEEN} AS "lastSeenAtMs"
        FROM install_device s CROSS JOIN install i ON i.id = s.install_id
          CROSS JOIN provider o ON o.id = i.provider_id
          CROSS JOIN device_provider p
            ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        WHERE s.device_id = ${ofDevice} ORDER BY s.id DESC`),
    domains: db.prepare<DeviceDetail['domains'][number]>(sql`
        SELECT m.domain_name AS "domainName", o.code AS "providerCode", m.status AS status,
          b.linked_at_ms AS "linkedAtMs"
        FROM device_domain b CROSS JOIN domain m ON m.id = b.domain_id
          CROSS JOIN provider o ON o.id = m.provider_id
        WHERE b.device_id = ${ofDevice} ORDER BY b.linked_at_ms DESC`),
    seenBy: db.prepare<RowAtProvider & { providerCode: string }>(sql`
        SELECT o.code AS "providerCode", ${AT_PROVIDER_COLUMNS}, ${LAST_SEEN}
        FROM device_provider p CROSS JOIN provider o ON o.id = p.provider_id
        WHERE p.device_id = ${ofDevice} ORDER BY p.last_seen_at_ms DESC`),
  };
}

/**
 * The rows of a device, in the order in which they can go; cascades would take all at once. The
 * tokens are first: from then on nobody reads what is left.
 */
function forgetStatements(context: Context) {
  const { db } = context;
  const ofDevice = sql`WHERE device_id = ${value('id')}`;
  const some = (table: string) =>
    db.prepare(sql`
        DELETE FROM ${sql.raw(table)} WHERE rowid IN (
          SELECT rowid FROM ${sql.raw(table)} ${ofDevice} LIMIT ${value('countMax')})`);
  // One for each provider at most.
  const places = db.prepare(sql`DELETE FROM device_provider ${ofDevice}`);
  return {
    tokens: db.prepare(sql`DELETE FROM device_token ${ofDevice}`),
    slots: db.prepare<{ slotId: number; installId: number; providerId: number }>(sql`
        SELECT id AS "slotId", install_id AS "installId", provider_id AS "providerId"
        FROM install_device ${ofDevice} LIMIT ${END_STEP}`),
    steps: [...['recipient', 'device_domain'].map(some), ...storyStatements(context), places],
    device: db.prepare(sql`DELETE FROM device WHERE id = ${value('id')}`),
  };
}

/**
 * `FROM` and `WHERE` of the devices `d` that `filter` lets through. CROSS JOIN keeps SQLite from
 * going through all slots of a link for each device.
 */
export function devicesThat({
  os,
  installCode,
  providerCode,
}: Omit<DeviceFilter, 'countMax'>): SQL {
  const which =
    providerCode === null
      ? sql``
      : sql`AND v.provider_id = (SELECT id FROM provider WHERE code = ${providerCode})`;
  const conditions = [sql`true`];
  // Devices say `Windows`, people type `windows`.
  if (os !== null) conditions.push(sql`${sql.raw(latest('os'))} = ${os} COLLATE NOCASE`);
  if (providerCode !== null) conditions.push(sql`p.device_id IS NOT NULL`);
  if (installCode !== null) {
    conditions.push(sql`EXISTS (
      SELECT 1 FROM install_device s CROSS JOIN install i ON i.id = s.install_id
      WHERE s.device_id = d.id AND i.install_code = ${installCode})`);
  }
  return sql`${devicesAt(which)} WHERE ${sql.join(conditions, sql` AND `)}`;
}

export function deviceStore(context: Context): DeviceStore {
  const { db, writer, audit } = context;
  const find = lookups(context);
  const standing = standingStatement(context);
  const operator = operatorStatements(context);
  const forget = forgetStatements(context);
  const keep = deviceKeeper(context);
  const end = slotEnder(context);

  /** Ends some slots of a device that is forgotten; says how many. */
  function endSlots(id: number, { actor, atMs: nowMs }: Act): number {
    const slots = forget.slots.all({ id });
    const why = { why: 'forgotten', actor: actor.name, forDeviceId: null, nowMs } as const;
    for (const slot of slots) end(slot, why);
    return slots.length;
  }

  function findIds({ providerCode, domainHash }: CheckInKey) {
    const found = find.provider.get({ providerCode });
    if (found === null) return null;
    const providerId = found.id;
    const bound = domainHash === null ? null : find.activeDomain.get({ providerId, domainHash });
    return { providerId, domainId: bound?.id ?? null };
  }

  return {
    findCheckIn: (key) => {
      const ids = findIds(key);
      if (ids === null) return 'provider_not_found';
      const { providerId, domainId } = ids;
      const deviceId = find.deviceId.get({ hwid: key.hwid })?.id ?? null;
      const known = deviceId === null ? null : standing.get({ deviceId, providerId });
      const isTied = deviceId !== null && domainId !== null && keep.isTied(deviceId, domainId);
      return {
        seenAtMs: known?.seenAtMs ?? null,
        isLinked: known?.isLinked === 1,
        isNewLink: domainId !== null && !isTied,
      };
    },

    recordCheckIn: (key, facts, nowMs) =>
      writer.run(() => {
        const ids = findIds(key);
        if (ids === null) return 'provider_not_found';
        const { providerId, domainId } = ids;
        const deviceId = keep.visit(key.hwid, providerId, facts, nowMs);
        keep.checkIn(deviceId, providerId, nowMs);
        if (domainId !== null) keep.tie(deviceId, providerId, domainId, nowMs);
        return 'ok';
      }),

    listDevices: async (filter) =>
      listOnce<Device>(
        db,
        sql`
          SELECT ${DEVICE_COLUMNS} FROM ${devicesThat(filter)}
          ORDER BY d.last_seen_at_ms DESC, d.id DESC LIMIT ${filter.countMax}`,
      ),

    findDevice: async (hwid): Promise<DeviceDetail | null> => {
      const found = operator.device.get({ hwid });
      if (found === null) return null;
      const deviceId = found.id;
      return {
        device: found,
        installs: operator.installs.all({ deviceId }),
        domains: operator.domains.all({ deviceId }),
        seenBy: operator.seenBy.all({ deviceId }).map(atProvider),
        tokens: operator.tokens.all({ deviceId }).map(({ atMs, why, ...token }) => ({
          ...token,
          dropped: atMs === null || why === null ? null : { atMs, why },
        })),
      };
    },

    forgetDevice: async (hwid, act) => {
      const id = await writer.run(() => {
        const found = find.deviceId.get({ hwid });
        if (found !== null) forget.tokens.run({ id: found.id });
        return found?.id ?? null;
      });
      if (id === null) return 'device_not_found';
      const steps = forget.steps.map((step) => () => step.run({ id, countMax: FORGET_STEP }));
      for (const step of [() => endSlots(id, act), ...steps]) {
        while ((await writer.run(step)) > 0) await nextTurn();
      }
      return writer.run(() => {
        if (forget.device.run({ id }) === 0) return 'device_not_found';
        audit.note(act, deeds.forgetDevice(hwid));
        return 'ok';
      });
    },
  };
}
