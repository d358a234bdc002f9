/** The engine without a server: a store in a fresh folder, a fake clock, a worker moved by hand. */

import type { Database } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import type { Clock } from '../../src/clock.ts';
import type { Core } from '../../src/core/core.ts';
import { deliverStep } from '../../src/core/message/deliver.ts';
import { sendCommand, sendNotification } from '../../src/core/message/send.ts';
import type { Targets } from '../../src/core/message/target.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { TokenHolder } from '../../src/core/port/inbox.ts';
import type { Plan, Provider } from '../../src/core/port/provider.ts';
import { addProvider } from '../../src/core/provider.ts';
import { Signals } from '../../src/core/signals.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from './actor.ts';
import { freshFolder } from './app.ts';
import { WIDE_LIMITS } from './bounds.ts';
import { FakeClock } from './clock.ts';
import { openBeside } from './database.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export interface Engine {
  core: Core;
  clock: FakeClock;
  dataDir: string;
  /** The same file from outside, to seed and to look. */
  db: Database;
  close(): Promise<void>;
}

/** The needs of seeding: the database file, and of a provider its id. */
type Seeded = Pick<Engine, 'db'>;
type Owner = Pick<Provider, 'id'>;

export async function openEngine(): Promise<Engine> {
  const dataDir = freshFolder();
  const clock = new FakeClock();
  const core = await openCoreOn(dataDir, clock);
  const db = openBeside(dataDir);
  return {
    core,
    clock,
    dataDir,
    db,
    close: async () => {
      await core.store.close();
      db.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** One more connection with everything that belongs to a process; the caller closes its store. */
export async function openCoreOn(dataDir: string, clock: Clock): Promise<Core> {
  return {
    store: await openSqliteStore({ dataDir, create: true, commitBatchMax: 1024, clock }),
    signals: new Signals(),
    limits: WIDE_LIMITS,
    gateways: () => [],
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

/** Makes devices known, or gives them another operating system; returns their ids. */
export function makeDevices(engine: Seeded, hwids: readonly string[], os = 'android'): number[] {
  const add = engine.db.query<{ id: number }, [string, string]>(
    `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
       first_seen_at_ms, last_seen_at_ms) VALUES (?, ?, '', '', '', '', 0, 0)
     ON CONFLICT (hwid) DO UPDATE SET os = excluded.os RETURNING id`,
  );
  const turn = engine.db.query('UPDATE device_provider SET os = ? WHERE device_id = ?');
  return engine.db.transaction(() =>
    hwids.map((hwid) => {
      const id = add.get(hwid, os)?.id ?? 0;
      turn.run(os, id);
      return id;
    }),
  )();
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
  const addLink = engine.db.query<{ id: number }, [number, string]>(
    `INSERT INTO install (provider_id, install_code, install_limit, status, created_at_ms)
     VALUES (?, ?, 100, 10, 0) RETURNING id`,
  );
  const addSlot = engine.db.prepare(
    `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
       after_recipient_id) VALUES (?, ?, ${provider.id}, 0, 0)`,
  );
  const links: number[] = [];
  engine.db.transaction(() => {
    for (let i = 0; i < deviceIds.length; i += perLink) {
      const link = addLink.get(provider.id, crypto.randomUUID())?.id ?? 0;
      for (const deviceId of deviceIds.slice(i, i + perLink)) addSlot.run(link, deviceId);
      links.push(link);
    }
    tellSystems(engine);
  })();
  addSlot.finalize();
  return links;
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
  const tie = engine.db.prepare(
    `INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)
     SELECT ?, id, provider_id, 0 FROM domain WHERE id = ? ON CONFLICT DO NOTHING`,
  );
  engine.db.transaction(() => {
    for (const deviceId of deviceIds) tie.run(deviceId, bindingId);
    tellSystems(engine);
  })();
  tie.finalize();
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
