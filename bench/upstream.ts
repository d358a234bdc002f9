/**
 * Gatepost as the proxy beside nginx alone, both in front of the same upstream: a device that is on
 * its link fetches its subscription. In turns, in one run; prints one table, keeps no file.
 *
 *   bun bench/upstream.ts [--executable FILE] [--rounds 5] [--seconds 2]
 *
 * nginx (one worker) keeps connections to the upstream and looks at nothing. Proxy and upstream
 * have a core each; the load shares the upstream's. Processor time is that of the proxy.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { LOAD_CORE, median, onServerCore } from './load.ts';
import { onCore, type Server, serverOf, spawnKept, startServer, stopAll } from './process.ts';

const { values: options } = parseArgs({
  options: {
    executable: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
});
const HOST = 'sub.bench.example';
const KEY = 'KeyOfTheBench001';
const CONNECTIONS = 32;
const SIZES = [
  { name: '2 KB', bytes: 2_000 },
  { name: '64 KB', bytes: 64_000 },
  { name: '5 MB', bytes: 5_000_000 },
];

const servers: Server[] = [];

interface Measured {
  perSecond: number;
  cpuUs: number;
}

/** A worker of root's would give its rights away, and could not read the folder. */
const AS_ROOT = process.getuid?.() === 0 ? 'user root; ' : '';
const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));

/** Writes a configuration of nginx; its files are all in the folder. */
function nginxConf(name: string, http: string): string {
  const path = join(folder, `${name}.conf`);
  const place = (what: string) => join(folder, `${name}-${what}`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${place(kind)};`)
    .join(' ');
  writeFileSync(
    path,
    `${AS_ROOT}worker_processes 1; daemon off; pid ${place('pid')}; error_log stderr crit;
events { worker_connections 1024; }
http { access_log off; ${temporary} keepalive_requests 100000000; ${http} }`,
  );
  return path;
}

async function startNginx(name: string, port: number, http: string, core: number): Promise<Server> {
  const command = ['nginx', '-p', folder, '-c', nginxConf(name, http)];
  const server = serverOf(
    spawnKept(onCore(core, command), {}, 'SIGTERM'),
    `http://127.0.0.1:${port}`,
  );
  servers.push(server);
  for (const giveUpMs = performance.now() + 5_000; ; ) {
    const answer = await fetch(server.url).catch(() => null);
    await answer?.body?.cancel();
    if (answer !== null) return server;
    if (performance.now() > giveUpMs) throw new Error(`nginx (${name}) did not start`);
    await Bun.sleep(20);
  }
}

async function startGatepost(upstream: string): Promise<Server> {
  const dataDir = join(folder, 'data');
  const words = ['provider', 'add', '--name', 'bench', '--json', '--data', dataDir];
  const made = Bun.spawnSync([options.executable, ...words], { env: { GATEPOST_CONFIG: 'none' } });
  const { provider_code: provider } = JSON.parse(String(made.stdout));
  const keyPaths = SIZES.map(({ bytes }) => `/${bytes}/{key}`);
  const panel = { host: HOST, url: upstream, provider, key_path: keyPaths, default_limit: 3 };
  return startServer(
    onServerCore([options.executable, 'serve', '--port', '0', '--data', dataDir]),
    { GATEPOST_GATE_UPSTREAM: JSON.stringify([panel]) },
  );
}

async function measure(server: Server, bytes: number): Promise<Measured> {
  const url = `${server.url}/${bytes}/${KEY}`;
  const headers = { Host: HOST, 'x-hwid': 'HwidOfTheBench' };
  // The right answer, before many of them.
  const first = await fetch(url, { headers });
  if ((await first.bytes()).length !== bytes) throw new Error(`${server.url} sent another answer`);
  const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const load = ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${options.seconds}s`, ...named, url];
  const cpuBefore = server.cpuSeconds();
  const wrk = Bun.spawn(onCore(LOAD_CORE, load), { stdout: 'pipe' });
  const output = await new Response(wrk.stdout).text();
  const cpuSeconds = server.cpuSeconds() - cpuBefore;
  const count = Number(/(\d+) requests in/.exec(output)?.[1]);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
  if (!(count > 0) || /Non-2xx|Socket errors/.test(output)) throw new Error(`wrk: ${output}`);
  return { perSecond, cpuUs: (cpuSeconds / count) * 1e6 };
}

function row(name: string, gatepost: Measured[], nginx: Measured[]): string {
  const of = (all: Measured[], what: keyof Measured) => median(all.map((one) => one[what]));
  const ratio = (what: keyof Measured) =>
    median(gatepost.map((one, at) => one[what] / (nginx[at] as Measured)[what]));
  const cells = [
    name,
    ...[of(gatepost, 'perSecond'), of(nginx, 'perSecond')].map((value) => value.toFixed(0)),
    ratio('perSecond').toFixed(2),
    ...[of(gatepost, 'cpuUs'), of(nginx, 'cpuUs')].map((value) => value.toFixed(1)),
    ratio('cpuUs').toFixed(2),
  ];
  return `| ${cells.join(' | ')} |`;
}

try {
  const panelPort = freePort();
  const panelUrl = `http://127.0.0.1:${panelPort}`;
  for (const { bytes } of SIZES) {
    mkdirSync(join(folder, 'files', String(bytes)), { recursive: true });
    writeFileSync(join(folder, 'files', String(bytes), KEY), 'x'.repeat(bytes));
  }
  const files = `sendfile on; server { listen 127.0.0.1:${panelPort}; root ${join(folder, 'files')}; }`;
  await startNginx('panel', panelPort, files, LOAD_CORE);
  const proxyPort = freePort();
  const proxy = `upstream panel { server 127.0.0.1:${panelPort}; keepalive 64; }
    server { listen 127.0.0.1:${proxyPort}; location / { proxy_pass http://panel;
      proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; } }`;
  const nginx = await startNginx('proxy', proxyPort, proxy, 0);
  const gatepost = await startGatepost(panelUrl);
  const head = [
    'answer',
    'Gatepost/s',
    'nginx/s',
    'ratio',
    'Gatepost CPU us',
    'nginx CPU us',
    'ratio',
  ];
  console.log(`| ${head.join(' | ')} |\n|---${'|--:'.repeat(head.length - 1)}|`);
  for (const { name, bytes } of SIZES) {
    const [ours, theirs]: [Measured[], Measured[]] = [[], []];
    await measure(gatepost, bytes);
    for (let round = 0; round < Number(options.rounds); round++) {
      ours.push(await measure(gatepost, bytes));
      theirs.push(await measure(nginx, bytes));
    }
    console.log(row(name, ours, theirs));
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  stopAll();
  rmSync(folder, { recursive: true, force: true });
}
