/** The server that is fuzzed: started again and again, watched all the time. */

import { readFileSync } from 'node:fs';
import { call } from '../support/app.ts';
import { lookedAt, type ServerProcess, startServe } from '../support/process.ts';
import { type Campaign, within } from './campaign.ts';
import { invariantProblems } from './invariants.ts';
import type { Scene } from './scene.ts';

/** Memory of its own that may be added once everything that grows once has grown, MiB. */
const GROWTH_MAX_MIB = 64;
/** After so much of a life, everything that grows once has grown. */
const WARM_SHARE = 0.4;
/** How long an end may take, and any answer to a polite caller, ms. */
const STOP_MS = 10_000;
const DEADLINE_MS = 15_000;
const SAMPLE_MS = 500;

/** The fuzzer is one address with very many mistakes: none of them is to be held up. */
const ENV = {
  GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000000',
  GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000',
  // It asks as proxies do, too.
  GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
};

export interface Life {
  server: ServerProcess;
  isOver: () => boolean;
}

export function startFuzzed(dataDir: string): Promise<ServerProcess> {
  return startServe({ dataDir, env: ENV });
}

/** What the process has for itself, without mapped files, MiB. */
function ownMib(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Anonymous: +(\d+)/m.exec(rollup)?.[1]) / 1024;
}

/**
 * Watches a server for `lifeMs` while `work` goes on, ends it by `signal` and looks at what it
 * left. Reports the longest wait of a caller who asks politely all the while, ms.
 */
export async function watchLife(
  campaign: Campaign,
  server: ServerProcess,
  scene: Scene,
  lifeMs: number,
  signal: 'SIGTERM' | 'SIGKILL',
  work: (life: Life) => Promise<unknown>,
): Promise<number> {
  const endMs = performance.now() + lifeMs;
  const fault = (says: string, input = '') =>
    campaign.fault('server', campaign.counts.get('requests') ?? 0, says, input);
  let hasEnded = false;
  void server.exited.then(() => {
    hasEnded = true;
  });
  const life = {
    server,
    isOver: () => hasEnded || campaign.isOver || performance.now() > endMs,
  };
  const working = work(life);
  const samples: number[] = [];
  let longestMs = 0;
  while (!life.isOver()) {
    samples.push(ownMib(server.pid));
    const startMs = performance.now();
    const asked = call(server, '/api/list-install', scene.credentials[0] ?? null, { id: 1 });
    const reply = await within(
      DEADLINE_MS,
      asked.catch(() => null),
    );
    if (reply === null && !hasEnded) fault(`no answer to a polite caller in ${DEADLINE_MS} ms`);
    if (reply && reply.json?.rc !== 1) fault(`a polite caller was refused: ${reply.text}`);
    longestMs = Math.max(longestMs, performance.now() - startMs);
    await Bun.sleep(Math.min(SAMPLE_MS, Math.max(endMs - performance.now(), 0)));
  }
  if (hasEnded) {
    const { code, signal: by } = await server.exited;
    fault(`the server ended by itself: ${code ?? by}`, server.stderr().slice(-2_000));
  }
  await working;
  for (const line of server.troubles()) fault('a line that is more than news', line);
  const grown = growth(samples);
  if (grown > GROWTH_MAX_MIB) fault(`grew by ${Math.round(grown)} MiB: ${samples.map(Math.round)}`);
  const stopped = await within(STOP_MS, server.stop(signal));
  if (stopped === null) {
    fault(`not stopped within ${STOP_MS} ms`);
    await server.stop('SIGKILL');
  } else if (signal === 'SIGTERM' && stopped.code !== 0 && !hasEnded) {
    fault(`stopped with ${stopped.code ?? stopped.signal}`, server.stderr().slice(-2_000));
  }
  for (const problem of invariantProblems(await lookedAt(server.dataDir))) fault(problem);
  return longestMs;
}

/** From when it was warm to the end, by the medians of both ends. */
function growth(samples: readonly number[]): number {
  const warm = samples.slice(Math.floor(samples.length * WARM_SHARE));
  const share = Math.max(Math.floor(warm.length / 4), 1);
  const middle = (part: number[]) => part.toSorted((a, b) => a - b)[part.length >> 1] ?? 0;
  return middle(warm.slice(-share)) - middle(warm.slice(0, share));
}
