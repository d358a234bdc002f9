/** Pushes through gateways that misbehave, beside a bare loop of `fetch` in the same run. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { reachEnv } from '../test/servers/reach-env.ts';
import type { StrictServers } from '../test/servers/strict-servers.ts';
import { pushToken } from '../test/support/push-devices.ts';
import { ask, type Bench, type Case, median, notification, printTable, who } from './driver.ts';
import { follow } from './messaging.ts';
import type { BareOrder, BareResult } from './outgoing-bare.ts';
import { spawnKept } from './process.ts';
import { makeData, startServers } from './push-world.ts';

const GATEWAYS = ['fcm', 'apns'] as const;
type Gateway = (typeof GATEWAYS)[number];
/** As many as Gatepost has under way at a gateway. */
const CONCURRENCY = 64;
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

/** Empties the ledger, and lets the gateway misbehave. */
async function prepare(bench: Bench, servers: StrictServers, gateway: Gateway): Promise<void> {
  await servers.keepVisits(gateway, 0);
  await servers.forget(gateway);
  if (bench.is('calm')) return;
  await servers.behave(gateway, {
    resetEveryMs: 1_000,
    some: [
      { share: 0.02, misdeed: { kind: 'refuse', name: '429', retryAfter: '1' } },
      { share: 0.02, misdeed: { kind: 'refuse', name: '503' } },
    ],
  });
}

async function account(servers: StrictServers, gateway: Gateway, count: number) {
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
  const mostS = secondsUntil(thousandthsAtMs[most - 1] ?? null);
  return {
    seconds,
    lost,
    answers,
    perSecond: most === 0 ? count / seconds : (most * 1000) / mostS,
    repeats: (deliveries - count) / count,
    otherIds: got.length - reached.size,
  };
}

type Trust = Record<string, string>;

async function runBare(servers: StrictServers, gateway: Gateway, count: number, trust: Trust) {
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
  const { cpuSeconds, peakMib } = JSON.parse(await new Response(child.stdout).text()) as BareResult;
  return { cpuUsEach: (cpuSeconds / count) * 1e6, peakMib };
}

async function runGatepost(
  bench: Bench,
  dataDir: string,
  gateway: Gateway,
  count: number,
  env: Record<string, string>,
) {
  const db = new Database(join(dataDir, 'gatepost.db'), { strict: true });
  db.run('UPDATE provider SET last_general_at_ms = NULL');
  db.close(true);
  const server = await bench.serve(dataDir, env);
  const cpuBefore = server.cpuSeconds();
  const body = notification(gateway === 'fcm' ? 'android' : 'ios');
  const { id } = await ask(`${server.url}/remote/notification?${who()}`, body);
  await follow(server, id, 1, 60_000 + count * 5);
  const cpuUsEach = ((server.cpuSeconds() - cpuBefore) / count) * 1e6;
  const peakMib = server.peakMib();
  await server.stop();
  checkLedger(dataDir, id, count);
  return { cpuUsEach, peakMib };
}

/** Every device stands as accepted, and nothing waits. */
function checkLedger(dataDir: string, id: number, count: number): void {
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

/** Whether what must be shown is shown for a gateway. */
function judge(gateway: Gateway, rounds: readonly Round[]): boolean {
  const of = (who: Round['who']) =>
    rounds.filter((round) => round.gateway === gateway && round.who === who);
  const ratio = median(
    of('gatepost').map(({ perSecond }, i) => perSecond / (of('bare fetch')[i]?.perSecond ?? 0)),
  );
  console.log(`${gateway}: ${ratio.toFixed(2)} of the bare loop`);
  return (
    ratio >= RATE_MIN &&
    of('gatepost').every(
      ({ lost, repeats, otherIds }) => lost === 0 && otherIds === 0 && repeats < REPEATS_MAX,
    )
  );
}

export const outgoing: Case = {
  isSpread: true,
  about:
    'messages a second through FCM and APNs (a reset of every connection each second, 2 % each of 429 and 503) beside a bare loop; ends with 1 if one is lost, 2 % are repeats, or under 0.7 of the loop; --calm: each request succeeds',
  options: { count: '100000', rounds: '3', only: '', calm: false },
  run: async (bench) => {
    const count = bench.number('count');
    const servers = await startServers();
    const dataDir = bench.place('data');
    makeData(bench, dataDir, count);
    // Both believe the servers by the runtime's own means: authorities of a setting cost each call.
    const trust = { GATEPOST_OUTGOING_CA_FILE: '', NODE_EXTRA_CA_CERTS: servers.caFile };
    const head = ['gateway', 'sender', 'messages/s to 99 %', 's in all', 'lost', 'repeats'];
    const print = printTable([...head, 'other ids', 'CPU us each', 'peak MiB', 'answers']);
    const gateways = GATEWAYS.filter((name) => bench.takes(name));
    const rounds: Round[] = [];
    for (let n = 0; n < bench.number('rounds'); n++) {
      for (const gateway of gateways) {
        for (const sender of ['bare fetch', 'gatepost'] as const) {
          await prepare(bench, servers, gateway);
          const env = { ...reachEnv(servers), ...trust };
          const cost =
            sender === 'gatepost'
              ? await runGatepost(bench, dataDir, gateway, count, env)
              : await runBare(servers, gateway, count, trust);
          const own = await account(servers, gateway, count);
          rounds.push({ gateway, who: sender, ...own, ...cost });
          const shares = [String(own.lost), `${(own.repeats * 100).toFixed(2)} %`];
          const costs = [String(own.otherIds), cost.cpuUsEach, cost.peakMib];
          const rates = [own.perSecond.toFixed(0), own.seconds];
          print([gateway, sender, ...rates, ...shares, ...costs, JSON.stringify(own.answers)]);
        }
      }
    }
    return gateways.map((gateway) => judge(gateway, rounds)).every(Boolean);
  },
};
