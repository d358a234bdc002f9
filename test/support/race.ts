/** Processes that race for the same rows, each with a store of its own, all started at once. */

import { CLOCK } from '../store/contract/fixture.ts';
import { makeCalls, type RaceShare } from '../store/contract/race.ts';
import { RACES } from '../store/contract/races.ts';
import { openPlace, type Place } from './place.ts';
import { plainEnv } from './process.ts';

interface Racer {
  lines: AsyncGenerator<string, undefined>;
  say(line: string): void;
}

/** The processes of this test file's races. They end with this process, as their stdin does. */
const racers: Racer[] = [];

function startRacer(): Racer {
  const child = Bun.spawn([process.execPath, import.meta.path], {
    env: plainEnv(),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  child.unref();
  return {
    lines: linesOf(child.stdout),
    say: (line) => {
      child.stdin.write(`${line}\n`);
      child.stdin.flush();
    },
  };
}

async function lineOf({ lines }: Racer): Promise<string> {
  const { value } = await lines.next();
  if (value === undefined) throw new Error('a racer ended before its time');
  return value;
}

/** Lets a process make each share, all at the same time; returns their answers, call by call. */
export async function runRace(place: Place, shares: readonly RaceShare[]): Promise<unknown[][]> {
  while (racers.length < shares.length) racers.push(startRacer());
  const taking = racers.slice(0, shares.length);
  for (const [n, racer] of taking.entries()) racer.say(JSON.stringify({ place, share: shares[n] }));
  // Each has opened its store.
  for (const racer of taking) await lineOf(racer);
  for (const racer of taking) racer.say('go');
  return Promise.all(taking.map(async (racer) => JSON.parse(await lineOf(racer))));
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

/** Is a racer: opens a store for each race, says `ready`, waits for `go`, makes its calls. */
async function race(): Promise<void> {
  const lines = linesOf(Bun.stdin.stream());
  for await (const line of lines) {
    const { place, share } = JSON.parse(line) as { place: Place; share: RaceShare };
    const of = RACES[share.race];
    if (of === undefined) throw new Error(`there is no race ${share.race}`);
    const store = await openPlace(place, { clock: CLOCK });
    console.log('ready');
    await lines.next();
    const answers = await makeCalls(of, store, share.given, share.calls);
    await store.close();
    console.log(JSON.stringify(answers));
  }
}

if (import.meta.main) await race();
