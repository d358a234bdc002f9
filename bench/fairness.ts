/** The effect of a caller with 2,000 connections on twelve others, at each door. */

import { join } from 'node:path';
import { hostHash } from '../src/core/host-name.ts';
import { ask, type Bench, type Case, printTable, verdict, who } from './driver.ts';
import type { CallersOrder, CallersReport } from './fairness-callers.ts';
import { onLoadCore, type Server, spawnKept } from './process.ts';
import { startPanel } from './rides.ts';
import { seed, seedPostgres } from './seed.ts';
import { DEVICE, hwidOf, linkCode, providerCode, type Shape } from './shape.ts';

/** The host of a panel that Gatepost is the proxy of. */
const PANEL_HOST = 'panel.bench.example';
/** A host that a proxy asks `/gate` about. */
const GATE_HOST = 'sub.bench.example';
/** The party with many connections is the first of the providers, the others are the rest. */
const SHAPE: Shape = {
  providerCount: 13,
  linkCount: 65_000,
  deviceCount: 13_000,
};

interface Door {
  name: string;
  /**
   * A request of the party; in it `{n}` stands for a number that never comes twice, `{code}` for
   * the code of one of its links.
   */
  noise: string;
  /** A request of one of the others, by the number of its provider. */
  call(provider: number): string;
  /** Regular expression of an answer that is no refusal. */
  good: string;
}

function get(target: string, from: number, headers: Record<string, string> = {}): string {
  const all = { Host: 'localhost', 'X-Forwarded-For': `192.0.2.${from}`, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const device = (hwid: string) => ({ ...DEVICE, 'x-hwid': hwid });

/** The first device that is on a link of a provider. */
function deviceOf(provider: number): number {
  const { deviceCount, linkCount, providerCount } = SHAPE;
  for (let n = 1; ; n++) {
    if ((((n * linkCount) / deviceCount - 1) % providerCount) + 1 === provider) return n;
  }
}
const linkOf = (number: number) => (number * SHAPE.linkCount) / SHAPE.deviceCount;

const atGate = (from: number, code: string, hwid: string) =>
  get('/gate', from, {
    'X-Forwarded-Host': GATE_HOST,
    'X-Original-URI': `/s?installid=${code}`,
    'X-Original-Method': 'GET',
    ...device(hwid),
  });

const atPanel = (from: number, key: string, hwid: string) =>
  get(`/s/${key}`, from, { Host: PANEL_HOST, ...device(hwid) });

const DOORS: readonly Door[] = [
  {
    name: 'writes',
    noise: get(`/api/add-install?${who(1)}&install_limit=1`, 1),
    call: (n) => get(`/api/add-install?${who(n)}&install_limit=1`, n),
    good: '"rc":1,',
  },
  {
    name: 'changes',
    noise: get(`/api/add-domain?${who(1)}&domain_hash=${'a'.repeat(64)}&domain_name={n}`, 1),
    call: (n) => get(`/api/add-domain?${who(n)}&domain_hash=${'a'.repeat(64)}&domain_name={n}`, n),
    good: '"rc":[12],',
  },
  {
    name: 'lists',
    noise: get(`/api/list-install?${who(1)}`, 1),
    call: (n) => get(`/api/list-install?${who(n)}&id=${SHAPE.providerCount + n}`, n),
    good: '"rc":1,',
  },
  {
    name: 'stats',
    noise: get(`/api/stats?${who(1)}&days=366`, 1),
    call: (n) => get(`/api/stats?${who(n)}&days=30`, n),
    good: '"rc":1,',
  },
  {
    name: 'gate',
    noise: atGate(1, '{code}', 'noise-{n}'),
    call: (n) => atGate(n, linkCode(linkOf(deviceOf(n))), hwidOf(deviceOf(n))),
    good: '^HTTP/1.1 204 ',
  },
  {
    name: 'panel',
    noise: atPanel(1, 'KeyOfTheNoise001', 'noise'),
    call: (n) => atPanel(n, `KeyOfTheBench0${n}`, `phone-${n}`),
    good: '^HTTP/1.1 200 ',
  },
];

/** Providers beside the one with many connections. */
const OTHERS = Array.from({ length: SHAPE.providerCount - 1 }, (_, n) => n + 2);
/** The pause of each of the others between two calls, ms. */
const PAUSE_MS = 40;
/** The time that the panel takes for an answer, ms. */
const PANEL_MS = 20;
/** The time that the many connections have to be under way, ms. */
const BEGIN_MS = 1_500;
const wantedMs = (aloneMs: number) => 3 * aloneMs + 20;

async function start(bench: Bench, store: string, panel: string): Promise<Server> {
  const upstream = {
    host: PANEL_HOST,
    url: panel,
    provider: providerCode(2),
    key_path: ['/s/{key}'],
    default_limit: 3,
  };
  const env: Record<string, string> = {
    GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
    GATEPOST_GATE_UPSTREAM: JSON.stringify([upstream]),
  };
  const dataDir = bench.place(`data-${store}`);
  if (store === 'sqlite') await seed(bench, dataDir, SHAPE);
  else {
    const postgres = await bench.postgres();
    env['GATEPOST_DATABASE_URL'] = await seedPostgres(bench, postgres.port, SHAPE);
    await postgres.checkpoint();
  }
  const server = await bench.serve(dataDir, env);
  // The host of the gate is bound at every provider; that of the panel is bound already.
  for (let n = 1; n <= SHAPE.providerCount; n++) {
    await ask(`${server.url}/api/add-domain?${who(n)}&domain_hash=${hostHash(GATE_HOST)}`);
  }
  return server;
}

async function callers(
  { url }: Server,
  door: Door,
  seconds: number,
  idleConnections: number,
): Promise<CallersReport> {
  const { hostname, port } = new URL(url);
  const order: CallersOrder = {
    host: hostname,
    port: Number(port),
    requests: OTHERS.map((n) => door.call(n)),
    good: door.good,
    pauseMs: PAUSE_MS,
    seconds,
    idleConnections,
  };
  const script = join(import.meta.dir, 'fairness-callers.ts');
  const child = spawnKept(onLoadCore([process.execPath, script, JSON.stringify(order)]));
  return (await new Response(child.stdout).json()) as CallersReport;
}

/** Loads a door; the cells of its row, and whether the others got what is wanted. */
async function measure(bench: Bench, server: Server, door: Door) {
  const [connections, seconds] = [bench.number('connections'), bench.number('seconds')];
  await callers(server, door, 1, 0);
  const alone = await callers(server, door, seconds, connections);
  const lastS = Math.ceil(seconds + BEGIN_MS / 1_000) + 1;
  const script = join(import.meta.dir, 'fairness.lua');
  const flags = ['-t1', `-c${connections}`, `-d${lastS}s`, '--timeout', '15s', '-s', script];
  const words = [door.noise, String(SHAPE.providerCount), String(SHAPE.linkCount)];
  const wrk = spawnKept(onLoadCore(['wrk', ...flags, server.url, '--', ...words]));
  await Bun.sleep(BEGIN_MS);
  const beside = await callers(server, door, seconds, 0);
  const output = await new Response(wrk.stdout).text();
  const requests = Number(/requests=(\d+)/.exec(output)?.[1]);
  const wanted = wantedMs(alone.p99Ms);
  const isGood = beside.p99Ms <= wanted && beside.refused + alone.refused === 0;
  const refusal = beside.refusal ?? alone.refusal;
  if (refusal !== null) bench.progress(`refused: ${refusal}`);
  const times = [alone.p99Ms, beside.p50Ms, beside.p99Ms, beside.longestMs, wanted];
  const refused = `${beside.refused} of ${beside.calls}`;
  return { isGood, cells: [(requests / lastS).toFixed(0), ...times, refused, verdict(isGood)] };
}

/** Server and load have a core each, PostgreSQL shares both. */
export const fairness: Case = {
  about:
    'the time of a call of twelve callers alone, and beside one with 2,000 connections, at each door and on both stores; ends with 1 over three times and 20 ms',
  options: { store: 'both', connections: '2000', seconds: '5', only: '' },
  needs: ['wrk'],
  run: async (bench) => {
    const panel = startPanel(async () => {
      await Bun.sleep(PANEL_MS);
      return new Response('a subscription\n');
    });
    const head = ['store', 'door', 'the one, /s', 'p99 alone', 'p50', 'p99', 'longest', 'wanted'];
    const print = printTable([...head, 'refused', '']);
    let isMet = true;
    for (const store of ['sqlite', 'postgres']) {
      if (!['both', store].includes(bench.text('store'))) continue;
      const server = await start(bench, store, panel.url.origin);
      for (const door of DOORS.filter(({ name }) => bench.takes(name))) {
        const { isGood, cells } = await measure(bench, server, door);
        isMet &&= isGood;
        print([store, door.name, ...cells]);
      }
      await server.stop();
    }
    return isMet;
  },
};
