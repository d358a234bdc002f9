import { and, desc, eq, type SQL, sql } from 'drizzle-orm';
import { type DeviceFacts, mergeFacts } from '../../core/device.ts';
import { hwidHash } from '../../core/secret.ts';
import type { CheckInKey, DeviceDetail, DeviceFilter, Store } from '../../core/store.ts';
import { type Context, value } from './context.ts';
import { DEVICE_COLUMNS, lookups } from './lookups.ts';
import {
  device,
  deviceDomain,
  deviceProvider,
  domain,
  install,
  installDevice,
  provider,
} from './schema.ts';
import { listOnce, named, prepare } from './statement.ts';

type DeviceStore = Pick<
  Store,
  'findCheckIn' | 'recordCheckIn' | 'listDevices' | 'findDevice' | 'forgetDevice'
>;

/** A row for a device that is not known yet. */
export function addDeviceStatement({ db, query }: Context) {
  return prepare(
    db,
    query
      .insert(device)
      .values({
        hwid: value('hwid'),
        os: value('os'),
        os_version: value('osVersion'),
        device_name: value('deviceName'),
        app_version: value('appVersion'),
        user_agent: value('userAgent'),
        first_seen_at_ms: value('firstSeenAtMs'),
        last_seen_at_ms: value('lastSeenAtMs'),
      })
      .returning({ id: device.id }),
  );
}

/** Makes a device known, or refreshes what is known of it; returns its id. Part of a write. */
export function deviceKeeper(context: Context) {
  const { db, query } = context;
  const { device: find } = lookups(context);
  const add = addDeviceStatement(context);
  const refresh = prepare(
    db,
    query
      .update(device)
      .set({
        os: sql`${value('os')}`,
        os_version: sql`${value('osVersion')}`,
        device_name: sql`${value('deviceName')}`,
        app_version: sql`${value('appVersion')}`,
        user_agent: sql`${value('userAgent')}`,
        last_seen_at_ms: sql`${value('nowMs')}`,
      })
      .where(eq(device.id, value('id'))),
  );
  return (hwid: string, said: DeviceFacts, nowMs: number): number => {
    const known = find.get({ hwid });
    if (known === null)
      return (
        add.get({ hwid, ...said, firstSeenAtMs: nowMs, lastSeenAtMs: nowMs }) as { id: number }
      ).id;
    refresh.run({ id: known.id, ...mergeFacts(known, said), nowMs });
    return known.id;
  };
}

function checkInStatements({ db, query }: Context) {
  return {
    lastSeen: prepare(
      db,
      query
        .select(named({ lastSeenAtMs: deviceProvider.last_seen_at_ms }))
        .from(deviceProvider)
        .where(
          and(
            eq(deviceProvider.device_id, value('deviceId')),
            eq(deviceProvider.provider_id, value('providerId')),
          ),
        ),
    ),
    isLinked: prepare(
      db,
      query
        .select(named({ linkedAtMs: deviceDomain.linked_at_ms }))
        .from(deviceDomain)
        .where(
          and(
            eq(deviceDomain.device_id, value('deviceId')),
            eq(deviceDomain.domain_id, value('domainId')),
          ),
        ),
    ),
    see: prepare(
      db,
      query
        .insert(deviceProvider)
        .values({
          device_id: value('deviceId'),
          provider_id: value('providerId'),
          last_seen_at_ms: value('nowMs'),
        })
        .onConflictDoUpdate({
          target: [deviceProvider.device_id, deviceProvider.provider_id],
          set: { last_seen_at_ms: sql`excluded.last_seen_at_ms` },
        }),
    ),
    link: prepare(
      db,
      query
        .insert(deviceDomain)
        .values({
          device_id: value('deviceId'),
          domain_id: value('domainId'),
          linked_at_ms: value('nowMs'),
        })
        .onConflictDoNothing(),
    ),
  };
}

/** What the operator asks about devices. */
function operatorStatements({ db, query }: Context) {
  const ofDevice = value('deviceId');
  return {
    installs: prepare(
      db,
      query
        .select(
          named({
            installCode: install.install_code,
            providerCode: provider.code,
            registeredAtMs: installDevice.registered_at_ms,
          }),
        )
        .from(installDevice)
        .innerJoin(install, eq(install.id, installDevice.install_id))
        .innerJoin(provider, eq(provider.id, install.provider_id))
        .where(eq(installDevice.device_id, ofDevice))
        .orderBy(desc(installDevice.id)),
    ),
    domains: prepare(
      db,
      query
        .select(
          named({
            domainName: domain.domain_name,
            providerCode: provider.code,
            status: domain.status,
            linkedAtMs: deviceDomain.linked_at_ms,
          }),
        )
        .from(deviceDomain)
        .innerJoin(domain, eq(domain.id, deviceDomain.domain_id))
        .innerJoin(provider, eq(provider.id, domain.provider_id))
        .where(eq(deviceDomain.device_id, ofDevice))
        .orderBy(desc(deviceDomain.linked_at_ms)),
    ),
    seenBy: prepare(
      db,
      query
        .select(
          named({ providerCode: provider.code, lastSeenAtMs: deviceProvider.last_seen_at_ms }),
        )
        .from(deviceProvider)
        .innerJoin(provider, eq(provider.id, deviceProvider.provider_id))
        .where(eq(deviceProvider.device_id, ofDevice))
        .orderBy(desc(deviceProvider.last_seen_at_ms)),
    ),
    forget: prepare(db, query.delete(device).where(eq(device.hwid, value('hwid')))),
  };
}

/**
 * What a device must be for `filter`. CROSS JOIN keeps SQLite from going through all links of a
 * provider for each device instead of through the few slots of the device.
 */
export function filterConditions({
  os,
  installCode,
  providerCode,
}: Omit<DeviceFilter, 'countMax'>): (SQL | undefined)[] {
  const onLink = sql`install_device s CROSS JOIN install i ON i.id = s.install_id`;
  const ofDevice = sql`s.device_id = ${device.id}`;
  return [
    // Devices say `Windows`, people type `windows`.
    os === null ? undefined : sql`${device.os} = ${os} COLLATE NOCASE`,
    installCode === null
      ? undefined
      : sql`EXISTS (SELECT 1 FROM ${onLink}
          WHERE ${ofDevice} AND i.install_code = ${installCode})`,
    providerCode === null
      ? undefined
      : sql`(EXISTS (SELECT 1 FROM ${onLink} CROSS JOIN provider p ON p.id = i.provider_id
            WHERE ${ofDevice} AND p.code = ${providerCode})
          OR EXISTS (SELECT 1 FROM device_provider s CROSS JOIN provider p ON p.id = s.provider_id
            WHERE ${ofDevice} AND p.code = ${providerCode}))`,
  ];
}

export function deviceStore(context: Context): DeviceStore {
  const { db, query, writer, audit } = context;
  const on = checkInStatements(context);
  const find = lookups(context);
  const operator = operatorStatements(context);
  const keepDevice = deviceKeeper(context);

  function findIds({ providerCode, domainHash }: CheckInKey) {
    const found = find.provider.get({ providerCode });
    if (found === null) return null;
    const providerId = found.id;
    const bound = domainHash === null ? null : find.activeDomain.get({ providerId, domainHash });
    return { providerId, domainId: bound?.id ?? null };
  }

  return {
    findCheckIn: async (key) => {
      const ids = findIds(key);
      if (ids === null) return 'provider_not_found';
      const { providerId, domainId } = ids;
      const deviceId = find.device.get({ hwid: key.hwid })?.id ?? null;
      if (deviceId === null) return { lastSeenAtMs: null, isNewLink: domainId !== null };
      return {
        lastSeenAtMs: on.lastSeen.get({ deviceId, providerId })?.lastSeenAtMs ?? null,
        isNewLink: domainId !== null && on.isLinked.get({ deviceId, domainId }) === null,
      };
    },

    recordCheckIn: (key, facts, nowMs) =>
      writer.run(() => {
        const ids = findIds(key);
        if (ids === null) return 'provider_not_found';
        const deviceId = keepDevice(key.hwid, facts, nowMs);
        on.see.run({ deviceId, providerId: ids.providerId, nowMs });
        if (ids.domainId !== null) on.link.run({ deviceId, domainId: ids.domainId, nowMs });
        return 'ok';
      }),

    listDevices: async (filter) => {
      const list = query
        .select(DEVICE_COLUMNS)
        .from(device)
        .where(and(...filterConditions(filter)))
        .orderBy(desc(device.last_seen_at_ms), desc(device.id))
        .limit(filter.countMax);
      return listOnce(db, list);
    },

    findDevice: async (hwid): Promise<DeviceDetail | null> => {
      const found = find.device.get({ hwid });
      if (found === null) return null;
      const deviceId = found.id;
      return {
        device: found,
        installs: operator.installs.all({ deviceId }),
        domains: operator.domains.all({ deviceId }),
        seenBy: operator.seenBy.all({ deviceId }),
      };
    },

    forgetDevice: (hwid, act) =>
      writer.run(() => {
        if (operator.forget.run({ hwid }) === 0) return 'device_not_found';
        audit.note(act, { action: 'device.forget', object: { hwid_sha256: hwidHash(hwid) } });
        return 'ok';
      }),
  };
}
