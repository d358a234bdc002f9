/**
 * Another caller, in a process of its own: asks one thing again and again, at a fixed rate (each
 * time counts from when the call was due, so that a server that stands still does not hide it) or
 * with a pause between two. For each line on stdin it prints its times since the line before.
 *
 *   bun bench/caller.ts URL '{"perSecond":200}' | '{"pauseMs":2}'
 */

import { share, type Times } from './driver.ts';

const [url = '', pace = '{}'] = process.argv.slice(2);
const { perSecond = 0, pauseMs = 0 } = JSON.parse(pace) as Record<string, number>;
let taken: number[] = [];
let failed = 0;
/** Calls under way, by when they were due: a wait that goes on counts too. */
const due = new Set<{ atMs: number }>();

async function call(atMs: number): Promise<void> {
  const own = { atMs };
  due.add(own);
  const answer = await fetch(url)
    .then((response) => response.text())
    .catch(() => '');
  if (!answer.startsWith('{"rc":1')) failed += 1;
  taken.push(performance.now() - atMs);
  due.delete(own);
}

async function goOn(): Promise<never> {
  const startMs = performance.now();
  for (let n = 0; ; n++) {
    if (perSecond === 0) {
      await call(performance.now());
      await Bun.sleep(pauseMs);
      continue;
    }
    const dueMs = startMs + (n * 1000) / perSecond;
    if (dueMs > performance.now()) await Bun.sleep(dueMs - performance.now());
    // A timer may ring a little early.
    void call(Math.min(dueMs, performance.now()));
  }
}

void goOn();
for await (const _line of console) {
  const nowMs = performance.now();
  const all = [...taken, ...[...due].map(({ atMs }) => nowMs - atMs)];
  const times: Times = {
    count: taken.length,
    p50Ms: share(all, 0.5),
    p99Ms: share(all, 0.99),
    longestMs: Math.max(0, ...all),
    failed,
  };
  console.log(JSON.stringify(times));
  taken = [];
  failed = 0;
}
process.exit(0);
