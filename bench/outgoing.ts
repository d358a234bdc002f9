/**
 * Pushes through FCM and APNs that misbehave (a reset of every connection each second, 2 % each of
 * 429 and 503), beside a bare loop of `fetch` in the same run and in turns: messages a second,
 * repeats, processor time and memory. Prints a table; nothing is written to the repository. Ends
 * with 1 if one device is not accounted for, repeats are 2 % or more, or the rate is less than 0.7
 * of the bare loop's.
 *
 *   bun bench/outgoing.ts [--count 100000] [--rounds 3] [--only fcm] [--calm] [--executable FILE]
 *
 * `--calm`: the gateways answer every request with success.
 */

import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reachEnv } from '../test/servers/reach-env.ts';
import type { StrictServers } from '../test/servers/strict-servers.ts';
import { pushToken } from '../test/support/push-devices.ts';
import { median } from './load.ts';
import { type Appliance, makeAppliance } from './outgoing-appliance.ts';
import type { BareOrder, BareResult } from './outgoing-bare.ts';
import { startOutgoingBench } from './outgoing-servers.ts';
import { spawnKept, startServer } from './process.ts';

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    calm: { type: 'boolean', default: false },
    executable: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
  },
});
const count = Number(options.count);
const executable = options.executable;
const GATEWAYS = ['fcm', 'apns'] as const;
type Gateway = (typeof GATEWAYS)[number];
/** As many as Gatepost has under way at a gateway. */
const CONCURRENCY = 64;
const DEADLINE_MS = 60_000 + count * 5;
const REPEATS_MAX = 0.02;
const RATE_MIN = 0.7;

interface Round {
  gateway: Gateway;
  who: 'bare fetch' | 'gatepost';
  /** From the first delivery to the last, s. */
  seconds: number;
  /**
   * Deliveries a second until 99 % were there. The last ones failed several times, and are waited
   * for as the gateway asked; the bare loop does not wait.
   */
  perSecond: number;
  /** Copies beyond the first, as a share of all. */
  repeats: number;
  lost: number;
  /** Devices that got copies with two ids. */
  otherIds: number;
  cpuUsEach: number;
  peakMib: number;
  answers: Record<string, number>;
}

const { folder, servers } = await startOutgoingBench();

/** Both believe the servers by the runtime's own means: authorities of a setting cost each call. */
const trust = { GATEPOST_OUTGOING_CA_FILE: '', NODE_EXTRA_CA_CERTS: servers.caFile };

/** Empties the ledger, and lets the gateway misbehave. */
async function prepare(gateway: Gateway): Promise<void> {
  await servers.keepVisits(gateway, 0);
  await servers.forget(gateway);
  if (options.calm) return;
  await servers.behave(gateway, {
    resetEveryMs: 1_000,
    some: [
      { share: 0.02, misdeed: { kind: 'refuse', name: '429', retryAfter: '1' } },
      { share: 0.02, misdeed: { kind: 'refuse', name: '503' } },
    ],
  });
}

async function account(gateway: Gateway) {
  const totals = await servers.totals(gateway);
  const { firstAtMs, lastAtMs, deliveries, answers, violations, thousandthsAtMs } = totals;
  if (violations.length > 0) throw new Error(violations.join('\n'));
  const got = await servers.deliveries(gateway);
  const reached = new Set(got.map(([to]) => to));
  let lost = 0;
  for (let n = 0; n < count; n++) if (!reached.has(pushToken(gateway, n))) lost += 1;
  const secondsUntil = (atMs: number | null) => ((atMs ?? 0) - (firstAtMs ?? 0)) / 1000;
  const seconds = secondsUntil(lastAtMs);
  const most = Math.floor((count * 0.99) / 1000);
  return {
    seconds,
    lost,
    answers,
    perSecond:
      most === 0
        ? count / seconds
        : (most * 1000) / secondsUntil(thousandthsAtMs[most - 1] ?? null),
    repeats: (deliveries - count) / count,
    otherIds: got.length - reached.size,
  };
}

async function runBare(gateway: Gateway): Promise<Round> {
  await prepare(gateway);
  const order: BareOrder = {
    gateway,
    count,
    concurrency: CONCURRENCY,
    origin: servers.origin(gateway),
    project: servers.fcm.project,
    serviceAccountFile: servers.fcm.serviceAccountFile,
    apns: servers.apns,
  };
  const script = join(import.meta.dir, 'outgoing-bare.ts');
  const child = spawnKept([process.execPath, script, JSON.stringify(order)], trust);
  const result = JSON.parse(await new Response(child.stdout).text()) as BareResult;
  const cpuUsEach = (result.cpuSeconds / count) * 1e6;
  const { peakMib } = result;
  return { gateway, who: 'bare fetch', ...(await account(gateway)), cpuUsEach, peakMib };
}

function peakMib(pid: number): number {
  const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

async function runGatepost(gateway: Gateway, { dataDir, ask }: Appliance): Promise<Round> {
  await prepare(gateway);
  const db = new Database(join(dataDir, 'gatepost.db'), { strict: true });
  db.run('UPDATE provider SET last_general_at_ms = NULL');
  db.close(true);
  const env = { ...reachEnv(servers), ...trust, GATEPOST_LOG_LEVEL: 'error' };
  const server = await startServer([executable, 'serve', '--port', '0', '--data', dataDir], env);
  const cpuBefore = server.cpuSeconds();
  const form = { title: 'Bench', body: 'One for everybody', type_push: 'optional', expire_days: 7 };
  const os = [gateway === 'fcm' ? 'android' : 'ios'];
  const { id } = await ask(server, '/remote/notification', '', { PushNotificationForm: form, os });
  const giveUpMs = performance.now() + DEADLINE_MS;
  for (let status = 0; status < 100; await Bun.sleep(100)) {
    status = (await ask(server, '/remote/list', `&id=${id}`)).data[0]?.status ?? 0;
    if (performance.now() > giveUpMs) throw new Error(`it did not end in time: ${status}`);
    if (status > 100) throw new Error(`it ended as ${status}`);
  }
  const cpuUsEach = ((server.cpuSeconds() - cpuBefore) / count) * 1e6;
  const peak = peakMib(server.pid);
  await server.stop();
  checkLedger(dataDir, id);
  return { gateway, who: 'gatepost', ...(await account(gateway)), cpuUsEach, peakMib: peak };
}

/** Every device stands as accepted, and nothing waits. */
function checkLedger(dataDir: string, id: number): void {
  const db = new Database(join(dataDir, 'gatepost.db'), { strict: true, readonly: true });
  const accepted = db
    .query<{ count: number }, [number]>(
      'SELECT count(*) AS count FROM recipient WHERE distribution_id = ? AND push_state = 2',
    )
    .get(id);
  const waiting = db.query<{ count: number }, []>('SELECT count(*) AS count FROM outbox').get();
  db.close(true);
  if (accepted?.count !== count || waiting?.count !== 0) {
    throw new Error(`the ledger: ${accepted?.count} accepted, ${waiting?.count} wait`);
  }
}

function print(round: Round): void {
  const { gateway, who, perSecond, repeats, lost, otherIds, cpuUsEach, answers } = round;
  console.log(
    `| ${gateway} | ${who} | ${Math.round(perSecond)} | ${round.seconds.toFixed(1)} | ${lost} | ` +
      `${(repeats * 100).toFixed(2)} % | ${otherIds} | ${cpuUsEach.toFixed(0)} | ` +
      `${round.peakMib.toFixed(0)} | ${JSON.stringify(answers)} |`,
  );
}

/** Whether what must be shown is shown for a gateway. */
function judge(gateway: Gateway, rounds: readonly Round[]): boolean {
  const of = (who: Round['who']) =>
    rounds.filter((round) => round.gateway === gateway && round.who === who);
  const ratio = median(
    of('gatepost').map(({ perSecond }, i) => perSecond / (of('bare fetch')[i]?.perSecond ?? 0)),
  );
  console.log(`${gateway}: ${ratio.toFixed(2)} of the bare loop (median of ${options.rounds})`);
  return (
    ratio >= RATE_MIN &&
    of('gatepost').every(
      ({ lost, repeats, otherIds }) => lost === 0 && otherIds === 0 && repeats < REPEATS_MAX,
    )
  );
}

async function measure(of: StrictServers): Promise<boolean> {
  const dataDir = join(folder, 'data');
  const counts = { fcm: count, apns: count };
  const appliance = makeAppliance({ executable, dataDir, counts });
  const storm = options.calm ? 'calm gateways' : 'reset each second, 2 % 429, 2 % 503';
  console.log(`${count} messages for each, ${storm}; servers: ${of.engine}\n`);
  console.log(
    '| gateway | sender | messages/s to 99 % | s in all | lost | repeats | other ids | CPU us each | peak MiB | answers |\n|---|---|---|---|---|---|---|---|---|---|',
  );
  const gateways = GATEWAYS.filter((name) => (options.only ?? name) === name);
  const rounds: Round[] = [];
  for (let n = 0; n < Number(options.rounds); n++) {
    for (const gateway of gateways) {
      for (const run of [runBare, runGatepost]) {
        const round = await run(gateway, appliance);
        rounds.push(round);
        print(round);
      }
    }
  }
  return gateways.map((gateway) => judge(gateway, rounds)).every(Boolean);
}

const isShown = await measure(servers);
process.exit(isShown ? 0 : 1);
