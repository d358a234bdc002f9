/**
 * One caller of the API beside the console, in a process of its own. Arguments: URL. Asks again and
 * again with a pause of 2 ms; for each line on stdin it prints how long its answers took since the
 * last one, as JSON: `{ count, medianMs, p99Ms, maxMs }`.
 */

const [url = ''] = process.argv.slice(2);
const PAUSE_MS = 2;

let taken: number[] = [];
let isOver = false;

async function ask(): Promise<void> {
  while (!isOver) {
    const startMs = performance.now();
    await (await fetch(url)).text();
    taken.push(performance.now() - startMs);
    await Bun.sleep(PAUSE_MS);
  }
}

const asking = ask();
for await (const _line of console) {
  const sorted = taken.toSorted((a, b) => a - b);
  taken = [];
  const at = (part: number) => Number((sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2));
  const maxMs = Number((sorted.at(-1) ?? 0).toFixed(2));
  console.log(JSON.stringify({ count: sorted.length, medianMs: at(0.5), p99Ms: at(0.99), maxMs }));
}
isOver = true;
await asking;
