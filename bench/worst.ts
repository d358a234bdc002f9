/**
 * The worst that one caller can do with one request, one stream or one file, and what another
 * caller notices of it: `make bench` writes `bench/results/DATE-worst.md`.
 *
 *   bun bench/worst.ts [--executable FILE] [--only TEXT] [--quick]
 *
 * `--only` takes part of an endpoint or of what is sent; it and `--quick` keep no file. Ends with 1
 * if another caller waits longer than 10 ms in any row.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { environment, processorTimes } from './environment.ts';
import { fillThroughApi } from './fill.ts';
import { LOAD_CORE, median, onServerCore } from './load.ts';
import { onCore, type Server, startServer, stopAll } from './process.ts';
import { authKey, domainHash, providerCode } from './shape.ts';
import { floods, type WorstFlood } from './worst-floods.ts';
import { worstRequests } from './worst-requests.ts';

const WAIT_MAX_MS = 10;
const LINKS = 6_000;
/** A request is over in no time: so often in a row, for another caller's call to meet it. */
const REQUESTS_PER_ROUND = 5;

const root = join(import.meta.dir, '..');
const { values: options } = parseArgs({
  options: {
    executable: { type: 'string', default: join(root, 'dist', 'gatepost') },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
  },
});
const { executable, only, quick } = options;
const rounds = quick ? 3 : 15;

const folder = mkdtempSync(join(tmpdir(), 'gatepost-worst-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

interface Row {
  endpoint: string;
  what: string;
  answer: string;
  cpuMs: number;
  /** The median over the rounds of the longest wait in each, and the longest of all. */
  waitMs: number;
  longestMs: number;
  grownMib: number;
}

const before = processorTimes();
const dataDir = join(folder, 'data');
const shape = { name: 'worst', providerCount: 1, linkCount: LINKS, deviceCount: LINKS, run: 1 };
progress(`${LINKS} links and as many devices`);
await fillThroughApi(executable, dataDir, shape);
const server = await startServer(
  onServerCore([executable, 'serve', '--data', dataDir, '--port', '0']),
  {
    GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000000',
    GATEPOST_SENDS_PER_MINUTE_MAX: '1000000000',
    GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
  },
);
const who = `provider_code=${providerCode(1)}&auth_key=${authKey(1)}`;
const place = { who, hash: domainHash(1), ...(await settle(server)) };
const prober = startProber(server);
const rows: Row[] = [await measured({ endpoint: '(none)', what: 'nothing', send: quiet }, 1)];

for (const { endpoint, what, path, init } of worstRequests(place)) {
  if (!`${endpoint} ${what}`.includes(only)) continue;
  const send = async () => {
    const response = await fetch(server.url + path, init);
    const text = await response.text();
    return /^\{"rc":\d+,"msg":"([^"]*)"/.exec(text)?.[1] ?? `status ${response.status}`;
  };
  rows.push(await measured({ endpoint, what, send }, REQUESTS_PER_ROUND));
}
for (const flood of floods({ ...place, server, executable, dataDir, folder })) {
  if (`${flood.endpoint} ${flood.what}`.includes(only)) rows.push(await measured(flood, 1));
}
await server.stop();

const date = new Date().toISOString().slice(0, 10);
const text = markdown();
console.log(text);
if (!quick && only === '' && executable.startsWith(root)) {
  const results = join(root, 'bench', 'results');
  mkdirSync(results, { recursive: true });
  await Bun.write(join(results, `${date}-worst.md`), text);
  progress(`written to bench/results/${date}-worst.md`);
}
process.exit(rows.some(({ waitMs }) => waitMs > WAIT_MAX_MS) ? 1 : 0);

function progress(what: string): void {
  console.error(`bench: ${what}`);
}

/** A link with as many devices as it may have, and a device that is registered for messages. */
async function settle(of: Server): Promise<{ code: string; token: string }> {
  const ask = async (path: string, init: RequestInit = {}) =>
    (await fetch(of.url + path, init)).json() as Promise<Record<string, string>>;
  const added = await ask(`/api/add-install?${who}&install_limit=100`);
  const code = added['install_code'] ?? '';
  for (let n = 1; n <= 100; n++) {
    const headers = { 'x-hwid': `phone-${n}`, 'x-device-os': 'Android' };
    await ask(`/install?id=${domainHash(1)}&installid=${code}`, { headers });
  }
  const registration = { hwid: 'phone-1', install_code: code, domain_hash: domainHash(1) };
  const body = JSON.stringify({ ...registration, os: 'android' });
  const registered = await ask('/device/register', { method: 'POST', body });
  // The page of users is on, so that guesses are not cut short.
  const command = [executable, 'provider', 'set', providerCode(1), '--page', 'on'];
  const env = { PATH: process.env['PATH'] ?? '', GATEPOST_CONFIG: 'none' };
  await Bun.spawn([...command, '--data', dataDir], { env, stdout: 'ignore' }).exited;
  const token = registered['device_token'];
  if (token === undefined) throw new Error(`not registered: ${JSON.stringify(registered)}`);
  return { code, token };
}

/** Says how long another caller waited at most since it was asked before, ms. */
function startProber({ url }: Server): () => Promise<number> {
  const { hostname, port } = new URL(url);
  const words = [hostname, port, `/api/list-install?${who}&id=1`];
  const script = join(import.meta.dir, 'worst-prober.ts');
  const child = Bun.spawn(onCore(LOAD_CORE, [process.execPath, script, ...words]), {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  process.once('exit', () => child.kill());
  const reader = child.stdout.getReader();
  return async () => {
    child.stdin.write('\n');
    child.stdin.flush();
    const { value } = await reader.read();
    return Number(new TextDecoder().decode(value));
  };
}

/** As long as a costly request: what the machine itself makes the other caller wait. */
async function quiet(): Promise<string> {
  await Bun.sleep(50);
  return '';
}

async function measured({ endpoint, what, send }: WorstFlood, times: number): Promise<Row> {
  // Once to warm up: what is compiled and cached is paid for once.
  let answer = await send();
  const waits: number[] = [];
  const rssBefore = server.memory().rssKib;
  let cpuSeconds = 0;
  for (let round = 0; round < rounds; round++) {
    await Bun.sleep(5);
    await prober();
    const startSeconds = server.cpuSeconds();
    for (let time = 0; time < times; time++) answer = await send();
    cpuSeconds += server.cpuSeconds() - startSeconds;
    waits.push(await prober());
  }
  return {
    endpoint,
    what,
    answer,
    cpuMs: (cpuSeconds * 1000) / rounds / times,
    waitMs: median(waits),
    longestMs: Math.max(...waits),
    grownMib: (server.memory().rssKib - rssBefore) / 1024,
  };
}

function markdown(): string {
  const facts = Object.entries(environment(executable, folder, before));
  const head = ['endpoint', 'what is sent', 'answer', 'CPU ms', 'wait ms', 'longest ms', 'MiB', ''];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const lines = rows.map((row) =>
    line([
      ...[row.endpoint, row.what, row.answer.replaceAll('|', ' ')],
      ...[row.cpuMs.toFixed(1), row.waitMs.toFixed(1), row.longestMs.toFixed(1)],
      ...[row.grownMib.toFixed(1), row.waitMs <= WAIT_MAX_MS ? 'met' : '**missed**'],
    ]),
  );
  return `# Worst requests of ${date}

${facts.map(([name, value]) => `- ${name}: ${value}`).join('\n')}

The worst single request of each endpoint, stream and file that is known. Meanwhile another caller
asks for a list of one id again and again over one connection: "wait ms" is the longest that one of
its calls took, the median of ${rounds} rounds; "longest ms" is the longest of all rounds, with
whatever else the machine did; the row "nothing" is what the machine alone does to it. "CPU ms" is
processor time of the server for one time, with that of the other caller's calls; "MiB" is how much
its resident memory grew over all rounds. Commands run on the core of the other caller, with the
lowest priority. Wanted: no wait over ${WAIT_MAX_MS} ms on a quiet machine.

${line(head)}
${line(head.map(() => '---'))}
${lines.join('\n')}
`;
}
