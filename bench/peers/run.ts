/**
 * Gatepost beside its peers, each built as its documentation advises, in one run on one core:
 * throughput, the same on a disk that syncs slowly, tails of a mixed load, and open streams.
 */

import { chmodSync } from 'node:fs';
import { type Bench, type Case, count, median, table } from '../driver.ts';
import { environment, processorTimes, writeResult } from '../environment.ts';
import { inTurns, medians, ratios } from '../load.ts';
import { leaveServerCore } from '../process.ts';
import {
  BARE,
  type Contestant,
  GATEPOST,
  PEERS,
  type Setting,
  type Started,
} from './contestants.ts';
import { slowDisk } from './slow-disk.ts';
import { STREAM_HEAD, streamsOf } from './streams.ts';
import { tailsOf } from './tails.ts';

const SHAPE = { providerCount: 2, linkCount: 10_000, deviceCount: 10_000 };
/** `wanted`: the multiple of each peer that Gatepost is to reach. */
const CASES = [
  { title: 'list-install of one id', kind: 'list-one', connections: 128, wanted: 2 },
  { title: '/install, known HWID', kind: 'known-hwid', connections: 128, wanted: 2 },
  { title: 'wrong credentials', kind: 'wrong-key', connections: 128, wanted: 2 },
  { title: 'add-install', kind: 'add-install', connections: 1 },
  { title: 'add-install', kind: 'add-install', connections: 128, wanted: 4 },
];
/** The default of pg. More of them cost a core that they share more, and it does no more for it. */
const POOL = 10;
/** Connections that wait for a slow disk together share its syncs. */
const SLOW_POOL = 64;
const SYNC_MS = 5;

const ABOUT = `The contestants take turns. Each has one core for all of its processes, the load has
the other. Gatepost does more for an added link than the peers: it counts against the cap of the
provider and writes an entry of the chained audit log in the same commit. They only insert the row.
If the load average before the bench is far above zero, others had the cores meanwhile: then "CPU ×"
alone tells something, and the tails tell nothing.

"Gatepost ×" is Gatepost's requests/s divided by those of the line, round by round; "CPU ×" is the
line's processor time per request divided by Gatepost's. "memory" is that of all its processes after
the case, without pages of files. On the slow disk a preloaded library lets each fsync and fdatasync
sleep for ${SYNC_MS} ms first.

Tails: half known HWIDs, three lists of one id in ten, one wrong key and one added link in ten, each
sent when it is due, at half of what the contestant reaches with 64 connections. A request's time
counts from when it was due. "stall" is the longest time without any answer while one was awaited.
The bare server gets Gatepost's rate: its tail is that of generator and machine, and where it is
long, no other line says anything. Streams: one message to all; the time is from the call until the
middle and the last stream have it.`;

interface Turns {
  rounds: number;
  seconds: number;
}

async function startAll(all: readonly Contestant[], setting: Setting): Promise<Started[]> {
  const started: Started[] = [];
  for (const contestant of all) {
    started.push({ contestant, server: await contestant.start(setting) });
  }
  return started;
}

async function stopAll(started: readonly Started[]): Promise<void> {
  for (const { server } of started) await server.stop();
}

/** Rows of the table of throughput; the first contestant is Gatepost. */
async function throughput(
  started: readonly Started[],
  cases: typeof CASES,
  turns: Turns,
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const { title, kind, connections, wanted } of cases) {
    const sides = started.map(({ contestant, server }) => {
      return { name: contestant.name, servers: [server], isBare: contestant.isBare === true };
    });
    const runs = await inTurns(sides, { kind, connections, shape: SHAPE, ...turns });
    for (const [at, { contestant, server }] of started.entries()) {
      const own = runs[at] ?? [];
      const { requestsPerSecond, p50Us, p99Us, cpuUs, busy } = medians(own);
      const times = 1 / median(ratios(own, runs[0]));
      const isPeer = PEERS.includes(contestant) && wanted !== undefined;
      const missed = `**missed** by ${Math.round((1 - times / (wanted ?? 1)) * 100)} %`;
      rows.push([
        title,
        String(connections),
        contestant.name,
        count(requestsPerSecond),
        (p50Us / 1000).toFixed(2),
        (p99Us / 1000).toFixed(2),
        cpuUs.toFixed(1),
        `${Math.round(busy * 100)} %`,
        `${Math.round(server.memory().ownKib / 1024)} MiB`,
        times.toFixed(2),
        median(ratios(own, runs[0], 'cpuUs')).toFixed(2),
        isPeer ? `≥ ${wanted}` : '',
        isPeer ? (times >= wanted ? 'met' : missed) : '',
      ]);
    }
  }
  return rows;
}

export const peers: Case = {
  about:
    'beside Fastify, Hono, Express, nchan and Mosquitto (--only throughput, slow-disk, tails or streams); leaves out and names what is not on this machine; writes bench/results/DATE-peers.md',
  options: { quick: false, only: '', streams: '10000' },
  needs: ['wrk'],
  run: async (bench: Bench) => {
    // Another user than ours may run PostgreSQL, and must read the library of the slow disk.
    chmodSync(bench.folder, 0o711);
    const before = processorTimes();
    const isQuick = bench.is('quick');
    const turns = isQuick ? { rounds: 2, seconds: 1 } : { rounds: 4, seconds: 2 };
    const paced = isQuick ? { rounds: 1, seconds: 2 } : { rounds: 2, seconds: 8 };
    const missing: string[] = [];
    const contestants = [GATEPOST, ...PEERS].filter((contestant) => {
      const lack = contestant.missing();
      if (lack !== null) missing.push(`${contestant.name}: ${lack}`);
      return lack === null;
    });
    const fast: Setting = { bench, shape: SHAPE, env: {}, pool: POOL };
    const parts = [environment(bench, before), ABOUT];
    const add = (title: string, head: readonly string[], rows: readonly string[][]) => {
      if (rows.length > 0) parts.push(`## ${title}`, table(head, rows));
    };
    const costs = ['case', 'conn.', 'contestant', 'requests/s', 'p50 ms', 'p99 ms', 'CPU us'];
    const head = [...costs, 'busy', 'memory', 'Gatepost ×', 'CPU ×', 'wanted', ''];
    const tails = ['contestant', 'peak/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'longest ms'];
    const tailHead = [...tails, 'stall ms', 'who writes the log back'];
    if (Bun.which('cc') === null) missing.push('the slow disk: cc (apt-get install gcc libc6-dev)');
    for (const disk of Bun.which('cc') === null ? ['fast'] : ['fast', 'slow']) {
      const isSlow = disk === 'slow';
      const env = isSlow ? slowDisk(bench.folder, SYNC_MS) : {};
      const setting = isSlow ? { ...fast, env, pool: SLOW_POOL } : fast;
      const all = isSlow ? contestants : [...contestants, BARE];
      const where = isSlow ? ' on the slow disk' : '';
      if (bench.takes(isSlow ? 'slow-disk' : 'throughput')) {
        bench.progress(`throughput${where}`);
        const started = await startAll(all, setting);
        const cases = isSlow ? CASES.slice(-1) : CASES;
        add(`Throughput${where}`, head, await throughput(started, cases, turns));
        await stopAll(started);
      }
      if (bench.takes('tails')) {
        bench.progress(`tails${where}`);
        const started = await startAll(all, setting);
        add(`Tails at half of the peak${where}`, tailHead, await tailsOf(started, SHAPE, paced));
        await stopAll(started);
      }
    }
    if (bench.takes('streams')) {
      const streamCount = isQuick ? 2_000 : bench.number('streams');
      bench.progress(`${streamCount} streams`);
      // The devices stay on the core of the load.
      leaveServerCore();
      const rows = await streamsOf(bench, streamCount, isQuick ? 2_000 : 5_000, missing);
      add(`${count(streamCount)} open streams`, STREAM_HEAD, rows);
    }
    if (missing.length > 0) parts.push('## Left out', missing.map((one) => `- ${one}`).join('\n'));
    await writeResult(bench, '-peers', 'Gatepost beside its peers', parts.join('\n\n'));
    return undefined;
  },
};
