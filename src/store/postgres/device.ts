import { type SQL, sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import type { Act } from '../../core/port/audit.ts';
import type {
  Device,
  DeviceAtProvider,
  DeviceDetail,
  DeviceFilter,
  DeviceToken,
} from '../../core/port/device.ts';
import type { Store } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import { checkInStore } from './check-in.ts';
import type { Context } from './context.ts';
import { dropRecipients } from './forgetting.ts';
import { AT_PROVIDER_COLUMNS, LAST_SEEN, SLOT_SEEN } from './lookups.ts';
import { endSlot, lockSlots, type SlotRow, storySteps } from './slot-end.ts';
import { prepare, type Runner, value } from './statement.ts';
import type { Write } from './write.ts';

type DeviceStore = Pick<
  Store,
  'findCheckIn' | 'recordCheckIn' | 'listDevices' | 'findDevice' | 'forgetDevice'
>;

/** Rows of a device that go in one step when it is forgotten. */
const FORGET_STEP = 2_000;
/** Slots that do: each leaves an end in the story of its link, whose provider waits. */
const END_STEP = 20;

/** Devices that one statement of a list looks at, and shows. */
const RANGE_STEP = 10_000;
const SHOWN_STEP = 2_000;
const NEWEST_FIRST = sql`d.last_seen_at_ms DESC, d.id DESC`;

/** A fact that a device told last: at the provider of row `p`, else to nobody in particular. */
const latest = (column: string) => `coalesce(nullif(p.${column}, ''), d.${column})`;

const DEVICE_COLUMNS = sql.raw(`
  d.id AS id, d.hwid AS hwid, ${latest('os')} AS os, ${latest('os_version')} AS "osVersion",
  ${latest('device_name')} AS "deviceName", ${latest('app_version')} AS "appVersion",
  ${latest('user_agent')} AS "userAgent", d.first_seen_at_ms AS "firstSeenAtMs",
  d.last_seen_at_ms AS "lastSeenAtMs"`);

/** To the device `d`, its latest row `p` at a provider. */
const LATEST_PLACE = sql`LEFT JOIN LATERAL (
  SELECT v.* FROM device_provider v WHERE v.device_id = d.id
  ORDER BY v.last_seen_at_ms DESC, v.provider_id DESC LIMIT 1) p ON true`;

/** The same at one provider, without the devices that it does not know. */
const placeAt = (providerCode: string) => sql`JOIN device_provider p ON p.device_id = d.id
  AND p.provider_id = (SELECT o.id FROM provider o WHERE o.code = ${providerCode})`;

/** Questions of the operator about devices. */
const operator = {
  range: prepare<{ toId: number | null }>(sql`
      SELECT max(id) AS "toId" FROM (
        SELECT id FROM device WHERE id > ${value('afterId')} ORDER BY id LIMIT ${RANGE_STEP}) AS next`),
  device: prepare<Device>(sql`
      SELECT ${DEVICE_COLUMNS} FROM device d ${LATEST_PLACE} WHERE d.hwid = ${value('hwid')}`),
  tokens: prepare<{
    locale: string | null;
    push: string | null;
    atMs: number | null;
    why: string | null;
  }>(sql`
      SELECT locale, push, push_dropped_at_ms AS "atMs", push_dropped_why AS why
      FROM device_token WHERE device_id = ${value('deviceId')} ORDER BY id`),
  installs: prepare<DeviceDetail['installs'][number]>(sql`
      SELECT i.install_code AS "installCode", o.code AS "providerCode",
        s.registered_at_ms AS "registeredAtMs", ${SLOT_SEEN} AS "lastSeenAtMs"
      FROM install_device s JOIN install i ON i.id = s.install_id
        JOIN provider o ON o.id = i.provider_id
        JOIN device_provider p ON p.device_id = s.device_id AND p.provider_id = s.provider_id
      WHERE s.device_id = ${value('deviceId')} ORDER BY s.id DESC`),
  domains: prepare<DeviceDetail['domains'][number]>(sql`
      SELECT m.domain_name AS "domainName", o.code AS "providerCode", m.status AS status,
        b.linked_at_ms AS "linkedAtMs"
      FROM device_domain b JOIN domain m ON m.id = b.domain_id
        JOIN provider o ON o.id = m.provider_id
      WHERE b.device_id = ${value('deviceId')} ORDER BY b.linked_at_ms DESC, b.id DESC`),
  seenBy: prepare<DeviceAtProvider & { providerCode: string }>(sql`
      SELECT o.code AS "providerCode", ${AT_PROVIDER_COLUMNS}, ${LAST_SEEN}
      FROM device_provider p JOIN provider o ON o.id = p.provider_id
      WHERE p.device_id = ${value('deviceId')}
      ORDER BY p.last_seen_at_ms DESC, p.provider_id DESC`),
};

const forget = {
  lock: prepare<{ id: number }>(sql`
      SELECT id FROM device WHERE hwid = ${value('hwid')} FOR NO KEY UPDATE`),
  lockById: prepare(sql`
      SELECT id FROM device WHERE id = ${value('id')} FOR NO KEY UPDATE`),
  tokens: prepare(sql`DELETE FROM device_token WHERE device_id = ${value('id')}`),
  slots: prepare<SlotRow>(sql`
      SELECT id AS "slotId", install_id AS "installId", provider_id AS "providerId"
      FROM install_device WHERE device_id = ${value('id')} ORDER BY id LIMIT ${END_STEP}`),
  ties: prepare(sql`
      DELETE FROM device_domain WHERE device_id = ${value('id')} AND domain_id IN (
        SELECT domain_id FROM device_domain WHERE device_id = ${value('id')}
        LIMIT ${value('countMax')})`),
  lockForGood: prepare<{ holderCount: number }>(sql`
      SELECT holder_count AS "holderCount" FROM device WHERE id = ${value('id')} FOR UPDATE`),
  /** With it go its places, one for each provider at most. */
  device: prepare(sql`DELETE FROM device WHERE id = ${value('id')}`),
};

/** `FROM` and `WHERE` of the devices `d` that `filter` lets through. */
export function devicesThat({
  os,
  installCode,
  providerCode,
}: Omit<DeviceFilter, 'countMax'>): SQL {
  const conditions = [sql`true`];
  // Devices say `Windows`, people type `windows`.
  if (os !== null) conditions.push(sql`lower(${sql.raw(latest('os'))}) = lower(${os} COLLATE "C")`);
  if (installCode !== null) {
    conditions.push(sql`d.id IN (
      SELECT s.device_id FROM install_device s JOIN install i ON i.id = s.install_id
      WHERE i.install_code = ${installCode})`);
  }
  const nowhere = os === null ? sql`` : LATEST_PLACE;
  const place = providerCode === null ? nowhere : placeAt(providerCode);
  return sql`device d ${place} WHERE ${sql.join(conditions, sql` AND `)}`;
}

/** Ranges of all devices `d` that are quick to look at, as conditions. */
export async function* deviceRanges(runner: Runner): AsyncGenerator<SQL> {
  for (let afterId = 0; ; ) {
    const found = await operator.range.get(runner, { afterId });
    const toId = found?.toId ?? null;
    if (toId === null) return;
    yield sql`d.id > ${afterId} AND d.id <= ${toId}`;
    afterId = toId;
  }
}

/** The ids of the devices that were seen last, of all that `filter` lets through. */
async function newest(runner: Runner, filter: DeviceFilter): Promise<number[]> {
  const { countMax } = filter;
  let found: { id: number; seenAtMs: number }[] = [];
  const cut = () => {
    found = found.sort((a, b) => b.seenAtMs - a.seenAtMs || b.id - a.id).slice(0, countMax);
  };
  for await (const range of deviceRanges(runner)) {
    const some = prepare<{ id: number; seenAtMs: number }>(sql`
      SELECT d.id::float8 AS id, d.last_seen_at_ms::float8 AS "seenAtMs"
      FROM ${devicesThat(filter)} AND ${range} ORDER BY ${NEWEST_FIRST} LIMIT ${countMax}`);
    for (const row of await some.all(runner)) found.push(row);
    if (found.length >= 2 * countMax) cut();
  }
  cut();
  return found.map(({ id }) => id);
}

/** The rows of a device, in the order in which they can go; cascades would take all at once. */
function stepsOf(id: number, act: Act): ((w: Write) => Promise<number>)[] {
  const all = { id, countMax: FORGET_STEP };
  return [
    (w) => endSlots(w, id, act),
    (w) => dropRecipients(w, [id], FORGET_STEP),
    async (w) => {
      await forget.lockById.run(w, { id });
      return forget.ties.run(w, all);
    },
    ...storySteps.map((step) => (w: Write) => step.run(w, all)),
  ];
}

/** Ends some slots of a device that is forgotten; says how many. */
async function endSlots(w: Write, id: number, { actor, atMs: nowMs }: Act): Promise<number> {
  const slots = await forget.slots.all(w, { id });
  await lockSlots(w, slots);
  const why = { why: 'forgotten', actor: actor.name, forDeviceId: null, nowMs } as const;
  for (const slot of slots) await endSlot(w, slot, why);
  return slots.length;
}

/** What is to be told of a token, without its secrets. */
function tokenOf(row: { push: string | null; atMs: number | null; why: string | null }) {
  const { push, atMs, why } = row;
  return {
    gateway: push === null ? null : (JSON.parse(push) as { gateway: string }).gateway,
    dropped: atMs === null || why === null ? null : { atMs, why },
  };
}

export function deviceStore(context: Context): DeviceStore {
  const { db, write } = context;
  return {
    ...checkInStore(context),

    listDevices: async (filter) => {
      const ids = await newest(db, filter);
      const { providerCode } = filter;
      const place = providerCode === null ? LATEST_PLACE : placeAt(providerCode);
      const devices: Device[] = [];
      for (let n = 0; n < ids.length; n += SHOWN_STEP) {
        const some = sql.param(ids.slice(n, n + SHOWN_STEP));
        const shown = prepare<Device>(sql`
          SELECT ${DEVICE_COLUMNS} FROM device d ${place} WHERE d.id = ANY(${some}::bigint[])
          ORDER BY ${NEWEST_FIRST}`);
        devices.push(...(await shown.all(db)));
      }
      return devices;
    },

    findDevice: async (hwid): Promise<DeviceDetail | null> => {
      const device = await operator.device.get(db, { hwid });
      if (device === null) return null;
      const of = { deviceId: device.id };
      const [installs, domains, seenBy, tokens] = await Promise.all([
        operator.installs.all(db, of),
        operator.domains.all(db, of),
        operator.seenBy.all(db, of),
        operator.tokens.all(db, of),
      ]);
      const shown = tokens.map((row): DeviceToken => ({ locale: row.locale, ...tokenOf(row) }));
      return { device, installs, domains, seenBy, tokens: shown };
    },

    forgetDevice: async (hwid, act) => {
      // From then on nobody reads what is left.
      const id = await write(async (w) => {
        const found = await forget.lock.get(w, { hwid });
        if (found === null) return null;
        await forget.tokens.run(w, { id: found.id });
        w.notify([found.id]);
        return found.id;
      });
      if (id === null) return 'device_not_found';
      for (;;) {
        for (const step of stepsOf(id, act)) while ((await write(step)) > 0) await nextTurn();
        const forgotten = await write(async (w) => {
          const left = await forget.lockForGood.get(w, { id });
          if (left === null) return 'device_not_found';
          // It came back meanwhile: its slots are to get their ends, and links go before devices.
          if (left.holderCount > 0) return null;
          await forget.device.run(w, { id });
          w.audit.note(act, deeds.forgetDevice(hwid));
          return 'ok';
        });
        if (forgotten !== null) return forgotten;
      }
    },
  };
}
