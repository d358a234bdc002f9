/**
 * The driver of all cases: `bun bench/run.ts CASE [--executable FILE] [OPTION …]`. Without a case,
 * or with one that is not there, it lists them with their options. Ends with 1 if a bound of the
 * case is missed.
 */

import { Bench, type Case } from './driver.ts';

const CASES: Readonly<Record<string, () => Promise<Case>>> = {
  bare: async () => (await import('./against-bare.ts')).againstBare,
  worst: async () => (await import('./worst.ts')).worst,
  compare: async () => (await import('./compare.ts')).compare,
  gate: async () => (await import('./compare.ts')).gate,
  stores: async () => (await import('./compare.ts')).stores,
  rides: async () => (await import('./rides.ts')).rides,
  upstream: async () => (await import('./upstream.ts')).upstream,
  fairness: async () => (await import('./fairness.ts')).fairness,
  front: async () => (await import('./front.ts')).front,
  doors: async () => (await import('./doors.ts')).doors,
  calls: async () => (await import('./calls.ts')).calls,
  console: async () => (await import('./console.ts')).consolePage,
  messaging: async () => (await import('./messaging.ts')).messaging,
  'ride-sends': async () => (await import('./messaging.ts')).rideSends,
  targeted: async () => (await import('./targeted.ts')).targeted,
  streams: async () => (await import('./streams.ts')).streams,
  nodes: async () => (await import('./streams.ts')).nodes,
  sleeping: async () => (await import('./sleeping.ts')).sleeping,
  outgoing: async () => (await import('./outgoing.ts')).outgoing,
  blackhole: async () => (await import('./blackhole.ts')).blackhole,
  sets: async () => (await import('./sets.ts')).sets,
  beside: async () => (await import('./beside.ts')).beside,
  backup: async () => (await import('./backup.ts')).backup,
  move: async () => (await import('./move.ts')).move,
  follow: async () => (await import('./follow.ts')).follow,
  soak: async () => (await import('./soak.ts')).soak,
  'row-bytes': async () => (await import('./row-bytes.ts')).rowBytes,
  peers: async () => (await import('./peers/run.ts')).peers,
};

const [name = '', ...words] = process.argv.slice(2);
const found = await CASES[name]?.();
if (found === undefined) {
  for (const [each, load] of Object.entries(CASES)) {
    const { about, options = {} } = await load();
    const shown = Object.entries(options).map(([option, value]) =>
      value === false ? `[--${option}]` : `[--${option} ${value === '' ? '…' : value}]`,
    );
    console.log(`${[each, ...shown].join(' ')}\n    ${about}`);
  }
  process.exit(name === '' ? 0 : 2);
}
const missing = (found.needs ?? []).filter((program) => Bun.which(program) === null);
if (missing.length > 0) {
  console.error(`bench: ${missing.join(', ')}: not on this machine ('make bench-tools' has wrk)`);
  process.exit(1);
}
process.exit((await found.run(new Bench(found, words))) === false ? 1 : 0);
