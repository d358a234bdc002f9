/** The worker of the outbox on a real database: what distributions and webhooks see of it. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { makeLog } from '../../src/base/log.ts';
import type { Core } from '../../src/core/core.ts';
import type { AttemptVerdict } from '../../src/core/outbox/carrier.ts';
import type { Provider } from '../../src/core/port/provider.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { Outbox } from '../../src/jobs/outbox/worker.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { addWebhook, makeLink } from '../store/contract/webhook.ts';
import {
  deliver,
  type Engine,
  inboxOf,
  ledgerOf,
  notify,
  openEngine,
  seedDevices,
} from '../support/delivery.ts';
import { ACCEPTED, Scripted } from '../support/fake-outbox.ts';

const SECOND_MS = 1_000;

/** A process: its own connection and worker, and carriers that all processes share. */
interface Life {
  core: Core;
  worker: Outbox;
}

let engine: Engine;
let lives: Life[] = [];
const fcm = new Scripted(64);
const webhook = new Scripted(4);

beforeEach(async () => {
  engine = await openEngine();
  for (const carrier of [fcm, webhook]) {
    carrier.calls.splice(0);
    carrier.auto = () => ACCEPTED;
  }
});
afterEach(async () => {
  for (const life of lives) await end(life);
  await engine.close();
});

async function begin(): Promise<Life> {
  const { dataDir, clock, core } = engine;
  let look = () => {};
  const opening = { dataDir, create: true, commitBatchMax: 1024, clock, onOutbox: () => look() };
  const own: Core = { ...core, store: await openSqliteStore(opening), gateways: () => ['fcm'] };
  const worker = new Outbox({
    core: own,
    clock,
    gateways: () => ({ fcm }),
    random: () => 0.5,
    eventSenders: { webhook, telegram: webhook },
    log: makeLog({ logFormat: 'human', logLevel: 'error' }, clock.nowMs, (line) => {
      throw new Error(line);
    }),
    settings: { gatewayCarryMessages: false, outputOffsetMinutes: 0 },
    onAttempt: () => undefined,
  });
  look = () => worker.wake();
  const life = { core: own, worker };
  lives.push(life);
  return life;
}

async function end(life: Life): Promise<void> {
  lives = lives.filter((each) => each !== life);
  let hasStopped = false;
  const stopping = life.worker.stop().finally(() => {
    hasStopped = true;
  });
  await pass('it has stopped', () => hasStopped);
  await stopping;
  await life.core.store.close();
}

/** Lets everybody go on until there is what the test waits for. */
async function pass(what: string, probe: () => boolean): Promise<void> {
  for (let turns = 0; !probe(); turns++) {
    if (turns > 50_000) throw new Error(`waited in vain: ${what}`);
    if (turns % 20 === 19) {
      engine.clock.advance(20);
      for (const { worker } of lives) worker.tick();
    }
    await nextTurn();
  }
}

const waitingCount = () =>
  engine.db.query<{ n: number }, []>('SELECT count(*) AS n FROM outbox').get()?.n ?? 0;
const allGone = () => pass('nothing waits', () => waitingCount() === 0);

/** A provider with devices that have an address at FCM. */
async function seedPhones(count: number): Promise<{ provider: Provider; devices: number[] }> {
  const { provider, devices } = await seedDevices(engine, count);
  for (const id of devices) {
    // Gives it a token that reads its inbox.
    await inboxOf(engine, id);
    const push = JSON.stringify({ gateway: 'fcm', token: `phone ${id}` });
    engine.db.run('UPDATE device_token SET push = ? WHERE device_id = ?', [push, id]);
  }
  return { provider, devices };
}

/** Sends to all, and hands the message to inboxes and outbox. */
async function send({ core }: Life, provider: Provider): Promise<number> {
  const id = await notify(engine, provider);
  await deliver(engine, 'delivery', core);
  return id;
}

test('each device has its push, and the distribution ends with the last', async () => {
  const { provider } = await seedPhones(150);
  const life = await begin();
  fcm.auto = () => null;
  const id = await send(life, provider);
  await pass('some are under way', () => fcm.calls.length === 64);
  expect(await ledgerOf(engine, id)).toMatchObject({ status: 40, sentCount: 0 });
  fcm.auto = () => ACCEPTED;
  for (const call of fcm.calls.slice()) call.answer(ACCEPTED);
  await allGone();
  expect(await ledgerOf(engine, id)).toMatchObject({ status: 100, sentCount: 150 });
  expect(new Set(fcm.calls.map(({ to }) => to)).size).toBe(150);
  expect(fcm.calls.length).toBe(150);
});

test('a dead address and a wrong message fail those devices alone', async () => {
  const { provider, devices } = await seedPhones(10);
  const [dead = 0, wrong = 0] = devices;
  const answers = new Map<string, AttemptVerdict>([
    [`phone ${dead}`, { verdict: 'dead', problem: 'the app is gone' }],
    [`phone ${wrong}`, { verdict: 'failed', problem: 'it is too long' }],
  ]);
  fcm.auto = (to) => answers.get(to) ?? ACCEPTED;
  const id = await send(await begin(), provider);
  await allGone();
  const counts = { status: 110, sentCount: 8, failedCount: 2 };
  expect(await ledgerOf(engine, id)).toMatchObject(counts);
  const addresses = engine.db
    .query<{ device_id: number }, []>('SELECT device_id FROM device_token WHERE push IS NULL')
    .all();
  expect(addresses).toEqual([{ device_id: dead }]);
  expect(await inboxOf(engine, dead)).toEqual([id]);
});

test('an event wakes the worker by its commit, and a deleted webhook gets no more', async () => {
  const { provider } = await seedDevices(engine, 1);
  const { core } = await begin();
  const well = await addWebhook(core.store, provider.id);
  const gone = await addWebhook(core.store, provider.id);
  webhook.auto = (to) =>
    to.startsWith(`${gone}:`) ? { verdict: 'dead', problem: '410 Gone' } : ACCEPTED;
  await makeLink(core.store, provider.id);
  await pass('both were asked', () => webhook.calls.length >= 2);
  const disabled = async () => (await core.store.findWebhook(gone))?.disabled?.why;
  for (let turns = 0; (await disabled()) === undefined && turns < 1_000; turns++) {
    await nextTurn();
    engine.clock.advance(1);
  }
  expect(await disabled()).toBe('410 Gone');
  await makeLink(core.store, provider.id, 2);
  await allGone();
  const asked = webhook.calls.map(({ to }) => Number.parseInt(to, 10));
  expect(asked.filter((id) => id === gone)).toEqual([gone]);
  expect(asked.filter((id) => id === well).length).toBeGreaterThanOrEqual(2);
});

test('two processes share the work, and hand over nothing twice', async () => {
  const { provider } = await seedPhones(100);
  const [one, other] = [await begin(), await begin()];
  const hooks = await Promise.all(
    Array.from({ length: 4 }, () => addWebhook(one.core.store, provider.id)),
  );
  for (let n = 1; n <= 20; n++)
    await makeLink(n % 2 ? one.core.store : other.core.store, provider.id, n);
  const id = await send(other, provider);
  await allGone();
  expect(fcm.calls.length).toBe(100);
  const sent = webhook.calls.map(({ to }) => to);
  expect(sent.length).toBe(new Set(sent).size);
  // Twenty links, and the end of the distribution.
  expect(sent.length).toBe(hooks.length * 21);
  expect(await ledgerOf(engine, id)).toMatchObject({ status: 100, sentCount: 100 });
});

test('a process that dies: another one goes on when its lease is over, with the same ids', async () => {
  const { provider } = await seedPhones(300);
  const first = await begin();
  fcm.auto = (to) => (Number(to.split(' ')[1]) % 3 === 0 ? ACCEPTED : null);
  const id = await send(first, provider);
  await pass('it hangs', () => fcm.underWayCount === 64);
  const begun = fcm.calls.map(({ to }) => to);
  const hung = begun.filter((to) => fcm.auto?.(to) === null);
  // From now on no signal arrives.
  lives = [];
  fcm.calls.splice(0);
  fcm.auto = () => ACCEPTED;
  const second = await begin();
  second.worker.wake();
  for (let n = 0; n < 5; n++) await nextTurn();
  expect(fcm.calls.length).toBe(0);
  engine.clock.advance(31 * SECOND_MS);
  await allGone();
  const again = fcm.calls.map(({ to }) => to);
  expect(hung.filter((to) => !again.includes(to))).toEqual([]);
  expect(new Set([...begun, ...again]).size).toBe(300);
  expect(await ledgerOf(engine, id)).toMatchObject({ status: 100, sentCount: 300 });
  lives = [first, second];
});
