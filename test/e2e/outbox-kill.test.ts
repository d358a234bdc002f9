/**
 * A server is killed with SIGKILL again and again while pushes go out through FCM and APNs, and
 * events to webhooks, all of which misbehave. Afterwards every device is accounted for, no push and
 * no event is lost or made up, and every repeat has the id of the first copy.
 *
 * OUTBOX_KILLS=50 bun test test/e2e/outbox-kill.test.ts runs it longer, OUTBOX_SEED=n otherwise,
 * OUTBOX_DEVICES=2000 with more pushes between two kills.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { invariantProblems } from '../fuzz/invariants.ts';
import { reachEnv } from '../servers/reach-env.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { call } from '../support/app.ts';
import { type Beside, besideOf } from '../support/beside.ts';
import {
  addProviderByCommand,
  lookedAt,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { addPushDevices, pushToken } from '../support/push-devices.ts';
import { Random } from '../support/random.ts';
import { addWebhook, expectNoViolations } from '../support/reach.ts';
import { scaleOf } from '../support/scale.ts';
import { bind, expectOk, HASH } from '../support/shop.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const KILLS = scaleOf('OUTBOX_KILLS', { short: 3, long: 30 });
const SEED = Number(process.env['OUTBOX_SEED'] ?? 7);
/** Devices at each of FCM and APNs, all of which get each command. */
const DEVICES = Number(process.env['OUTBOX_DEVICES'] ?? 150);
/** A kill repeats what was under way, and what was answered but not yet saved. */
const REPEATS_MAX = { fcm: 64 + 512, apns: 64 + 512, webhook: 4 + 64, webhook2: 4 + 64 };
const GATEWAYS = ['fcm', 'apns'] as const;
const HOOKS = ['webhook', 'webhook2'] as const;

useProcesses((3 + KILLS / 4) * PATIENCE_MS);

let servers: StrictServers;
beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());

/** What bots and devices do as long as a server answers. */
class Traffic {
  links: number[] = [];
  commands = 0;
  #count = 0;

  constructor(
    private readonly by: Credentials,
    private readonly random: Random,
    /** Whether the gateways have caught up. */
    private readonly mayPush: () => boolean,
  ) {}

  /** Until the server is gone. */
  async run(server: ServerProcess): Promise<void> {
    const workers = Array.from({ length: 4 }, async () => {
      while (await this.#step(server)) this.#count += 1;
    });
    await Promise.all(workers);
  }

  async #step(server: ServerProcess): Promise<boolean> {
    try {
      if (this.random.chance(0.1) && this.mayPush()) await this.#command(server);
      else await this.#link(server);
      return true;
    } catch {
      return false;
    }
  }

  async #command(server: ServerProcess): Promise<void> {
    const os = this.random.chance(0.5) ? ['android'] : ['ios'];
    const body = { action_type: 'update-subscription', specific_device_toggle: false, os };
    const init = { method: 'POST', body: JSON.stringify(body) };
    await expectOk(call(server, '/remote/command', this.by, {}, init));
    this.commands += 1;
  }

  async #link(server: ServerProcess): Promise<void> {
    const added = await expectOk(call(server, '/api/add-install', this.by, { install_limit: 2 }));
    this.links.push(added.json.id);
    const { install_code: code } = added.json;
    for (const n of [1, 2]) {
      const knock = { id: HASH, installid: code, hwid: `${code}-${n}`, os_name: 'windows' };
      await expectOk(call(server, '/install', null, knock));
    }
  }
}

/** What the hour of a dead machine does: leases end, whatever waits becomes due. */
function letTimePass(db: Beside): void {
  const hourMs = 3_600_000;
  db.run(`UPDATE destination SET lease_until_ms = lease_until_ms - ${hourMs}, retry_at_ms = 0`);
  db.run(`UPDATE outbox SET next_at_ms =
    CASE WHEN next_at_ms > ${hourMs} THEN next_at_ms - ${hourMs} ELSE 0 END`);
  db.run(`UPDATE distribution SET lease_until_ms = lease_until_ms - ${hourMs}`);
}

async function misbehave(): Promise<void> {
  const some = [
    { share: 0.02, misdeed: { kind: 'refuse', name: '429' } as const },
    { share: 0.01, misdeed: { kind: 'refuse', name: '503' } as const },
    { share: 0.01, misdeed: { kind: 'refuse', name: '503', delivers: true } as const },
    { share: 0.01, misdeed: { kind: 'reset-stream', delivers: true } as const },
  ];
  for (const name of [...GATEWAYS, ...HOOKS]) {
    await servers.keepVisits(name, name.startsWith('webhook') ? 100_000 : 0);
    await servers.behave(name, { some, delayMs: 10 });
  }
}

test(`${KILLS} kills while pushes and events go out`, async () => {
  const random = new Random(SEED);
  const dataDir = join(temporaryFolder(), 'data');
  const by = await addProviderByCommand(dataDir, '--plan', 'enterprise');
  const db = besideOf(await lookedAt(dataDir));
  for (const gateway of GATEWAYS) addPushDevices(db, { id: 1 }, gateway, DEVICES);
  await misbehave();
  // Nobody subscribes to Web Push here.
  const { GATEPOST_GATEWAY_WEBPUSH_SUBJECT: _, ...env } = reachEnv(servers);
  const waitingPushes = db.query<{ count: number }, []>(
    `SELECT CAST(sum(waiting_count) AS bigint) AS count FROM destination WHERE kind IN ('fcm', 'apns')`,
  );
  const mayPush = () => (waitingPushes.get()?.count ?? 0) < 2 * DEVICES;
  const traffic = new Traffic(by, random, mayPush);
  for (let kill = 0; kill < KILLS; kill++) {
    const server = await startServe({ dataDir, env });
    if (kill === 0) await setUp(server, by);
    const running = traffic.run(server);
    const before = await sent();
    // In the middle of it, whatever else the machine does.
    const enough = random.int(50, 4 * DEVICES);
    await until('calls out', async () => (await sent()) - before >= enough);
    await server.stop('SIGKILL');
    await running;
    letTimePass(db);
  }

  for (const name of [...GATEWAYS, ...HOOKS]) await servers.behave(name, {});
  const last = await startServe({ dataDir, env });
  const waiting = db.query<{ count: number }, []>('SELECT count(*) AS count FROM outbox');
  const open = db.query('SELECT 1 FROM distribution WHERE status < 100');
  await until(
    'all of it to go out',
    async () => {
      // A webhook that failed is tried again after minutes.
      db.run('UPDATE outbox SET next_at_ms = 0 WHERE attempt_count > 0');
      db.run('UPDATE destination SET retry_at_ms = 0 WHERE retry_at_ms > 0');
      await Bun.sleep(100);
      return waiting.get()?.count === 0 && open.get() === null;
    },
    2 * PATIENCE_MS + DEVICES * KILLS,
  );
  await last.stop();
  expect(last.troubles()).toEqual([]);
  await expectNoViolations(servers);
  await checkPushes(db);
  for (const name of HOOKS) await checkEvents(db, name, traffic);
  expect(invariantProblems(await lookedAt(dataDir))).toEqual([]);
  db.close();
});

async function setUp(server: ServerProcess, by: Credentials): Promise<void> {
  await bind(server, by);
  for (const name of HOOKS) {
    const url = `${servers.origin(name)}/hook/${name}`;
    const { secret } = await addWebhook(server, by, { url });
    await servers.setHook(name, [secret]);
  }
}

async function sent(): Promise<number> {
  const totals = await Promise.all([...GATEWAYS, ...HOOKS].map((name) => servers.totals(name)));
  return totals.reduce((sum, { requests }) => sum + requests, 0);
}

/** Copies beyond the first: by kills, and of what was delivered but said to have failed. */
async function expectFewRepeats(name: keyof typeof REPEATS_MAX): Promise<void> {
  const { deliveries, pairs, answers } = await servers.totals(name);
  const misled = (answers['503'] ?? 0) + (answers['reset-stream'] ?? 0);
  const repeats = deliveries - pairs;
  if (KILLS >= 20) console.log({ name, deliveries, repeats, answers });
  expect(repeats).toBeLessThanOrEqual(KILLS * REPEATS_MAX[name] + misled);
}

async function checkPushes(db: Beside): Promise<void> {
  const wrong = db
    .query(
      `SELECT x.id, status, recipient_count, sent_count, failed_count, push_waiting_count,
         count(r.id) AS accepted
       FROM distribution x LEFT JOIN recipient r ON r.distribution_id = x.id AND push_state = 2
       GROUP BY x.id
       HAVING status <> 100 OR sent_count <> ${DEVICES} OR count(r.id) <> ${DEVICES}
         OR push_waiting_count <> 0`,
    )
    .all();
  expect(wrong).toEqual([]);
  const all = db.query<{ id: number; os: string }, []>(
    'SELECT id, target_os AS os FROM distribution ORDER BY id',
  );
  const ids = { fcm: [] as number[], apns: [] as number[] };
  for (const { id, os } of all.all()) ids[os === 'android' ? 'fcm' : 'apns'].push(id);
  // A kill needs calls out, not a send of its own: on a slow machine one send serves several.
  expect(ids.fcm.length + ids.apns.length).toBeGreaterThan(1);
  for (const gateway of GATEWAYS) {
    const got = new Set<string>();
    for (const [to, id] of await servers.deliveries(gateway)) got.add(`${to} ${lastWord(id)}`);
    const expected = new Set<string>();
    for (const id of ids[gateway]) {
      for (let n = 0; n < DEVICES; n++) expected.add(`${pushToken(gateway, n)} ${id}`);
    }
    expect(difference(got, expected)).toEqual({ extra: [], missing: [] });
    const { pairs } = await servers.totals(gateway);
    // Nobody has two ids for one message.
    expect(pairs).toBe(expected.size);
    await expectFewRepeats(gateway);
  }
}

/** Of APNs the collapse id, which stands behind its own. */
const lastWord = (id: string) => id.split(' ').at(-1) ?? '';

function difference(got: ReadonlySet<string>, expected: ReadonlySet<string>) {
  return {
    extra: [...got].filter((one) => !expected.has(one)).slice(0, 5),
    missing: [...expected].filter((one) => !got.has(one)).slice(0, 5),
  };
}

interface EventBody {
  type: string;
  data: { install_id: number; hwid: string; distribution_id: number };
}

/** The changes in the database are those that the webhook was told of, each by one event. */
async function checkEvents(
  db: Beside,
  name: (typeof HOOKS)[number],
  traffic: Traffic,
): Promise<void> {
  const told = new Map<string, string>();
  for (const { delivered, id, content } of await servers.visits(name)) {
    if (!delivered) continue;
    const { type, data } = content as EventBody;
    const subject = { 'link.created': `link ${data.install_id}` }[type];
    const admitted = type === 'device.admitted' ? `device ${data.hwid}` : undefined;
    const ended = type === 'distribution.finished' ? `message ${data.distribution_id}` : undefined;
    const what = subject ?? admitted ?? ended;
    if (what === undefined) continue;
    // A repeat has the id of the first.
    expect([what, told.get(what) ?? id]).toEqual([what, id]);
    told.set(what, id ?? '');
  }
  const column = (sql: string) =>
    db
      .query<{ what: string }, []>(sql)
      .all()
      .map(({ what }) => what);
  const done = [
    ...column("SELECT 'link ' || id AS what FROM install"),
    ...column(
      `SELECT 'device ' || hwid AS what FROM install_device s JOIN device d ON d.id = s.device_id`,
    ),
    ...column("SELECT 'message ' || id AS what FROM distribution WHERE status = 100"),
  ];
  expect(traffic.links.length).toBeGreaterThan(KILLS);
  expect(difference(new Set(told.keys()), new Set(done))).toEqual({ extra: [], missing: [] });
  for (const id of traffic.links) expect(told.has(`link ${id}`)).toBe(true);
  await expectFewRepeats(name);
}
