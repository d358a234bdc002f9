/** The cost of riding for a fetch of a known HWID, through `/gate` and through the proxy. */

import { hostHash } from '../src/core/host-name.ts';
import { until } from '../test/support/until.ts';
import { ask, type Bench, type Case, median, notification, printTable, who } from './driver.ts';
import { inTurns, medians, ratios, type Side } from './load.ts';
import type { Server } from './process.ts';
import { providerCode } from './shape.ts';

/** Each is a provider of its own: general notifications ride for all of its devices. */
const CASES = ['quiet', 'loud'] as const;
const WAYS = ['gate', 'proxy'] as const;
type Way = (typeof WAYS)[number];

const hostOf = (way: Way, which: string) => `${which}.${way}.example`;
const DEVICE = {
  'x-hwid': 'HwidOfTheBench',
  'x-device-os': 'Android',
  'x-device-locale': 'RU',
  'user-agent': 'INCY/2.1.0/android',
};
const MADE_UP = /\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A panel on this machine; a made-up key is refused, else no links are made. */
export function startPanel(answer: () => Response | Promise<Response>) {
  const fetch = ({ url }: Request) =>
    MADE_UP.test(url) ? new Response(null, { status: 404 }) : answer();
  return Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
}

/** The target and the headers of a fetch. */
function requestOf(way: Way, which: string) {
  const path = `/sub/key-${which}`;
  if (way === 'proxy') return { target: path, headers: { ...DEVICE, Host: hostOf(way, which) } };
  const about = { 'x-original-uri': path, 'x-forwarded-host': hostOf(way, which) };
  return { target: '/gate', headers: { ...DEVICE, ...about } };
}

async function fetchOnce(server: Server, way: Way, which: string): Promise<Headers> {
  const { target, headers } = requestOf(way, which);
  const answer = await fetch(server.url + target, { headers });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${way} answers ${answer.status}`);
  return answer.headers;
}

/** Starts an executable with a provider, its hosts and a link for each case. */
async function start(bench: Bench, executable: string, cases: readonly string[], panel: string) {
  const dataDir = bench.place(`data-${cases.length}`);
  for (const n of cases.keys()) bench.addProvider(dataDir, n + 1, {}, executable);
  const upstreams = cases.map((which, n) => ({
    host: hostOf('proxy', which),
    url: panel,
    provider: providerCode(n + 1),
    default_limit: 3,
  }));
  const env = {
    GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
    GATEPOST_GATE_UPSTREAM: JSON.stringify(upstreams),
    ...(cases.includes('loud') && { GATEPOST_GATE_RIDE: 'notifications' }),
  };
  const server = await bench.serve(dataDir, env, executable);
  for (const [n, which] of cases.entries()) {
    const api = (path: string) => `${server.url}${path}?${who(n + 1)}`;
    await ask(`${api('/api/add-domain')}&domain_hash=${hostHash(hostOf('gate', which))}`);
    await ask(`${api('/api/add-install')}&install_limit=3&subscription_key=key-${which}`);
    for (const way of WAYS) await fetchOnce(server, way, which);
    if (which === 'quiet') continue;
    await ask(api('/remote/notification'), notification());
    for (const way of WAYS) {
      const rides = async () => (await fetchOnce(server, way, which)).has('announce');
      await until(`a notification rides through ${way}`, rides, 10_000);
    }
  }
  return server;
}

export const rides: Case = {
  about:
    'processor time of a fetch while nothing rides and while a notification does; with --before FILE also an older executable, on which nothing rides (wanted: 1.05 of it, and 1.3 with a notification)',
  options: { before: '', rounds: '7', seconds: '1' },
  needs: ['wrk'],
  run: async (bench) => {
    const panel = startPanel(
      () => new Response('x'.repeat(2_000), { headers: { 'profile-title': 'Panel' } }),
    );
    const now = await start(bench, bench.executable, CASES, panel.url.origin);
    const before = bench.text('before');
    const old = before === '' ? null : await start(bench, before, ['quiet'], panel.url.origin);
    const print = printTable(['way', 'rides', 'us', 'of nothing riding', 'of before']);
    for (const way of WAYS) {
      const sideOf = (server: Server, which: string): Side => ({
        name: which,
        servers: [server],
        kind: requestOf(way, which),
      });
      const sides = CASES.map((which) => sideOf(now, which));
      if (old !== null) sides.push(sideOf(old, 'quiet'));
      const runs = await inTurns(sides, {
        kind: requestOf(way, 'quiet'),
        connections: 32,
        shape: { providerCount: 1, linkCount: 1, deviceCount: 1 },
        rounds: bench.number('rounds'),
        seconds: bench.number('seconds'),
      });
      for (const at of CASES.keys()) {
        const own = runs[at] ?? [];
        const of = (other: typeof own | undefined) =>
          other === undefined ? '-' : median(ratios(own, other, 'cpuUs')).toFixed(3);
        const what = at === 0 ? 'nothing' : 'a notification';
        print([way, what, medians(own).cpuUs, of(runs[0]), at === 0 ? of(runs[2]) : '-']);
      }
    }
    return undefined;
  },
};
