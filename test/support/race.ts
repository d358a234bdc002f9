/** Processes that race for the same rows, each with a store of its own, all let go at once. */

import { CLOCK } from '../store/contract/fixture.ts';
import { makeCalls, type RaceShare } from '../store/contract/race.ts';
import { RACES } from '../store/contract/races.ts';
import { openPlace, type Place } from './place.ts';
import { plainEnv } from './process.ts';

/** The answers to each of the processes, call by call. */
export async function runRace(place: Place, shares: readonly RaceShare[]): Promise<unknown[][]> {
  const racers = shares.map((share) => {
    const child = Bun.spawn(
      [process.execPath, import.meta.path, JSON.stringify({ place, share })],
      {
        env: plainEnv(),
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'inherit',
      },
    );
    return { child, lines: linesOf(child.stdout) };
  });
  for (const { lines } of racers) await lines.next();
  for (const { child } of racers) {
    child.stdin.write('go\n');
    child.stdin.end();
  }
  return Promise.all(
    racers.map(async ({ child, lines }) => {
      const { value } = await lines.next();
      if ((await child.exited) !== 0) throw new Error('a racer failed');
      return JSON.parse(value ?? '') as unknown[];
    }),
  );
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
  return undefined;
}

/** A racer: says that it is ready, waits for the word, makes its calls. */
async function race(place: Place, share: RaceShare): Promise<void> {
  const { calls, given } = share;
  const of = RACES[share.race];
  if (of === undefined) throw new Error(`there is no race ${share.race}`);
  const store = await openPlace(place, { clock: CLOCK });
  console.log('ready');
  await linesOf(Bun.stdin.stream()).next();
  const answers = await makeCalls(of, store, given, calls);
  console.log(JSON.stringify(answers));
  await store.close();
}

if (import.meta.main) {
  const { place, share } = JSON.parse(process.argv[2] ?? '');
  await race(place, share);
}
