/** Gatepost as the proxy beside nginx alone, both in front of the same upstream. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import { until } from '../test/support/until.ts';
import { type Bench, type Case, median, printTable } from './driver.ts';
import { inTurns, medians, ratios } from './load.ts';
import { onLoadCore, onServerCore, type Server, serverOf, spawnKept } from './process.ts';
import { providerCode } from './shape.ts';

const HOST = 'sub.bench.example';
const KEY = 'KeyOfTheBench001';
const SIZES = [
  { name: '2 KB', bytes: 2_000 },
  { name: '64 KB', bytes: 64_000 },
  { name: '5 MB', bytes: 5_000_000 },
];
/** The header with end and traffic, which panels send; nginx counts the traffic up. */
const USERINFO = 'upload=0; download=$connection_requests; total=10737418240; expire=1893456000';
/** A worker of root's would give its rights away, and could not read the folder. */
const AS_ROOT = process.getuid?.() === 0 ? 'user root; ' : '';

async function startNginx(
  bench: Bench,
  name: string,
  port: number,
  http: string,
  on: typeof onServerCore,
): Promise<Server> {
  const file = join(bench.folder, `${name}.conf`);
  const place = (what: string) => join(bench.folder, `${name}-${what}`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${place(kind)};`)
    .join(' ');
  writeFileSync(
    file,
    `${AS_ROOT}worker_processes 1; daemon off; pid ${place('pid')}; error_log stderr crit;
events { worker_connections 1024; }
http { access_log off; ${temporary} keepalive_requests 100000000; ${http} }`,
  );
  const command = on(['nginx', '-p', bench.folder, '-c', file]);
  const server = serverOf(spawnKept(command, {}, 'SIGTERM'), `http://127.0.0.1:${port}`);
  const answers = () =>
    fetch(server.url)
      .then(({ body }) => body?.cancel())
      .then(() => true)
      .catch(() => false);
  await until(`nginx (${name}) answers`, answers, 5_000);
  return server;
}

export const upstream: Case = {
  about:
    'a known device fetches its subscription through Gatepost and through nginx with one worker, which looks at nothing, and with --before FILE through an older executable too; the load shares the core of the upstream; --figures on keeps end and traffic of subscriptions',
  options: { rounds: '5', seconds: '2', before: '', figures: 'off' },
  needs: ['wrk', 'nginx'],
  run: async (bench) => {
    const panelPort = freePort();
    const panelUrl = `http://127.0.0.1:${panelPort}`;
    for (const { bytes } of SIZES) {
      writeFileSync(join(bench.place(join('files', String(bytes))), KEY), 'x'.repeat(bytes));
    }
    const root = join(bench.folder, 'files');
    const files = `sendfile on; add_header Subscription-Userinfo "${USERINFO}";
    server { listen 127.0.0.1:${panelPort}; root ${root}; }`;
    const panel = await startNginx(bench, 'panel', panelPort, files, onLoadCore);
    const proxyPort = freePort();
    const proxy = `upstream panel { server 127.0.0.1:${panelPort}; keepalive 64; }
    server { listen 127.0.0.1:${proxyPort}; location / { proxy_pass http://panel;
      proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; } }`;
    const nginx = await startNginx(bench, 'proxy', proxyPort, proxy, onServerCore);
    const serve = (name: string, executable?: string) => {
      const dataDir = bench.place(name);
      bench.addProvider(dataDir, 1, {}, executable);
      // The older executable keeps none, or knows no such term.
      if (bench.text('figures') === 'on' && executable === undefined) {
        const terms = ['--subscription-figures', 'on'];
        bench.command(['provider', 'set', providerCode(1), '--data', dataDir, ...terms]);
      }
      const GATEPOST_GATE_UPSTREAM = JSON.stringify([
        {
          host: HOST,
          url: panelUrl,
          provider: providerCode(1),
          key_path: SIZES.map(({ bytes }) => `/${bytes}/{key}`),
          default_limit: 3,
        },
      ]);
      return bench.serve(dataDir, { GATEPOST_GATE_UPSTREAM }, executable);
    };
    const gatepost = await serve('data');
    const before = bench.text('before');
    const servers = [gatepost, nginx, ...(before === '' ? [] : [await serve('before', before)])];
    const head = ['answer', 'Gatepost/s', 'nginx/s', 'ratio', 'Gatepost CPU us', 'nginx CPU us'];
    const print = printTable([...head, 'ratio', 'rate over before', 'CPU over before']);
    for (const { name, bytes } of SIZES) {
      const target = `/${bytes}/${KEY}`;
      const headers = { Host: HOST, 'x-hwid': 'HwidOfTheBench' };
      // The right answer, before many of them.
      for (const { url } of servers) {
        const first = await (await fetch(url + target, { headers })).bytes();
        if (first.length !== bytes) throw new Error(`${url} sent another answer`);
      }
      const sides = servers.map((server) => ({ name: server.url, servers: [server] }));
      const [ours = [], theirs = [], older] = await inTurns(sides, {
        kind: { target, headers },
        connections: 32,
        shape: { providerCount: 1, linkCount: 1, deviceCount: 1 },
        rounds: bench.number('rounds'),
        seconds: bench.number('seconds'),
      });
      const both = [medians(ours), medians(theirs)];
      type Figure = 'requestsPerSecond' | 'cpuUs';
      const ratio = (what: Figure) => median(ratios(ours, theirs, what)).toFixed(2);
      const overBefore = (what: Figure) =>
        older === undefined ? '' : median(ratios(ours, older, what)).toFixed(3);
      const perSecond = both.map(({ requestsPerSecond }) => requestsPerSecond.toFixed(0));
      print([
        name,
        ...perSecond,
        ratio('requestsPerSecond'),
        ...both.map(({ cpuUs }) => cpuUs),
        ratio('cpuUs'),
        overBefore('requestsPerSecond'),
        overBefore('cpuUs'),
      ]);
    }
    for (const server of [...servers, panel]) await server.stop();
    return undefined;
  },
};
