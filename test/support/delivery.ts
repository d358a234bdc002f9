/** The engine without a server: a fresh store, a fake clock, a worker moved by hand. */

import type { Clock } from '../../src/base/clock.ts';
import type { Core } from '../../src/core/core.ts';
import { deliverStep } from '../../src/core/message/deliver.ts';
import type { Targets } from '../../src/core/message/target.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { TokenHolder } from '../../src/core/port/inbox.ts';
import type { Plan, Provider } from '../../src/core/port/provider.ts';
import { addProvider } from '../../src/core/provider.ts';
import { sendCommand, sendNotification } from '../../src/core/send.ts';
import { Signals } from '../../src/core/signals.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { ACT } from './actor.ts';
import { freshPlace } from './app.ts';
import { type Beside, besideOf, type Looked } from './beside.ts';
import { WIDE_LIMITS } from './bounds.ts';
import { FakeClock } from './clock.ts';
import { noLeap } from './no-leap.ts';
import { NO_RIDES } from './no-rides.ts';
import { openPlace, type Place } from './place.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export interface Engine extends Looked {
  core: Core;
  clock: FakeClock;
  place: Place;
  /** The same data from outside, to seed and to look. */
  db: Beside;
  close(): Promise<void>;
}

/** The needs of seeding: the database, and of a provider its id. */
type Seeded = Pick<Engine, 'db'>;
type Owner = Pick<Provider, 'id'>;

export async function openEngine(): Promise<Engine> {
  const { place, database, drop } = await freshPlace();
  const { dataDir } = place;
  const clock = new FakeClock();
  const core = await openCoreOn(place, clock);
  const db = besideOf({ dataDir, database });
  return {
    core,
    clock,
    place,
    dataDir,
    database,
    db,
    close: async () => {
      await core.store.close();
      db.close();
      await drop();
    },
  };
}

/** One more connection with everything that belongs to a process; the caller closes its store. */
export async function openCoreOn(place: Place, clock: Clock): Promise<Core> {
  return {
    store: await openPlace(place, { create: true, clock }),
    signals: new Signals(),
    limits: WIDE_LIMITS,
    gateways: () => [],
    rides: () => NO_RIDES,
    leastMs: noLeap,
    pushKey: () => null,
    actor: () => ACT.actor,
  };
}

export async function makeProvider(engine: Engine, plan: Plan = 'enterprise'): Promise<Provider> {
  const draft = { name: 'test', plan, activeUntilMs: null, installCountMax: null };
  const made = await addProvider(engine.core, draft, engine.clock.nowMs());
  if (isRefused(made)) throw new Error(made.says);
  const found = await engine.core.store.findProvider(made.code);
  if (found === null) throw new Error('the provider is not there');
  return found;
}

/** Rows of one statement. */
const ROWS_MAX = 500;

/** Adds rows, many at a time: `row` is what stands for one of them, `head` and `tail` around. */
function addRows(
  { db }: Seeded,
  [head, row, tail]: readonly [string, string, string],
  all: readonly (readonly (string | number)[])[],
): number[] {
  const ids: number[] = [];
  for (let at = 0; at < all.length; at += ROWS_MAX) {
    const some = all.slice(at, at + ROWS_MAX);
    const sql = `${head} VALUES ${some.map(() => row).join(', ')} ${tail}`;
    const added = db.query<{ id: number }, (string | number)[]>(sql).all(...some.flat());
    ids.push(...added.map(({ id }) => id));
  }
  return ids;
}

/** Makes devices known, or gives them another operating system; returns their ids. */
export function makeDevices(engine: Seeded, hwids: readonly string[], os = 'android'): number[] {
  const statement = [
    `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
       first_seen_at_ms, last_seen_at_ms)`,
    "(?, ?, '', '', '', '', 0, 0)",
    'ON CONFLICT (hwid) DO UPDATE SET os = excluded.os RETURNING id',
  ] as const;
  return engine.db.transaction(() => {
    const ids = addRows(
      engine,
      statement,
      hwids.map((hwid) => [hwid, os]),
    );
    engine.db.run(
      `UPDATE device_provider SET os = d.os FROM device d
       WHERE d.id = device_provider.device_id AND d.id BETWEEN ? AND ? AND d.os = ?`,
      [Math.min(...ids), Math.max(...ids), os],
    );
    return ids;
  })();
}

/** Tells the providers that devices were linked to what these are. */
function tellSystems(engine: Seeded): void {
  engine.db.run(
    `UPDATE device_provider SET os = d.os FROM device d
     WHERE d.id = device_provider.device_id AND device_provider.os = ''`,
  );
}

/** Puts devices on new links of a provider, so many on each; returns the ids of the links. */
export function putOnLinks(
  engine: Seeded,
  provider: Owner,
  deviceIds: readonly number[],
  perLink = 100,
): number[] {
  const addLinks = [
    'INSERT INTO install (provider_id, install_code, install_limit, status, created_at_ms)',
    `(${provider.id}, ?, 100, 10, 0)`,
    'RETURNING id',
  ] as const;
  const addSlots = [
    `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
       after_recipient_id)`,
    `(?, ?, ${provider.id}, 0, 0)`,
    'RETURNING id',
  ] as const;
  return engine.db.transaction(() => {
    const codes = Array.from({ length: Math.ceil(deviceIds.length / perLink) }, () => [
      crypto.randomUUID(),
    ]);
    const links = addRows(engine, addLinks, codes);
    const slots = deviceIds.map((deviceId, i) => [links[Math.floor(i / perLink)] ?? 0, deviceId]);
    addRows(engine, addSlots, slots);
    tellSystems(engine);
    return links;
  })();
}

/** A provider with so many Android devices on its links. */
export async function seedDevices(engine: Engine, count: number) {
  const provider = await makeProvider(engine);
  const hwids = Array.from({ length: count }, (_, n) => `${provider.code}-${n}`);
  const devices = makeDevices(engine, hwids);
  putOnLinks(engine, provider, devices);
  return { provider, hwids, devices, first: devices[0] ?? 0 };
}

/** Links devices to a provider through a new binding; returns its id. */
export function bindDevices(engine: Seeded, provider: Owner, deviceIds: readonly number[]): number {
  const hash = crypto.randomUUID();
  const binding = engine.db
    .query<{ id: number }, [number, string]>(
      `INSERT INTO domain (provider_id, domain_hash, domain_name, status, created_at_ms)
       VALUES (?, ?, '', 10, 0) RETURNING id`,
    )
    .get(provider.id, hash);
  tieDevices(engine, binding?.id ?? 0, deviceIds);
  return binding?.id ?? 0;
}

/** Ties devices to a binding that is there. */
export function tieDevices(engine: Seeded, bindingId: number, deviceIds: readonly number[]): void {
  const ties = [
    'INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)',
    `(?, ${bindingId}, (SELECT provider_id FROM domain WHERE id = ${bindingId}), 0)`,
    'ON CONFLICT DO NOTHING RETURNING device_id AS id',
  ] as const;
  engine.db.transaction(() => {
    addRows(
      engine,
      ties,
      deviceIds.map((id) => [id]),
    );
    tellSystems(engine);
  })();
}

/** The store's reads of one turn share a snapshot, which does not have what `db` just wrote. */
const seeded = nextTurn;

const ANDROID: Targets = { os: ['android'] };

/** A notification of a provider that may send at once again; it must be accepted. */
export async function notify(
  engine: Engine,
  provider: Provider,
  {
    targets = ANDROID,
    dueInMs = null as number | null,
    expireDays = 7,
  }: { targets?: Targets; dueInMs?: number | null; expireDays?: number } = {},
): Promise<number> {
  engine.db.run('UPDATE provider SET last_general_at_ms = NULL');
  await seeded();
  const nowMs = engine.clock.nowMs();
  const sent = await sendNotification(
    engine.core,
    provider,
    {
      payload: { body: 'Hello', type_push: 'optional', expire_days: expireDays },
      targets,
      dueAtMs: dueInMs === null ? null : nowMs + dueInMs,
    },
    nowMs,
  );
  if (isRefused(sent)) throw new Error(`refused: ${sent.says}`);
  return sent.id;
}

/** A command that must be accepted. */
export async function command(
  engine: Engine,
  provider: Provider,
  targets: Targets = ANDROID,
  dueInMs: number | null = null,
): Promise<number> {
  await seeded();
  const nowMs = engine.clock.nowMs();
  const sent = await sendCommand(
    engine.core,
    provider,
    {
      payload: { action_type: 'update-subscription' },
      targets,
      dueAtMs: dueInMs === null ? null : nowMs + dueInMs,
    },
    nowMs,
  );
  if (isRefused(sent)) throw new Error(`refused: ${sent.says}`);
  return sent.id;
}

/** A worker would stop by itself long before. */
const STEPS_MAX = 20_000;

/** Lets a worker do everything that it can do now. */
export async function deliver(engine: Engine, owner = 'worker', core = engine.core) {
  await seeded();
  for (let steps = 0; await deliverStep(core, owner, engine.clock.nowMs()); steps++) {
    if (steps > STEPS_MAX) throw new Error('the worker does not come to rest');
  }
}

/** One step of a worker. */
export async function stepOnce(engine: Engine, owner = 'worker', core = engine.core) {
  await seeded();
  return deliverStep(core, owner, engine.clock.nowMs());
}

/** Steps until the distribution has a status; throws if it never gets it. */
export async function deliverUntil(
  engine: Engine,
  id: number,
  status: number,
  owner = 'worker',
): Promise<void> {
  for (let steps = 0; statusOf(engine, id) !== status; steps++) {
    const isMoved = await stepOnce(engine, owner);
    if (!isMoved || steps > STEPS_MAX) {
      throw new Error(`distribution ${id} stays at ${statusOf(engine, id)}, not ${status}`);
    }
  }
}

export function statusOf(engine: Engine, id: number): number | undefined {
  return engine.db
    .query<{ status: number }, [number]>('SELECT status FROM distribution WHERE id = ?')
    .get(id)?.status;
}

/** The operator's view of a distribution. */
export async function ledgerOf(engine: Engine, id: number) {
  await seeded();
  const found = await engine.core.store.findDistribution(id, 1_000_000);
  if (found === null) throw new Error(`there is no distribution ${id}`);
  return { ...found.totals, ...found.distribution };
}

/** A device as the holder of a token that opens all that is addressed to it. */
export function holderOf(engine: Seeded, deviceId: number): TokenHolder {
  const tokenHash = new Uint8Array(32);
  new DataView(tokenHash.buffer).setUint32(0, deviceId);
  engine.db.run(
    `INSERT INTO device_token (device_id, token_hash, stands_alone, nobody_after_distribution_id,
       nobody_after_recipient_id)
     SELECT id, ?, 1, 0, 0 FROM device WHERE id = ? ON CONFLICT DO NOTHING`,
    [tokenHash, deviceId],
  );
  engine.db.run(
    `UPDATE device_provider SET token_id = t.id, is_by_link = 1 FROM device_token t
     WHERE t.token_hash = ? AND device_provider.device_id = t.device_id`,
    [tokenHash],
  );
  return { id: deviceId, tokenHash };
}

/** The ids of the messages in a device's inbox, in the order in which it gets them. */
export async function inboxOf(engine: Engine, deviceId: number): Promise<number[]> {
  await seeded();
  const holder = holderOf(engine, deviceId);
  const limits = { countMax: 1000, bytesMax: Number.MAX_SAFE_INTEGER };
  const nowMs = engine.clock.nowMs();
  const { messages } = await engine.core.store.listInbox(holder, nowMs, limits);
  return messages.map((message) => message.id);
}
