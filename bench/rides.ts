/**
 * Measures what riding costs a fetch of a known HWID, through `/gate` and through Gatepost as the
 * proxy: processor time of the server for each request while nothing rides, and while a general
 * notification does, in turns. With `--before` also an older executable, on which nothing rides.
 *
 *   bun bench/rides.ts [--executable dist/gatepost] [--before FILE] [--rounds 7] [--seconds 1]
 *
 * Targets: at most 1.05 of the older one while nothing rides, and 1.3 of that with a notification.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hostHash } from '../src/core/host-name.ts';
import { LOAD_CORE, median, onServerCore } from './load.ts';
import { onCore, type Server, startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    executable: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
    before: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
  },
});
const CONNECTIONS = 32;
/** Each is a provider of its own: general notifications ride for all of its devices. */
const CASES = ['quiet', 'loud'] as const;
const WAYS = ['gate', 'proxy'] as const;
type Case = (typeof CASES)[number];
type Way = (typeof WAYS)[number];

const hostOf = (way: Way, which: Case) => `${which}.${way}.example`;
const DEVICE = {
  'x-hwid': 'HwidOfTheBench',
  'x-device-os': 'Android',
  'x-device-locale': 'RU',
  'user-agent': 'INCY/2.1.0/android',
};

const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
const MADE_UP = /\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const panel = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  // A made-up key is refused, else no links are made.
  fetch: ({ url }) =>
    MADE_UP.test(url)
      ? new Response(null, { status: 404 })
      : new Response('x'.repeat(2_000), { headers: { 'profile-title': 'Panel' } }),
});

interface Bench {
  name: string;
  server: Server;
  cases: readonly Case[];
}

async function ask(url: string, body: unknown = null): Promise<{ id: number }> {
  const init = body === null ? {} : { method: 'POST', body: JSON.stringify(body) };
  const json = (await (await fetch(url, init)).json()) as { rc: number; id: number; msg: string };
  if (json.rc !== 1) throw new Error(json.msg);
  return json;
}

/** Starts an executable with a provider, its hosts and a link for each case. */
async function start(name: string, executable: string, cases: readonly Case[]): Promise<Bench> {
  const dataDir = join(folder, name);
  const own = Object.fromEntries(
    cases.map((which) => {
      const words = ['provider', 'add', '--name', which, '--plan', 'enterprise', '--json'];
      const made = Bun.spawnSync([executable, ...words, '--data', dataDir], {
        env: { GATEPOST_CONFIG: 'none' },
      });
      const { provider_code, auth_key } = JSON.parse(String(made.stdout));
      return [which, { provider_code, auth_key }];
    }),
  );
  const upstreams = cases.map((which) => ({
    host: hostOf('proxy', which),
    url: `http://127.0.0.1:${panel.port}`,
    provider: own[which]?.provider_code,
    default_limit: 3,
  }));
  const isRiding = cases.includes('loud');
  const server = await startServer(
    onServerCore([executable, 'serve', '--port', '0', '--data', dataDir]),
    {
      GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
      GATEPOST_GATE_UPSTREAM: JSON.stringify(upstreams),
      ...(isRiding && { GATEPOST_GATE_RIDE: 'notifications' }),
    },
  );
  for (const which of cases) {
    const by = new URLSearchParams(own[which]);
    const hash = hostHash(hostOf('gate', which));
    await ask(`${server.url}/api/add-domain?${by}&domain_hash=${hash}`);
    await ask(`${server.url}/api/add-install?${by}&install_limit=3&subscription_key=key-${which}`);
    for (const way of WAYS) await fetchOnce(server, way, which);
    if (which === 'quiet') continue;
    const form = { title: 'Servers', body: 'Hello', locales: { RU: { body: 'Привет' } } };
    const PushNotificationForm = { ...form, type_push: 'optional', expire_days: 1 };
    const sent = { PushNotificationForm, os: ['android'] };
    await ask(`${server.url}/remote/notification?${by}`, sent);
    for (const way of WAYS) {
      const giveUpMs = performance.now() + 10_000;
      while (!(await fetchOnce(server, way, which)).has('announce')) {
        if (performance.now() > giveUpMs) throw new Error(`nothing rides through ${way}`);
        await Bun.sleep(20);
      }
    }
  }
  return { name, server, cases };
}

/** The address and the headers of a fetch. */
function requestOf({ url }: Server, way: Way, which: Case) {
  const path = `/sub/key-${which}`;
  if (way === 'proxy') {
    return { url: `${url}${path}`, headers: { ...DEVICE, Host: hostOf(way, which) } };
  }
  const about = { 'x-original-uri': path, 'x-forwarded-host': hostOf(way, which) };
  return { url: `${url}/gate`, headers: { ...DEVICE, ...about } };
}

async function fetchOnce(server: Server, way: Way, which: Case): Promise<Headers> {
  const { url, headers } = requestOf(server, way, which);
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${way} answers ${answer.status}`);
  return answer.headers;
}

/** Returns the processor time of the server for each request, us. */
async function measure(server: Server, way: Way, which: Case): Promise<number> {
  const { url, headers } = requestOf(server, way, which);
  const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const load = ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${options.seconds}s`, ...named, url];
  const cpuBefore = server.cpuSeconds();
  const wrk = Bun.spawn(onCore(LOAD_CORE, load), { stdout: 'pipe' });
  const output = await new Response(wrk.stdout).text();
  const cpuSeconds = server.cpuSeconds() - cpuBefore;
  const count = Number(/(\d+) requests in/.exec(output)?.[1]);
  if (!(count > 0) || /Non-2xx|Socket errors/.test(output)) throw new Error(`wrk: ${output}`);
  return (cpuSeconds / count) * 1e6;
}

const benches = [await start('now', options.executable, CASES)];
if (options.before !== undefined) benches.push(await start('before', options.before, ['quiet']));
const rows = benches.flatMap(({ name, server, cases }) =>
  WAYS.flatMap((way) => cases.map((which) => ({ name, server, way, which, us: [] as number[] }))),
);
for (let round = -1; round < Number(options.rounds); round++) {
  for (const { server, way, which, us } of rows) {
    const cpuUs = await measure(server, way, which);
    // The first round warms up.
    if (round >= 0) us.push(cpuUs);
  }
}
const usOf = (name: string, way: Way, which: Case) =>
  rows.find((row) => row.name === name && row.way === way && row.which === which)?.us ?? [];
const ratio = (us: number[], base: number[]) =>
  base.length === 0 ? '-' : median(us.map((one, at) => one / (base[at] ?? 1))).toFixed(3);
console.log('| way | rides | us | of nothing riding | of before |\n|---|---|--:|--:|--:|');
for (const { name, way, which, us } of rows.filter((row) => row.name === 'now')) {
  const quiet = usOf(name, way, 'quiet');
  const cells = [way, which === 'loud' ? 'a notification' : 'nothing', median(us).toFixed(1)];
  const before = which === 'quiet' ? ratio(us, usOf('before', way, 'quiet')) : '-';
  console.log(`| ${[...cells, ratio(us, quiet), before].join(' | ')} |`);
}
process.exit(0);
