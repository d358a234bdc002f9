/** Devices, as the operator lists, counts and shows them. */

import { FACT_FIELDS } from '../../core/device-facts.ts';
import { each } from '../../core/field.ts';
import type { CountStore } from '../../core/port/count.ts';
import type {
  Device,
  DeviceDetail,
  DeviceFacts,
  DeviceFilter,
  DeviceStore,
  DeviceToken,
} from '../../core/port/device.ts';
import { asciiLower } from '../../core/text.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Backend, Prepared, Values } from '../backend.ts';
import { columnOf, columns, sql, values } from '../statement-text.ts';
import { AT_PROVIDER_COLUMNS, atProvider, LAST_SEEN, slotSeen, withDevice } from './look-ups.ts';

type DeviceNoun = Pick<DeviceStore, 'listDevices' | 'pageDevices' | 'findDevice'> &
  Pick<CountStore, 'countDevices'>;

/** Devices that one statement of a list or count reads. */
const RANGE_COUNT = 10_000;

/** The latest value that a device reported: to the provider of row `p`, else without a provider. */
const latest = (fact: string) => {
  const column = columnOf(fact);
  return sql.raw(`coalesce(nullif(p.${column}, ''), d.${column})`);
};

const DEVICE_COLUMNS = sql`${columns({ d: 'device' }, 'd.id, d.hwid')},
  ${values<DeviceFacts>(each(FACT_FIELDS, latest))},
  ${columns({ d: 'device' }, 'd.firstSeenAtMs, d.lastSeenAtMs')}`;

/**
 * Devices `d`, each with its latest row `p` at a provider; only of one provider if one is given.
 */
const DEVICES = sql`
  device d LEFT JOIN device_provider p ON p.device_id = d.id AND p.provider_id = (
    SELECT v.provider_id FROM device_provider v
    WHERE v.device_id = d.id AND (CAST(:providerCode AS text) IS NULL
      OR v.provider_id = (SELECT o.id FROM provider o WHERE o.code = :providerCode))
    ORDER BY v.last_seen_at_ms DESC, v.provider_id DESC LIMIT 1)`;

type TokenRow = Pick<DeviceToken, 'locale'> & {
  push: string | null;
  atMs: number | null;
  why: string | null;
};

function detailStatements(backend: Backend) {
  const { prepare, join, arrival } = backend;
  return {
    device: prepare(sql`SELECT ${DEVICE_COLUMNS} FROM ${DEVICES} WHERE d.hwid = :hwid`),
    tokens: prepare(sql`
        SELECT ${columns(
          'device_token',
          'locale, push, pushDroppedAtMs AS atMs, pushDroppedWhy AS why',
        )}
        FROM device_token WHERE device_id = :deviceId ORDER BY id`),
    installs: prepare(sql`
        SELECT ${columns(
          { s: 'install_device', i: 'install', o: 'provider' },
          'i.installCode, o.code AS providerCode, s.registeredAtMs',
        )},
          ${values<{ lastSeenAtMs: DeviceDetail['installs'][number]['lastSeenAtMs'] }>({
            lastSeenAtMs: slotSeen(backend),
          })}
        FROM install_device s ${join} install i ON i.id = s.install_id
          ${join} provider o ON o.id = i.provider_id ${withDevice(backend)}
        WHERE s.device_id = :deviceId ORDER BY s.id DESC`),
    domains: prepare(sql`
        SELECT ${columns(
          { b: 'device_domain', m: 'domain', o: 'provider' },
          'm.domainName, o.code AS providerCode, m.status, b.linkedAtMs',
        )}
        FROM device_domain b ${join} domain m ON m.id = b.domain_id
          ${join} provider o ON o.id = m.provider_id
        WHERE b.device_id = :deviceId ORDER BY b.linked_at_ms DESC, b.${arrival} DESC`),
    seenBy: prepare(sql`
        SELECT ${columns({ o: 'provider' }, 'o.code AS providerCode')},
          ${AT_PROVIDER_COLUMNS}, ${LAST_SEEN}
        FROM device_provider p ${join} provider o ON o.id = p.provider_id
        WHERE p.device_id = :deviceId ORDER BY p.last_seen_at_ms DESC, p.provider_id DESC`),
  };
}

/** Statements about all devices that match a filter, one range of ids at a time. */
function filterStatements({ prepare, join }: Backend) {
  // Devices report `Windows`, people type `windows`.
  const inRange = sql`
    FROM ${DEVICES} WHERE d.id > :afterId AND d.id <= :toId
      AND (CAST(:os AS text) IS NULL OR lower(${latest('os')}) = :os)
      AND (CAST(:providerCode AS text) IS NULL OR p.device_id IS NOT NULL)
      AND (CAST(:installCode AS text) IS NULL OR d.id IN (
        SELECT s.device_id FROM install i ${join} install_device s ON s.install_id = i.id
        WHERE i.install_code = :installCode))`;
  return {
    rangeEnd: prepare(sql`
        SELECT ${values<{ toId: number | null }>({ toId: sql`max(id)` })} FROM (
          SELECT id FROM device WHERE id > :afterId ORDER BY id
          LIMIT ${RANGE_COUNT}) AS following`),
    list: prepare(sql`
        SELECT ${DEVICE_COLUMNS} ${inRange}
        ORDER BY d.last_seen_at_ms DESC, d.id DESC LIMIT :countMax`),
    page: prepare(sql`
        SELECT ${DEVICE_COLUMNS} FROM ${DEVICES} WHERE d.id < :beforeId
        ORDER BY d.id DESC LIMIT :countMax`),
    count: prepare(sql`SELECT ${values<{ count: number }>({ count: sql`count(*)` })} ${inRange}`),
  };
}

const newestFirst = (a: Device, b: Device) => b.lastSeenAtMs - a.lastSeenAtMs || b.id - a.id;

export function deviceNoun(backend: Backend): DeviceNoun {
  const on = detailStatements(backend);
  const ofFilter = filterStatements(backend);

  /** Runs a statement for each range of devices. */
  async function* ranges<Row>(
    statement: Prepared<Row>,
    { os, ...filter }: Omit<DeviceFilter, 'countMax'> & Values,
  ): AsyncGenerator<Row[]> {
    for (let afterId = 0; ; ) {
      const toId = (await backend.read(() => ofFilter.rangeEnd.get({ afterId })))?.toId ?? null;
      if (toId === null) return;
      const key = { ...filter, os: os === null ? null : asciiLower(os), afterId, toId };
      yield await backend.read(() => statement.all(key));
      afterId = toId;
      await nextTurn();
    }
  }

  return {
    listDevices: async (filter) => {
      const { countMax } = filter;
      let found: Device[] = [];
      for await (const rows of ranges(ofFilter.list, { ...filter })) {
        found = [...found, ...rows].sort(newestFirst).slice(0, countMax);
      }
      return found;
    },

    pageDevices: async (beforeId, countMax) =>
      backend.read(() => ofFilter.page.all({ beforeId, countMax, providerCode: null })),

    countDevices: async (filter) => {
      let sum = 0;
      for await (const [row] of ranges(ofFilter.count, { ...filter })) sum += row?.count ?? 0;
      return sum;
    },

    findDevice: async (hwid) =>
      backend.read(function* () {
        const device = yield* on.device.get({ hwid, providerCode: null });
        if (device === null) return null;
        const of = { deviceId: device.id };
        const [installs, domains, seenBy, tokens] = yield* backend.together([
          () => on.installs.all(of),
          () => on.domains.all(of),
          () => on.seenBy.all(of),
          () => on.tokens.all(of),
        ]);
        return {
          device,
          installs,
          domains,
          seenBy: seenBy.map(atProvider),
          tokens: tokens.map(tokenOf),
        };
      }),
  };
}

/** Returns a token without its secrets. */
function tokenOf({ locale, push, atMs, why }: TokenRow): DeviceToken {
  return {
    locale,
    gateway: push === null ? null : (JSON.parse(push) as { gateway: string }).gateway,
    dropped: atMs === null || why === null ? null : { atMs, why },
  };
}
