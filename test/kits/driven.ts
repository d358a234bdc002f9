/**
 * A kit as an app's developer drives it, by lines to a process of its own: against every case of
 * `gatepost device check`, and against the appliance through kills, deaths of tokens and outages.
 */

import { afterAll, afterEach, expect, setDefaultTimeout, type test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES, type CheckVerdict, checkDriver } from '../../src/device-check/check.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { KitApp } from '../support/kit-driver.ts';
import { messageOf, startKitServer } from '../support/kit-server.ts';
import { byLink, notify, order, readable, register } from '../support/messaging.ts';
import { startPollServer } from '../support/poll-server.ts';
import { cleanUp } from '../support/process.ts';
import { startRelay } from '../support/relay.ts';
import { scaleOf } from '../support/scale.ts';
import { addLink, LINK, seedShop } from '../support/shop.ts';
import { openStream } from '../support/stream.ts';
import { PATIENCE_MS, until } from '../support/until.ts';

const KILLS = scaleOf('KIT_KILLS', { short: 6, long: 20 });
const MESSAGES = scaleOf('KIT_MESSAGES', { short: 100, long: 600 });

/** A kit that was built. */
export interface Driven {
  /** The pace at which the cases of the check are played: an app needs time to start. */
  pace: number;
  driver: readonly string[];
  sample: readonly string[];
  /** The file in which the sample keeps its state, in the folder where it was started. */
  sampleState: string;
  /** The state of the kit in the folder of a driver. */
  stateIn(folder: string): string;
}

export const closers: (() => unknown)[] = [];

/** Is called in each file: one process may run several, and this module is read once. */
export function useKits(): void {
  setDefaultTimeout(4 * PATIENCE_MS);
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  afterAll(cleanUp);
}

/** An appliance that ends with the test, with a shop whose link the drivers know. */
export async function appliance(settings: Parameters<typeof startTestApp>[0] = {}) {
  const app = await startTestApp({ hasWorker: true, ...settings });
  closers.push(app.close);
  const shop = await seedShop(app);
  await addLink(app, shop, LINK);
  const send = (body: string) => notify(app, shop, body, { hwid: 'phone' });
  return { app, shop, send };
}

const isOpen = (phone: KitApp) => until('it is open', () => phone.states.at(-1) === 'open');

const totals = async (app: TestApp, id: number) =>
  (await app.core.store.findDistribution(id, 1))?.totals;

/** Sends `count` messages while the app is killed again and again; returns their ids. */
async function underKills(
  phone: KitApp,
  send: (body: string) => Promise<number>,
  count: number,
): Promise<number[]> {
  const ids: number[] = [];
  let isSending = true;
  let kills = 0;
  const killing = (async () => {
    while (isSending || kills < KILLS) {
      // It dies in the middle of its work: some messages further on, however fast it is.
      const from = phone.all('message').length;
      const most = from + 1 + (kills % 17);
      await until('it works', () => !isSending || phone.all('message').length >= most);
      await phone.kill();
      kills += 1;
      phone.start();
    }
  })();
  for (let n = 0; n < count; n++) ids.push(await send(`message ${n}`));
  isSending = false;
  await killing;
  expect(kills).toBeGreaterThanOrEqual(KILLS);
  return ids;
}

function startPhone(built: Driven, url: string, terms: Record<string, unknown> = {}): KitApp {
  const made = new KitApp(built.driver, url, terms);
  closers.push(() => made.remove());
  made.start();
  return made;
}

/**
 * Plays cases with a driver; returns those that it did not pass. A busy machine brings faults of
 * time: they are played again, more slowly.
 */
export async function faultsOf(
  command: string,
  pace: number,
  cases = CASES,
): Promise<CheckVerdict[]> {
  let faults: CheckVerdict[] = [];
  let left = cases;
  for (const slower of [1, 5, 25]) {
    faults = [];
    await checkDriver(command, left, { pace: Math.min(1, slower * pace) }, (verdict) => {
      if (verdict.verdict === 'failed') faults.push(verdict);
    });
    left = cases.filter(({ name }) => faults.some((fault) => fault.case === name));
    if (left.length === 0) break;
  }
  return faults;
}

/** Declares the test of a kit against `gatepost device check`. */
export function checkKit(testKit: ReturnType<typeof test.skipIf>, built: Driven): void {
  testKit('it passes every case of the check', async () => {
    expect(await faultsOf(built.driver.join(' '), built.pace)).toEqual([]);
  });
}

/**
 * Declares the tests of a kit against the appliance. `testKit` skips them where it cannot be built.
 */
export function driveKit(testKit: ReturnType<typeof test.skipIf>, built: Driven): void {
  const kit = (url: string, terms = {}) => startPhone(built, url, terms);

  /** The token in the app's store. */
  const tokenOf = (phone: KitApp): string => JSON.parse(built.stateIn(phone.folder)).token ?? '';

  /** Gives an order, and waits until it changed the state. */
  async function isKept(phone: KitApp, order: Record<string, unknown>): Promise<void> {
    const before = built.stateIn(phone.folder);
    phone.say(order);
    await until('it is kept', () => built.stateIn(phone.folder) !== before);
  }

  testKit.each(['stream', 'poll'])('it registers, handles and acknowledges: %s', async (mode) => {
    const { app, shop, send } = await appliance();
    const phone = kit(app.url, { mode });
    await isOpen(phone);
    const push = await notify(
      app,
      shop,
      '<p>Tonight, <b>23:00</b> &amp; later</p>',
      { os: ['android'] },
      { locales: { RU: { title: 'Работы' } }, title: 'Works' },
    );
    const command = await order(app, shop, { action_type: 'update-subscription', hwid: 'phone' });
    await until('both are acknowledged', async () => (await totals(app, command))?.executed === 1);
    expect(await totals(app, push)).toMatchObject({ received: 1, executed: 0, refused: 0 });
    const last = await send('last');
    await until('it is acknowledged', async () => (await totals(app, last))?.received === 1);
    expect(phone.all('message')).toMatchObject([
      { id: push, type: 10, title: 'Works', text: 'Tonight, 23:00 & later', action: '' },
      { id: command, type: 20, action: 'update-subscription' },
      { id: last, text: 'last' },
    ]);
    expect((await phone.ask('headers')).headers).toEqual({
      'x-hwid': 'phone',
      'x-device-protocol': '1',
      'x-device-os': 'android',
      'x-ver-os': '15',
      'x-device-model': 'Driver',
      'x-app-version': '1.0',
    });
    await phone.ask('stop', 'stopped');
    expect(await phone.end()).toBe(0);
  });

  testKit('a poll waits for as long as the server names, which an older one does not', async () => {
    const server = startPollServer(['90', '240', '0', 'x', null, '1']);
    closers.push(server.stop);
    kit(server.url, { mode: 'poll', pace: 0.01 });
    await until('it asked', () => server.waits.length === 6);
    expect(server.waits).toEqual(['90', '240', '60', '60', '60', '1']);
  });

  testKit('an acknowledgement whose answer is to come is not sent again', async () => {
    const server = startKitServer(true);
    closers.push(server.stop);
    const phone = kit(server.url, { pace: 1 });
    await isOpen(phone);
    const acknowledged = () =>
      server.frames.flatMap((text) => JSON.parse(text).items.map(({ id }: { id: number }) => id));
    for (const id of [1, 2, 3]) {
      server.stream?.send(JSON.stringify({ rc: 1, msg: 'Ok', data: [messageOf(id)] }));
      await until('it is acknowledged', () => acknowledged().includes(id));
    }
    expect(acknowledged()).toEqual([1, 2, 3]);
  });

  testKit('a push fetches the inbox where there is no stream', async () => {
    const server = startKitServer(false);
    closers.push(server.stop);
    // The next attempt of its own is far away.
    const phone = kit(server.url, { pace: 1_000 });
    await until('it found no stream', () => server.refused === 1);
    // A kit may ask the inbox by itself after a refusal, once.
    for (const id of [7, 8]) {
      server.inbox = [messageOf(id)];
      phone.say({ do: 'push', data: { id: String(id), kind: 'command' }, shown: false });
      await until('it has the message', () => phone.all('message').at(-1)?.id === id);
    }
  });

  testKit('a push outlives the connection in whose time it came', async () => {
    const server = startKitServer(false);
    closers.push(server.stop);
    const [stream, inbox] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.held = { stream: stream.promise };
    const phone = kit(server.url, { pace: 1_000 });
    await until('it asks for a stream', () => server.refused === 1);
    server.held.inbox = inbox.promise;
    server.inbox = [messageOf(7)];
    phone.say({ do: 'push', data: { id: '7', kind: 'command' }, shown: false });
    await until('it asks the inbox', () => server.asked === 1);
    stream.resolve();
    // A kit may ask the inbox why, and say then that it is closed.
    await until('its connection ended', () => phone.states.length + server.asked > 1);
    inbox.resolve();
    await until('it has the message', () => phone.all('message').at(-1)?.id === 7);
  });

  testKit('pings keep a stream alive', async () => {
    const server = startKitServer(true);
    closers.push(server.stop);
    const phone = kit(server.url, { pace: 0.1 });
    await isOpen(phone);
    const pinging = setInterval(() => server.stream?.ping(), 100);
    closers.push(() => clearInterval(pinging));
    // The silence that it bears is three seconds.
    await until('it lived for longer', () => server.pongs > 35);
    expect(phone.states).toEqual(['open']);
  });

  testKit('it draws a HWID once, and keeps token and HWID over a kill', async () => {
    const { app } = await appliance();
    const phone = kit(app.url, { hwid: null, locale: 'ru' });
    await isOpen(phone);
    const { headers } = await phone.ask('headers');
    expect(headers['x-hwid']).toMatch(/^[\da-f]{32}$/);
    const token = tokenOf(phone);
    await phone.kill();
    phone.start();
    await until('it is open again', () => phone.states.filter((is) => is === 'open').length === 2);
    expect((await phone.ask('headers')).headers).toEqual(headers);
    expect(tokenOf(phone)).toBe(token);
  });

  testKit('a token that died is replaced once by the link; then the device gives up', async () => {
    const { app } = await appliance();
    const phone = kit(app.url);
    await isOpen(phone);
    const first = tokenOf(phone);
    await register(app, byLink('phone', LINK));
    await until('it has a new token', () => !['', first].includes(tokenOf(phone)));
    await until('it is open again', () => app.server.streamCount() === 1);
    const theirs = await register(app, byLink('phone', LINK));
    await until('it gives up', () => phone.states.at(-1) === 'refused');
    expect(phone.said.at(-1)?.detail).toBe('another device registers this HWID');
    // The other one is left in peace.
    expect(await readable(app, theirs)).toEqual([]);
  });

  testKit('it ends when it is refused, and when another stream takes over', async () => {
    const { app } = await appliance();
    const stranger = kit(app.url, { link: 'LinkCode0009' });
    await until('it is refused', () => stranger.states.length > 0);
    expect(stranger.said.at(-1)).toMatchObject({ state: 'refused', detail: 'Install not found' });
    const phone = kit(app.url);
    await isOpen(phone);
    const other = await openStream(app, tokenOf(phone));
    closers.push(() => other.socket.close());
    await until('it is replaced', () => phone.states.at(-1) === 'replaced');
    await phone.ask('stop', 'stopped');
  });

  testKit('the server goes away and comes back: what was owed and missed is made up', async () => {
    const { app, send } = await appliance();
    const relay = startRelay(Number(new URL(app.url).port));
    closers.push(relay.stop);
    const phone = kit(`http://127.0.0.1:${relay.port}`);
    await isOpen(phone);
    relay.silence(true);
    relay.drop();
    await until('it noticed', () => phone.states.at(-1) === 'closed');
    // The system shows a push meanwhile, and the user opens it: both are acknowledged later.
    const shown = await send('shown by the system');
    await isKept(phone, {
      do: 'push',
      data: { id: String(shown), kind: 'notification' },
      shown: true,
    });
    await isKept(phone, { do: 'opened', id: shown });
    const missed = await send('missed');
    expect(await totals(app, shown)).toMatchObject({ received: 0, opened: 0 });
    await phone.kill();
    phone.start();
    relay.silence(false);
    await until('both are acknowledged', async () => (await totals(app, missed))?.received === 1);
    await until('it was opened', async () => (await totals(app, shown))?.opened === 1);
    expect(phone.all('message').map(({ id }) => id)).toEqual([missed]);
  });

  testKit.each([
    ['usual pings', {}, {}],
    // It asks for ten minutes, and reads in the answer what the operator allows.
    ['pings of 15 s', { pingSecondsMax: 15 }, { ping: 600, pace: 0.05 }],
  ])('a stream that dies in silence is found: %s', async (_, settings, terms) => {
    const { app, send } = await appliance(settings);
    const relay = startRelay(Number(new URL(app.url).port));
    closers.push(relay.stop);
    const phone = kit(`http://127.0.0.1:${relay.port}`, terms);
    await isOpen(phone);
    relay.silence(true);
    await until('it is closed', () => phone.states.at(-1) === 'closed');
    expect(phone.said.at(-1)?.detail).toBe('silence');
    relay.drop();
    relay.silence(false);
    const id = await send('after the silence');
    await until('it is acknowledged', async () => (await totals(app, id))?.received === 1);
  });

  testKit('another push address is registered at once, with the token', async () => {
    const { app, send } = await appliance();
    const phone = kit(app.url, { push: { gateway: 'fcm', token: 'one' } });
    await isOpen(phone);
    const addresses = async () =>
      (await app.core.store.listPushAddresses('phone'))?.map(({ push }) => push.token);
    expect(await addresses()).toEqual(['one']);
    phone.say({ do: 'push_token', gateway: 'fcm', token: 'two' });
    await until('the server knows', async () => (await addresses())?.[0] === 'two');
    // The registration renewed the token, which is no death of it.
    const id = await send('later');
    await until('it is acknowledged', async () => (await totals(app, id))?.received === 1);
    expect(phone.states).not.toContain('refused');
  });

  testKit('the sample gets a message', async () => {
    const { app, shop } = await appliance();
    const phone = new KitApp(built.driver, app.url);
    closers.push(() => phone.remove());
    const command = [...built.sample, app.url, LINK, 'a'.repeat(64)];
    const sample = Bun.spawn(command, { cwd: phone.folder, stdout: 'ignore', stderr: 'inherit' });
    closers.push(async () => {
      sample.kill();
      await sample.exited;
    });
    await until('it is open', () => app.server.streamCount() === 1);
    const kept = readFileSync(join(phone.folder, built.sampleState), 'utf8');
    const id = await notify(app, shop, 'hello', { hwid: JSON.parse(kept).hwid });
    await until('it is acknowledged', async () => (await totals(app, id))?.received === 1);
  });
}

/** Declares the tests of a kit whose app is killed again and again. */
export function killKit(testKit: ReturnType<typeof test.skipIf>, built: Driven): void {
  testKit.each([
    ['stream', true, MESSAGES],
    ['poll', true, MESSAGES],
    ['stream', false, MESSAGES / 2],
  ])(
    'kills and messages: %s, in one transaction: %p, %i messages',
    async (mode, transaction, n) => {
      const { app, send } = await appliance();
      const phone = startPhone(built, app.url, { mode, transaction });
      await isOpen(phone);
      const ids = await underKills(phone, send, n);
      for (const id of ids) {
        const isReceived = async () => (await totals(app, id))?.received === 1;
        await until('all are acknowledged', isReceived);
      }
      const { ids: effects } = await phone.ask('effects');
      if (transaction) expect(effects).toEqual(ids);
      else expect([...new Set(effects)]).toEqual(ids);
    },
  );
}
