/**
 * `make fuzz`: wrong and odd requests, frames, files and commands against the executable, for
 * `FUZZ_SECONDS` (60). `FUZZ_SEED` repeats the cases of a run, `FUZZ_RATE` (400) bounds requests
 * and frames a second. Ends with 1 if anything was found.
 */

import { fuzz } from './fuzz.ts';

const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const seconds = number('FUZZ_SECONDS', 60);
const seed = number('FUZZ_SEED', crypto.getRandomValues(new Uint32Array(1))[0] ?? 0);
const rate = number('FUZZ_RATE', 400);

console.log(`fuzz: FUZZ_SEED=${seed} for ${seconds} s`);
const startMs = performance.now();
const result = await fuzz({
  seconds,
  seed,
  rate,
  onProgress: (line) =>
    console.log(`fuzz: ${Math.round((performance.now() - startMs) / 60_000)} min: ${line}`),
  onFault: ({ surface, number: at, says, input }) =>
    console.log(`\n${surface} ${at}: ${says}\n  ${input}`),
});
console.log(
  `\nanswers: ${[...result.answers].map(([text, count]) => `\n  ${count} ${text}`).join('')}`,
);
const done = [...result.counts].map(([surface, count]) => `${count} ${surface}`).join(', ');
const longest = `${result.longestMs.toFixed(0)} ms the longest wait of another caller`;
console.log(`fuzz: FUZZ_SEED=${seed}: ${done}; ${longest}; ${result.faults.length} faults`);
process.exit(result.faults.length === 0 ? 0 : 1);
