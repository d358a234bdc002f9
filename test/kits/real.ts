/**
 * Plays the kits against the executable, over a network that cuts connections in the middle of
 * requests and answers: apps are killed, the server is killed and stopped, and the clocks of both
 * are set back. Each app handles each message once where it keeps id and effect in one
 * transaction, at least once elsewhere, and each is acknowledged.
 *
 * REAL_MESSAGES=1000 bun test test/kits/real.test.ts plays longer, REAL_SEED=n otherwise.
 */

import { beforeAll, expect } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { type Beside, besideOf } from '../support/beside.ts';
import { startCuttingRelay } from '../support/cutting-relay.ts';
import { freePort } from '../support/free-port.ts';
import { KitApp } from '../support/kit-driver.ts';
import { type Kit, kitsHere } from '../support/kits.ts';
import { notify, order } from '../support/messaging.ts';
import {
  addProviderByCommand,
  lookedAt,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import type { FrontProxy } from '../support/proxies.ts';
import { Random } from '../support/random.ts';
import { IS_LONG, isAskedFor, scaleOf } from '../support/scale.ts';
import { type MovedClock, movedClock } from '../support/set-back.ts';
import { addLink, bind, LINK } from '../support/shop.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

export const MESSAGES = scaleOf('REAL_MESSAGES', { short: 24, long: 1_000 });
const SEED = Number(process.env['REAL_SEED'] ?? 7);
/** Of so many pieces that the network carries one breaks. */
const CUT_EVERY = 40;
/** Messages between two troubles of the server, and at most between two of an app. */
const SERVER_EVERY = IS_LONG ? 12 : 5;
export const APP_EVERY = IS_LONG ? 15 : 10;
/** How far the sends go ahead of the slowest app. */
const AHEAD_MAX = 50;
/** Of the apps' pauses and limits of time. */
const PACE = 0.03;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const TEST_MS = (6 + MESSAGES / 25) * PATIENCE_MS;

/** The appliance, which dies and comes back at its port. */
class Server {
  readonly #port = freePort();
  readonly #dataDir = temporaryFolder();
  readonly clock = movedClock();
  /** Its data, after the first start. */
  db: Beside | null = null;
  #running: ServerProcess | null = null;

  async start(): Promise<Beside> {
    const args = ['--port', String(this.#port)];
    const env = { GATEPOST_SENDS_PER_MINUTE_MAX: '1000000', ...this.clock.env };
    this.#running = await startServe({ dataDir: this.#dataDir, args, env });
    this.db ??= besideOf(await lookedAt(this.#dataDir));
    return this.db;
  }

  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ended = this.#running;
    this.#running = null;
    await ended?.stop(signal);
    // The seconds for which nobody takes over what the dead one held.
    this.db?.run('UPDATE distribution SET lease_until_ms = lease_until_ms - 60000');
    await this.start();
  }

  addProvider = () => addProviderByCommand(this.#dataDir, '--plan', 'enterprise');
  isUp = () => this.#running !== null;
  port = this.#port;
  url = `http://127.0.0.1:${this.#port}`;
  stop = async () => {
    await this.#running?.stop();
    this.db?.close();
  };
}

interface Phone {
  name: string;
  app: KitApp;
  clock: MovedClock;
  inTransaction: boolean;
  kills: number;
}

const handled = ({ app }: Phone) => new Set(app.all('message').map(({ id }) => id)).size;

let drivers: { kit: Kit; command: string[] }[] = [];

/** Is called in each file: one process may run several, and this module is read once. */
export function useReal(): void {
  useProcesses(TEST_MS);
  beforeAll(() => {
    drivers = kitsHere().map((kit) => ({ kit, command: kit.build() }));
  });
}

/** A phone of each kit in each mode, with and without a transaction. */
function phonesAt(url: string): Phone[] {
  return drivers.flatMap(({ kit, command }) =>
    ['stream', 'poll'].flatMap((mode) =>
      [true, false].map((transaction) => {
        const clock = movedClock(kit.takesTime);
        const name = `${kit.name}-${mode}-${transaction ? 'once' : 'at-least-once'}`;
        // With a push address it registers at each start.
        const push = transaction ? { gateway: 'fcm', token: name } : null;
        const terms = { hwid: name, mode, transaction, push, pace: PACE };
        const app = new KitApp(command, url, terms, clock.env);
        return { name, app, clock, inTransaction: transaction, kills: 0 };
      }),
    ),
  );
}

/** Waits until an app has handled some more messages: it is then in the middle of its work. */
function works(phone: Phone, random: Random, isOver: () => boolean): Promise<void> {
  const most = handled(phone) + random.int(1, APP_EVERY);
  return new Promise((resolve) => {
    phone.app.onSaid = () => {
      if (isOver() || handled(phone) >= most) resolve();
    };
    phone.app.onSaid();
  });
}

/** Sets an app's clock back and kills it, in turns. */
async function trouble(phone: Phone, random: Random, isOver: () => boolean): Promise<void> {
  for (; !isOver(); phone.kills += 1) {
    await works(phone, random, isOver);
    phone.clock.setBack(random.int(1, 2 * DAY_MS));
    await works(phone, random, isOver);
    await phone.app.kill();
    phone.app.start();
  }
}

/** What happens to the server, in turns. */
const TROUBLES: readonly ((server: Server, random: Random) => Promise<void> | void)[] = [
  (server) => server.restart('SIGKILL'),
  ({ clock }, random) => clock.setBack(random.int(MINUTE_MS, HOUR_MS)),
  (server) => server.restart('SIGTERM'),
  async (server, random) => {
    server.clock.setBack(random.int(MINUTE_MS, HOUR_MS));
    await server.restart('SIGKILL');
  },
];

/** HWIDs that one send may name. */
const HWIDS_EACH = 5;

/** Sends one message to every phone: each fifth time a notification. */
function sendToAll(server: Server, by: Credentials, phones: readonly Phone[], n: number) {
  if (n % 5 !== 4) {
    const command = { action_type: 'update-subscription', os: ['android'] };
    return Promise.all([order(server, by, command)]);
  }
  const groups = Array.from({ length: Math.ceil(phones.length / HWIDS_EACH) }, (_, at) =>
    phones.slice(at * HWIDS_EACH, (at + 1) * HWIDS_EACH).map(({ name }) => name),
  );
  return Promise.all(groups.map((hwids) => notify(server, by, `${n}`, { hwid: hwids.join() })));
}

/** Sends until so many messages to all were accepted; returns their ids. */
async function sendAll(
  server: Server,
  by: Credentials,
  phones: readonly Phone[],
  messages: number,
  onAccepted: (count: number) => void,
): Promise<number[]> {
  const accepted: number[] = [];
  for (let count = 0; count < messages; ) {
    const isTime = () => Math.min(...phones.map(handled)) + AHEAD_MAX > count;
    await until('the apps follow', () => server.isUp() && isTime());
    try {
      accepted.push(...(await sendToAll(server, by, phones, count)));
    } catch (fault) {
      // The server was killed under the call: nobody knows whether it was accepted.
      if (server.isUp()) throw fault;
      continue;
    }
    count += 1;
    onAccepted(count);
  }
  return accepted;
}

/** Plays so many messages; the proxy stands between the relay and the server. */
export async function live(
  messages: number,
  proxyFor: (port: number) => Promise<FrontProxy | null>,
): Promise<void> {
  const random = new Random(SEED);
  const server = new Server();
  const db = await server.start();
  const by = await server.addProvider();
  await bind(server, by);
  await addLink(server, by, LINK, 100);
  const proxy = await proxyFor(server.port);
  const port = proxy === null ? server.port : Number(new URL(proxy.url).port);
  const relay = await startCuttingRelay(port, random, CUT_EVERY);
  const phones = phonesAt(relay.url);
  for (const { app } of phones) app.start();
  try {
    // What is sent goes to those that are registered.
    const known = db.query('SELECT count(*) AS count FROM device');
    const isKnown = () => (known.get() as { count: number }).count === phones.length;
    await until('all are registered', isKnown);
    await through(server, by, { relay, phones, db, random, messages });
  } catch (fault) {
    const words = phones.map(({ name, app }) => `${name}: ${JSON.stringify(app.said.at(-1))}`);
    throw new Error(`the apps said last:\n${words.join('\n').slice(0, 2_000)}`, { cause: fault });
  } finally {
    for (const { app } of phones) await app.remove();
    relay.stop();
    await proxy?.stop();
    await server.stop();
  }
}

interface World {
  relay: Awaited<ReturnType<typeof startCuttingRelay>>;
  phones: Phone[];
  db: Beside;
  random: Random;
  messages: number;
}

async function through(
  server: Server,
  by: Credentials,
  { relay, phones, db, random, messages }: World,
): Promise<void> {
  let isOver = false;
  const troubles: Promise<void>[] = phones.map((phone) => trouble(phone, random, () => isOver));
  let serverTroubles = 0;
  let last: Promise<void> = Promise.resolve();
  const accepted = await sendAll(server, by, phones, messages, (count) => {
    if (count % SERVER_EVERY !== 0 || count === messages) return;
    const happen = TROUBLES[serverTroubles++ % TROUBLES.length];
    last = last.then(() => happen?.(server, random)).then(relay.drop);
  }).finally(() => {
    isOver = true;
    for (const { app } of phones) app.onSaid();
  });
  await Promise.all([...troubles, last]);
  relay.mend();

  const open = db.query<{ count: number }, []>(
    'SELECT count(*) AS count FROM recipient WHERE received_at_ms IS NULL',
  );
  const unfinished = db.query('SELECT 1 FROM distribution WHERE status < 100 LIMIT 1');
  // On a machine with much else to do the server delivers some messages a second.
  const patienceMs = (1 + messages / 25) * PATIENCE_MS;
  await until('all is delivered', () => unfinished.get() === null, patienceMs);
  await until('each is acknowledged by each', () => open.get()?.count === 0, patienceMs);
  const toPhone = db.query<{ id: number }, [string]>(
    `SELECT distribution_id AS id FROM recipient r JOIN device d ON d.id = r.device_id
     WHERE hwid = ? ORDER BY distribution_id`,
  );
  const reached = new Set<number>();
  for (const { name, app, inTransaction } of phones) {
    const ids = toPhone.all(name).map(({ id }) => id);
    for (const id of ids) reached.add(id);
    expect(ids.length).toBeGreaterThanOrEqual(messages);
    const { ids: effects } = await app.ask('effects');
    expect([name, inTransaction ? effects : [...new Set(effects)]]).toEqual([name, ids]);
    expect([name, app.states.filter((state) => /refused|replaced/.test(state))]).toEqual([
      name,
      [],
    ]);
  }
  expect(accepted.filter((id) => !reached.has(id))).toEqual([]);
  expect(phones.filter(({ kills }) => kills === 0).map(({ name }) => name)).toEqual([]);
  expect(relay.cuts.asked + relay.cuts.answered).toBeGreaterThan(0);
  expect(serverTroubles).toBe(Math.floor((messages - 1) / SERVER_EVERY));
  if (isAskedFor('REAL_MESSAGES')) {
    const of = phones.map(({ name, kills }) => [name, kills]);
    console.log({
      messages: reached.size,
      serverTroubles,
      cuts: relay.cuts,
      ...Object.fromEntries(of),
    });
  }
}
