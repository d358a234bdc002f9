/**
 * Ten thousand open streams on one process: memory of each, and the time in which one message
 * reaches all of them. Gatepost, nchan and Mosquitto one after the other.
 *
 *   bun bench/peers/streams.ts [--streams 10000] [--rounds 3] [--idle 5000] [--executable FILE]
 *
 * Prints `StreamFigures` as JSON. Both ends need a file descriptor for each stream.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { median } from '../load.ts';
import { stopAll } from '../process.ts';
import { STREAM_CONTESTANTS, type StreamContestant, type StreamServer } from './stream-servers.ts';

export interface StreamFigures {
  name: string;
  promise: string;
  /** Streams opened per second, with the registration where there is one. */
  openedPerSecond: number;
  kibEach: number;
  /** Share of its core while nothing happens. */
  idleBusy: number;
  /** Time from the call until the middle and the last device have it, ms, medians of the rounds. */
  medianMs: number;
  lastMs: number;
  /** Processor time of the server for each message delivered, acknowledgements included, us. */
  cpuUs: number;
}

export interface StreamResult {
  figures: StreamFigures[];
  missing: string[];
}

const { values: options } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    idle: { type: 'string', default: '5000' },
    executable: { type: 'string' },
  },
});
const streamCount = Number(options.streams);
const rounds = Number(options.rounds);
const idleMs = Number(options.idle);
/** Handshakes under way at a time. */
const STARTING_MAX = 50;
/** Acknowledgements come after the last message, and they cost the server too. */
const SETTLE_MS = 1_500;
const DEADLINE_MS = 60_000;

const gatepost = options.executable ?? join(import.meta.dir, '..', '..', 'dist', 'gatepost');
const folder = mkdtempSync(join(tmpdir(), 'gatepost-streams-'));
process.once('exit', () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const result: StreamResult = { figures: [], missing: [] };
for (const contestant of STREAM_CONTESTANTS(gatepost)) {
  const lack = contestant.missing();
  if (lack !== null) {
    result.missing.push(`${contestant.name}: ${lack}`);
    continue;
  }
  try {
    result.figures.push(await measure(contestant));
  } catch (error) {
    // The others' figures are still valid.
    result.missing.push(`${contestant.name}: failed: ${error}`);
  }
}
console.log(JSON.stringify(result));
process.exit(0);

async function measure(contestant: StreamContestant): Promise<StreamFigures> {
  const own = join(folder, contestant.name.replace(/\W.*/, ''));
  mkdirSync(own);
  const running = await contestant.start(own, streamCount);
  const { server } = running;
  try {
    const arrivals: number[] = [];
    let lostCount = 0;
    const lost = () => {
      lostCount += 1;
    };
    const beforeKib = server.memory().ownKib;
    const openMs = performance.now();
    await openAll(running, () => arrivals.push(performance.now()), lost);
    const openedPerSecond = (streamCount * 1000) / (performance.now() - openMs);
    const idleCpu = server.cpuSeconds();
    await Bun.sleep(idleMs);
    const idleBusy = ((server.cpuSeconds() - idleCpu) * 1000) / idleMs;
    const kibEach = (server.memory().ownKib - beforeKib) / streamCount;
    const sent: Sent[] = [];
    for (let n = 0; n < rounds; n += 1) sent.push(await send(running, arrivals));
    if (lostCount > 0) throw new Error(`${contestant.name}: ${lostCount} streams were cut off`);
    const of = (name: keyof Sent) => median(sent.map((round) => round[name]));
    const { name, promise } = contestant;
    const reached = { medianMs: of('medianMs'), lastMs: of('lastMs'), cpuUs: of('cpuUs') };
    return { name, promise, openedPerSecond, kibEach, idleBusy, ...reached };
  } finally {
    await server.stop();
  }
}

async function openAll(running: StreamServer, got: () => void, lost: () => void): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < streamCount; n = next++) await running.open(n, got, lost);
  };
  await Promise.all(Array.from({ length: STARTING_MAX }, lane));
}

type Sent = Pick<StreamFigures, 'medianMs' | 'lastMs' | 'cpuUs'>;

async function send({ server, publish }: StreamServer, arrivals: number[]): Promise<Sent> {
  arrivals.length = 0;
  const cpuBefore = server.cpuSeconds();
  const calledMs = performance.now();
  await publish();
  while (arrivals.length < streamCount) {
    if (performance.now() - calledMs > DEADLINE_MS) {
      throw new Error(`${arrivals.length} of ${streamCount} streams were reached`);
    }
    await Bun.sleep(2);
  }
  const times = arrivals.map((atMs) => atMs - calledMs);
  await Bun.sleep(SETTLE_MS);
  const cpuUs = ((server.cpuSeconds() - cpuBefore) * 1e6) / streamCount;
  return { medianMs: median(times), lastMs: Math.max(...times), cpuUs };
}
