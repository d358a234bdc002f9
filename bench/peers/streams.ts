/**
 * Many open streams on one process: memory of each, and the time in which one message reaches all
 * of them. Gatepost, nchan and Mosquitto one after the other.
 */

import { type Bench, forAll, median } from '../driver.ts';
import { STREAM_CONTESTANTS, type StreamContestant, type StreamServer } from './stream-servers.ts';

/** Handshakes under way at a time. */
const STARTING_MAX = 50;
const DEADLINE_MS = 60_000;
/** Acknowledgements come after the last message, and they cost the server too. */
const SETTLE_MS = 1_500;
const ROUNDS = 3;

export const STREAM_HEAD = [
  'server',
  'opened/s',
  'memory each',
  'idle',
  'middle ms',
  'last ms',
  'CPU us per message',
  'what it promises',
];

/** Rows of the table of streams; what failed or is missing goes to `missing`. */
export async function streamsOf(
  bench: Bench,
  streamCount: number,
  idleMs: number,
  missing: string[],
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const contestant of STREAM_CONTESTANTS) {
    const lack = contestant.missing();
    if (lack !== null) {
      missing.push(`${contestant.name}: ${lack}`);
      continue;
    }
    try {
      rows.push(await measure(bench, contestant, streamCount, idleMs));
    } catch (error) {
      // The others' figures are still valid.
      missing.push(`${contestant.name}: failed: ${error}`);
    }
  }
  return rows;
}

async function measure(
  bench: Bench,
  contestant: StreamContestant,
  streamCount: number,
  idleMs: number,
): Promise<string[]> {
  const folder = bench.place(contestant.name.replace(/\W.*/, ''));
  const running = await contestant.start(bench, folder, streamCount);
  const { server } = running;
  try {
    const arrivals: number[] = [];
    let lostCount = 0;
    const lost = () => {
      lostCount += 1;
    };
    const beforeKib = server.memory().ownKib;
    const openMs = performance.now();
    const got = () => arrivals.push(performance.now());
    await forAll(0, streamCount, STARTING_MAX, (n) => running.open(n, got, lost));
    const openedPerSecond = (streamCount * 1000) / (performance.now() - openMs);
    const idleCpu = server.cpuSeconds();
    await Bun.sleep(idleMs);
    const idleBusy = ((server.cpuSeconds() - idleCpu) * 100_000) / idleMs;
    const kibEach = (server.memory().ownKib - beforeKib) / streamCount;
    const sent: number[][] = [];
    for (let n = 0; n < ROUNDS; n += 1) sent.push(await send(running, arrivals, streamCount));
    if (lostCount > 0) throw new Error(`${contestant.name}: ${lostCount} streams were cut off`);
    const [middle = 0, last = 0, cpuUs = 0] = [0, 1, 2].map((at) =>
      median(sent.map((round) => round[at] ?? 0)),
    );
    return [
      contestant.name,
      openedPerSecond.toFixed(0),
      `${kibEach.toFixed(1)} KiB`,
      `${idleBusy.toFixed(1)} %`,
      middle.toFixed(0),
      last.toFixed(0),
      cpuUs.toFixed(1),
      contestant.promise,
    ];
  } finally {
    await server.stop();
  }
}

/** Returns when the middle and the last stream had it, ms, and processor time of each, us. */
async function send(
  { server, publish }: StreamServer,
  arrivals: number[],
  streamCount: number,
): Promise<number[]> {
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
  return [median(times), Math.max(...times), cpuUs];
}
