/**
 * A steady stream of calls from a process of its own, at a fixed rate: each answer's time counts
 * from when the call was due, so that a server that stands still does not hide it.
 *
 *   bun bench/messaging-load.ts URL PER_SECOND  until a line arrives on stdin; prints JSON
 */

const [url = '', perSecond = '200'] = process.argv.slice(2);
const intervalMs = 1000 / Number(perSecond);
const samples: { atMs: number; tookMs: number }[] = [];
let failed = 0;
let isOver = false;
const underway = new Set<Promise<void>>();

async function callOnce(dueMs: number): Promise<void> {
  try {
    const answer = (await (await fetch(url)).json()) as { rc: number };
    if (answer.rc !== 1) failed += 1;
  } catch {
    failed += 1;
  }
  samples.push({ atMs: performance.timeOrigin + dueMs, tookMs: performance.now() - dueMs });
}

async function stream(): Promise<void> {
  const startMs = performance.now();
  for (let n = 0; !isOver; n++) {
    const dueMs = startMs + n * intervalMs;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    // A timer may ring a little early.
    const call = callOnce(Math.min(dueMs, performance.now())).finally(() => underway.delete(call));
    underway.add(call);
  }
  await Promise.all(underway);
}

const streaming = stream();
for await (const _ of console) break;
isOver = true;
await streaming;
console.log(JSON.stringify({ samples, failed }));
