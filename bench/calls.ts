/** How long one call of the console holds the server for others. */

import { type Bench, type Case, median, startCaller, who } from './driver.ts';
import { seed } from './seed.ts';
import { authKey, providerCode } from './shape.ts';

const HOLD_MAX_MS = 20;
const ALL = { search: null, status: null, isFull: false };
const NOTED = { ...ALL, search: 'customer 9' };
const list = (filter: object) => ({ filter, isOldest: false, beyondId: null, countMax: 1_000 });
const bulk = (filter: object) => ({ filter, change: { limit: 2 } });

/** Calls that look at many links of a provider. */
const CALLS: readonly (readonly [what: string, name: string, given: object])[] = [
  ['a change of all links, looked at', 'links.bulk-preview', bulk(ALL)],
  ['a change of links by their note', 'links.bulk-preview', bulk(NOTED)],
  ['a change of full links', 'links.bulk-preview', bulk({ ...ALL, isFull: true })],
  ['a removal of all links, looked at', 'links.bulk-preview', { filter: ALL, change: null }],
  ['the first page of links', 'links.list', list(ALL)],
  ['links by their note', 'links.list', list(NOTED)],
  ['links that are full', 'links.list', list({ ...ALL, isFull: true })],
  ['a part of the file of links', 'links.csv', { filter: ALL, beyondId: null }],
  ['the overview', 'overview.read', {}],
];

/** Returns how the console calls: signed in with the key of the first provider. */
export async function signedIn(site: string) {
  const code = providerCode(1);
  let cookie = '';
  const call = async (name: string, given: object): Promise<string> => {
    const headers = { origin: site, cookie, 'content-type': 'application/json' };
    const body = JSON.stringify(cookie === '' ? given : { at: code, ...given });
    const init = { method: 'POST', headers, body };
    const response = await fetch(`${site}/console/call/${name}`, init);
    cookie ||= response.headers.get('set-cookie')?.split(';')[0] ?? '';
    return (await response.text()).slice(0, 60);
  };
  await call('session.key', { code, key: authKey(1) });
  return call;
}

/** The median, over the rounds, of the longest wait of another caller while `act` runs, ms. */
export async function heldMs(
  caller: ReturnType<typeof startCaller>,
  rounds: number,
  act: () => Promise<unknown>,
): Promise<number[]> {
  const waits: number[] = [];
  // The first call compiles and fills caches.
  await act();
  for (let round = 0; round < rounds; round++) {
    await Bun.sleep(5);
    await caller.times();
    await act();
    waits.push((await caller.times()).longestMs);
  }
  return waits;
}

export const calls: Case = {
  about:
    'how long one call of the console over many links holds the server: the longest wait of another caller; ends with 1 at 20 ms more than while it is idle',
  options: { links: '100000', only: '', rounds: '7' },
  run: async (bench: Bench) => {
    const linkCount = bench.number('links');
    const dataDir = bench.place('data');
    await seed(bench, dataDir, { providerCount: 1, linkCount, deviceCount: linkCount / 2 });
    const server = await bench.serve(dataDir);
    const call = await signedIn(server.url.replace('127.0.0.1', 'localhost'));
    const caller = startCaller(`${server.url}/api/list-domain?${who()}`, { pauseMs: 0.5 });
    const rounds = bench.number('rounds');
    const idleMs = median(await heldMs(caller, rounds, () => Bun.sleep(100)));
    console.log(`${'nothing'.padEnd(36)} ${idleMs.toFixed(1)} ms`);
    const over: string[] = [];
    for (const [what, name, given] of CALLS.filter(([title]) => bench.takes(title))) {
      let answer = '';
      const act = async () => {
        answer = await call(name, given);
      };
      const waitMs = median(await heldMs(caller, rounds, act));
      if (waitMs - idleMs > HOLD_MAX_MS) over.push(what);
      const ratio = (waitMs / idleMs).toFixed(1);
      console.log(`${what.padEnd(36)} ${waitMs.toFixed(1)} ms  x${ratio.padEnd(6)} ${answer}`);
    }
    await server.stop();
    console.log(over.length === 0 ? 'no call holds the server' : `over 20 ms: ${over.join('; ')}`);
    return over.length === 0;
  },
};
