/**
 * Random providers, devices, links, bindings, sends and interruptions against a small model: who
 * gets what, and whether the numbers of the ledger add up.
 */

import { afterAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Core } from '../../../src/core/core.ts';
import { LEASE_MS } from '../../../src/core/message/deliver.ts';
import { BLOCKED, statusesBefore } from '../../../src/core/message/status.ts';
import type { Targets } from '../../../src/core/message/target.ts';
import { Refused } from '../../../src/core/outcome.ts';
import { removeProvider } from '../../../src/core/provider.ts';
import { sendCommand } from '../../../src/core/send.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { ACT } from '../../support/actor.ts';
import {
  bindDevices,
  deliver,
  HOUR_MS,
  inboxOf,
  ledgerOf,
  makeDevices,
  makeProvider,
  openEngine,
  putOnLinks,
  tieDevices,
} from '../../support/delivery.ts';
import { playModel } from '../../support/model.ts';
import { STORE } from '../../support/place.ts';
import { DEVICES, OS, PROVIDERS, World } from './deliver-model.ts';

const engine = await openEngine();
afterAll(() => engine.close());

type Act = (world: World) => Promise<void> | void;

/** With a name, so that a failure prints the way to it and not the sources. */
function act<T>(name: string, values: fc.Arbitrary<T>, run: (value: T) => Act) {
  const nameOf = (value: T) => `${name} ${JSON.stringify(value)}`;
  return values.map((value) => Object.assign(run(value), { toString: () => nameOf(value) }));
}

const anyProvider = fc.nat({ max: PROVIDERS - 1 });
const anyDevice = fc.nat({ max: DEVICES - 1 });
const pair = fc.tuple(anyProvider, anyDevice);
const known = (world: World, device: number) => !world.forgotten.has(device);

function addSlot(world: World, p: number, d: number): void {
  const [provider, device] = [world.providers[p], world.devices[d]];
  if (!provider || !device || !known(world, d) || world.onLink.has(`${p} ${d}`)) return;
  putOnLinks(engine, provider, [device]);
  world.onLink.add(`${p} ${d}`);
}

const takeSlot = act(
  'take slot',
  pair,
  ([p, d]): Act =>
    (world) =>
      addSlot(world, p, d),
);

const freeSlot = act(
  'freeSlot',
  pair,
  ([p, d]): Act =>
    (world) => {
      engine.db.run(
        `DELETE FROM install_device WHERE device_id = ?
       AND install_id IN (SELECT id FROM install WHERE provider_id = ?)`,
        [world.devices[d] ?? 0, world.providers[p]?.id ?? 0],
      );
      world.onLink.delete(`${p} ${d}`);
    },
);

const bind = act(
  'bind',
  pair,
  ([p, d]): Act =>
    (world) => {
      if (!known(world, d)) return;
      tieDevices(engine, world.bindings[p] ?? 0, [world.devices[d] ?? 0]);
      world.bound.add(`${p} ${d}`);
    },
);

const switchBinding = act(
  'switchBinding',
  fc.tuple(anyProvider, fc.boolean()),
  ([p, isOff]): Act =>
    (world) => {
      engine.db.run('UPDATE domain SET status = ? WHERE id = ?', [
        isOff ? 5 : 10,
        world.bindings[p] ?? 0,
      ]);
      world.isBindingOff[p] = isOff;
    },
);

const forget = act(
  'forget',
  anyDevice,
  (d): Act =>
    async (world) => {
      if (!known(world, d)) return;
      await engine.core.store.forgetDevice(world.hwids[d] ?? '', ACT);
      world.forgotten.add(d);
    },
);

const anyTargets = fc.oneof(
  fc.subarray(['ios', 'android'], { minLength: 1 }).map((os) => ({ os })),
  fc.uniqueArray(anyDevice, { minLength: 1, maxLength: 3 }).map((devices) => ({ devices })),
);
const anyDelay = fc.option(fc.integer({ min: 1, max: 48 }).map((hours) => hours * HOUR_MS));

const send = act(
  'send',
  fc.tuple(anyProvider, anyTargets, anyDelay),
  ([p, targets, delayMs]): Act =>
    async (world) => {
      const provider = world.providers[p];
      if (!provider) return;
      await nextTurn();
      const nowMs = engine.clock.nowMs();
      const dueAtMs = delayMs === null ? null : nowMs + delayMs;
      const named =
        'os' in targets ? targets : { hwids: targets.devices.map((d) => world.hwids[d] ?? '') };
      const payload = { action_type: 'update-subscription' } as const;
      const order = { payload, targets: named as Targets, dueAtMs };
      const outcome = await sendCommand(engine.core, provider, order, nowMs);
      if ('devices' in targets && targets.devices.some((d) => !known(world, d))) {
        expect(outcome).toEqual(new Refused('device_not_found'));
      } else if ('devices' in targets && targets.devices.some((d) => !world.isLinked(p, d))) {
        expect(outcome).toEqual(new Refused('unbound_not_allowed'));
      } else {
        const { id } = outcome as { id: number };
        expect(id).toBeNumber();
        const model = { id, provider: p, targets, dueAtMs: dueAtMs ?? nowMs };
        world.sent.push({ ...model, status: 10, got: [], failed: 0 });
      }
    },
);

const block = act(
  'block',
  fc.nat({ max: 20 }),
  (n): Act =>
    async (world) => {
      const one = world.sent[n];
      if (!one) return;
      const from = statusesBefore(BLOCKED);
      const outcome = await engine.core.store.blockDistribution(
        one.id,
        from,
        engine.clock.nowMs(),
        ACT,
      );
      expect(outcome).toBe(one.status === 10 ? 'ok' : one.status);
      if (one.status === 10) one.status = 140;
    },
);

/** A core whose process dies before the n-th thing that it asks of the store. */
function dyingCore(callCount: number): Core {
  let left = callCount;
  const store = new Proxy(engine.core.store, {
    get: (target, name, receiver) => {
      if (left-- <= 0) throw new Error('killed');
      return Reflect.get(target, name, receiver);
    },
  });
  return { ...engine.core, store };
}

/** Workers that die after a few calls, one after the other, and one that does not. */
const work = act(
  'work',
  fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 4 }),
  (lives): Act =>
    async (world) => {
      world.deliver(engine.clock.nowMs());
      for (const [n, calls] of lives.entries()) {
        await deliver(engine, `dies ${n}`, dyingCore(calls)).catch((fault: Error) => {
          expect(fault.message).toBe('killed');
        });
        engine.clock.advance(LEASE_MS);
      }
      await deliver(engine, 'lives');
      await check(world);
    },
);

const pass = act(
  'pass',
  fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(31 * 24)),
  (hours): Act =>
    () =>
      engine.clock.advance(hours * HOUR_MS),
);

async function check(world: World): Promise<void> {
  const nowMs = engine.clock.nowMs();
  for (const one of world.sent) {
    const ledger = await ledgerOf(engine, one.id);
    // What is not due was looked at and waits.
    const expected = one.status === 10 ? 30 : one.status;
    expect([one.id, ledger.status]).toEqual([one.id, expected]);
    if (one.status > 120 || one.status === 10) continue;
    const { recipientCount, sentCount, failedCount } = ledger;
    expect([one.id, sentCount, failedCount]).toEqual([one.id, one.got.length, one.failed]);
    expect(recipientCount).toBe(sentCount + failedCount);
    // Rows of devices that were forgotten are gone, and nothing is left in the queue.
    const rows = ledger.queued + ledger.sent + ledger.failed + ledger.expired;
    expect(ledger.queued).toBe(0);
    expect(rows).toBeLessThanOrEqual(recipientCount);
    if (world.forgotten.size === 0) expect(rows).toBe(recipientCount);
  }
  for (const [d, device] of world.devices.entries()) {
    const inbox = await inboxOf(engine, device);
    for (let p = 0; p < PROVIDERS; p++) {
      const ofProvider = world.sent.filter((one) => one.provider === p).map((one) => one.id);
      const got = inbox.filter((id) => ofProvider.includes(id));
      expect([p, d, got]).toEqual([p, d, world.inbox(p, d, nowMs)]);
    }
  }
}

async function makeWorld(): Promise<World> {
  const providers = [];
  for (let p = 0; p < PROVIDERS; p++) providers.push(await makeProvider(engine));
  const hwids = OS.map(() => crypto.randomUUID());
  const devices = hwids.flatMap((hwid, d) => makeDevices(engine, [hwid], OS[d]));
  const bindings = providers.map((provider) => bindDevices(engine, provider, []));
  const world = new World(providers, hwids, devices, bindings);
  // Something to begin with, or most sends would be refused.
  for (const [p, d] of [0, 1, 2, 3].flatMap(
    (d) =>
      [
        [0, d],
        [1, d],
      ] as const,
  ))
    addSlot(world, p, d);
  return world;
}

test('whatever happens, everybody who should gets it, once, and the numbers add up', async () => {
  const anyAct = fc.oneof(
    { arbitrary: takeSlot, weight: 4 },
    { arbitrary: bind, weight: 3 },
    { arbitrary: send, weight: 5 },
    { arbitrary: work, weight: 4 },
    { arbitrary: pass, weight: 2 },
    { arbitrary: fc.oneof(freeSlot, switchBinding, forget, block), weight: 3 },
  );
  await playModel(
    fc.array(anyAct, { minLength: 5, maxLength: 40 }),
    async (acts) => {
      const world = await makeWorld();
      for (const one of acts) await one(world);
      engine.clock.advance(49 * HOUR_MS);
      world.deliver(engine.clock.nowMs());
      await deliver(engine);
      await check(world);
      for (const { code } of world.providers) await removeProvider(engine.core, code, 0);
    },
    { runsMin: 30, runsMax: STORE === 'sqlite' ? 300 : 40, seconds: 4 },
  );
});
