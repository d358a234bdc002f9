/**
 * Two nodes on one PostgreSQL whose clocks are three seconds apart, killed at random. Each device
 * is sent one message after the other, each by the other node than the one before, and each only
 * once that one was accepted: its inbox has them in this order.
 *
 * ORDER_INBOXES=1000 ORDER_KILLS=30 bun test test/e2e/clocks-apart.test.ts runs it longer,
 * ORDER_SEED=n otherwise.
 */

import { expect } from 'bun:test';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { besideOf } from '../support/beside.ts';
import { holderOf, makeDevices, putOnLinks } from '../support/delivery.ts';
import { notify } from '../support/messaging.ts';
import { testPostgres } from '../support/needs.ts';
import { openPlace } from '../support/place.ts';
import { freshDatabase } from '../support/postgres-data.ts';
import { run, type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { scaleOf } from '../support/scale.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const INBOXES = Number(process.env['ORDER_INBOXES'] ?? 16);
const KILLS = scaleOf('ORDER_KILLS', { short: 2, long: 10 });
const SEED = Number(process.env['ORDER_SEED'] ?? 3);
const SENDS_EACH = 8;
const APART_MS = [1_500, -1_500];
/** Devices of one provider; they share a lane. */
const DEVICES_EACH = 8;
const CHAINS = 12;

useProcesses((6 + KILLS + INBOXES / 10) * PATIENCE_MS);

/** Two nodes that run from the source, each with a clock of its own. */
class Nodes {
  readonly #servers: (ServerProcess | null)[] = [];

  constructor(private readonly databaseUrl: string) {}

  async start(which: number): Promise<void> {
    const server = await startServe({
      from: 'source',
      preload: join(import.meta.dir, '../support/clock-apart.ts'),
      env: {
        GATEPOST_DATABASE_URL: this.databaseUrl,
        GATEPOST_SENDS_PER_MINUTE_MAX: '1000000',
        TEST_CLOCK_APART_MS: String(APART_MS[which]),
      },
    });
    this.#servers[which] = server;
  }

  async kill(which: number): Promise<void> {
    const server = this.#servers[which];
    this.#servers[which] = null;
    await server?.stop('SIGKILL');
  }

  /** A node that is there: `which` if it is. */
  at(which: number): ServerProcess | undefined {
    return this.#servers[which] ?? this.#servers.find((server) => server !== null) ?? undefined;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server?.stop()));
  }
}

interface Inbox {
  by: Credentials;
  hwid: string;
  deviceId: number;
  /** Numbers of the messages that were accepted, in this order. */
  accepted: number[];
}

async function addProvider(databaseUrl: string, n: number): Promise<Credentials> {
  const words = ['provider', 'add', '--name', 'one', '--code', `Pro${10_000 + n}`, '--json'];
  const dataDir = join(temporaryFolder(), 'data');
  const env = { GATEPOST_DATABASE_URL: databaseUrl };
  const made = await run([...words, '--plan', 'enterprise', '--data', dataDir], { env });
  if (made.code !== 0) throw new Error(made.stderr);
  return { code: `Pro${10_000 + n}`, authKey: JSON.parse(made.stdout).auth_key };
}

/** Sends to an inbox until so many messages were accepted. Numbers only rise. */
async function fill(nodes: Nodes, inbox: Inbox): Promise<void> {
  for (let number = 1; inbox.accepted.length < SENDS_EACH; number++) {
    const server = nodes.at(number % 2);
    const isAccepted =
      server !== undefined &&
      (await notify(server, inbox.by, String(number), { hwid: inbox.hwid }).then(
        () => true,
        () => false,
      ));
    if (isAccepted) inbox.accepted.push(number);
    // A node was killed under the call: nobody knows whether the message was accepted.
    else await Bun.sleep(20);
  }
}

testPostgres(`${INBOXES} inboxes in order, clocks 3 s apart, ${KILLS} kills`, async () => {
  const database = await freshDatabase();
  const nodes = new Nodes(database.url);
  await nodes.start(0);
  await nodes.start(1);
  const place = { dataDir: temporaryFolder(), databaseUrl: database.url };
  const db = besideOf({ dataDir: place.dataDir, database });
  const inboxes: Inbox[] = [];
  for (let n = 0; inboxes.length < INBOXES; n++) {
    const by = await addProvider(database.url, n);
    const count = Math.min(DEVICES_EACH, INBOXES - inboxes.length);
    const hwids = Array.from({ length: count }, (_, k) => `${by.code}-${k}`);
    const ids = makeDevices({ db }, hwids);
    const found = db.query('SELECT id FROM provider WHERE code = ?').get(by.code) as { id: number };
    putOnLinks({ db }, found, ids);
    for (const [k, hwid] of hwids.entries()) {
      inboxes.push({ by, hwid, deviceId: ids[k] ?? 0, accepted: [] });
    }
  }
  const left = [...inboxes];
  const chains = Array.from({ length: CHAINS }, async () => {
    for (let inbox = left.pop(); inbox !== undefined; inbox = left.pop()) await fill(nodes, inbox);
  });
  let isOver = false;
  const killing = killNow(nodes, () => isOver);
  await Promise.all(chains);
  isOver = true;
  expect(await killing).toBe(KILLS);
  const unfinished = db.query('SELECT count(*) AS count FROM distribution WHERE status < 100');
  await until('all is delivered', () => (unfinished.get() as { count: number }).count === 0);

  const store = await openPlace(place);
  for (const inbox of inboxes) {
    const holder = holderOf({ db }, inbox.deviceId);
    const limits = { countMax: 1000, bytesMax: Number.MAX_SAFE_INTEGER };
    const { messages } = await store.listInbox(holder, systemClock.nowMs(), limits);
    const numbers = messages.map(({ payload }) => Number((payload as { body: string }).body));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(numbers).toEqual(expect.arrayContaining(inbox.accepted));
    expect(new Set(numbers).size).toBe(numbers.length);
  }
  await store.close();
  await nodes.stop();
  db.close();
  await database.drop();
});

/** Kills one node after the other, and starts each again; at least so often as was asked. */
async function killNow(nodes: Nodes, isOver: () => boolean): Promise<number> {
  const random = new Random(SEED);
  let kills = 0;
  for (; kills < KILLS; kills++) {
    if (!isOver()) await Bun.sleep(random.int(100, 800));
    await nodes.kill(kills % 2);
    await nodes.start(kills % 2);
  }
  return kills;
}
