/** The cost of receivers that hang for those that do not. */

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Visit } from '../test/servers/ledger.ts';
import { reachEnv } from '../test/servers/reach-env.ts';
import type { StrictServers } from '../test/servers/strict-servers.ts';
import {
  ask,
  type Bench,
  type Case,
  median,
  printTable,
  share,
  startCaller,
  wallMs,
  who,
} from './driver.ts';
import { makeData, startServers } from './push-world.ts';

/** Devices at each gateway: a command a second goes to all of them. */
const DEVICES = 300;
const LINKS_A_SECOND = 20;
/** A start is no steady state. */
const WARM_UP_MS = 2_000;
const RATIO_MAX = 1.2;
const HOOKS = ['webhook', 'webhook2'] as const;
const FIGURES = ['list', 'addLink', 'push', 'event'] as const;

/** 99th percentiles of one phase, ms: of calls, of a push from its call, of an event's call. */
type Phase = Record<(typeof FIGURES)[number] | 'pushes' | 'events' | 'failed', number>;

/** Calls every so often, whether the last one was answered or not; returns how long each took. */
async function steadily(everyMs: number, endMs: number, act: () => Promise<unknown>) {
  const took: number[] = [];
  const running: Promise<void>[] = [];
  for (let dueMs = wallMs(); dueMs < endMs; dueMs += everyMs) {
    await Bun.sleep(Math.max(dueMs - wallMs(), 0));
    const calledMs = dueMs;
    running.push(act().then(() => void took.push(wallMs() - calledMs)));
  }
  await Promise.all(running);
  return took;
}

async function prepare(servers: StrictServers, isBlack: boolean): Promise<void> {
  for (const name of ['fcm', 'apns', ...HOOKS] as const) {
    const black = isBlack && (name === 'fcm' || name === 'webhook2');
    await servers.behave(name, black ? { always: { kind: 'blackhole' } } : { delayMs: 5 });
    await servers.forget(name);
    await servers.keepVisits(name, 100_000);
  }
}

async function runPhase(bench: Bench, servers: StrictServers, isBlack: boolean): Promise<Phase> {
  await prepare(servers, isBlack);
  const dataDir = join(bench.folder, crypto.randomUUID());
  cpSync(join(bench.folder, 'data'), dataDir, { recursive: true });
  const server = await bench.serve(dataDir, reachEnv(servers));
  const api = (path: string) => `${server.url}${path}?${who()}`;
  const caller = startCaller(`${api('/api/list-install')}&id=1`, {
    perSecond: bench.number('rate'),
  });
  await Bun.sleep(WARM_UP_MS);
  await caller.times();
  const endMs = wallMs() + bench.number('seconds') * 1000;
  const links = steadily(1000 / LINKS_A_SECOND, endMs, () =>
    ask(`${api('/api/add-install')}&install_limit=1`),
  );
  const calledMs = new Map<string, number>();
  await steadily(1_000, endMs, async () => {
    for (const os of ['android', 'ios']) {
      const atMs = wallMs();
      const command = { action_type: 'update-subscription', specific_device_toggle: false };
      const { id } = await ask(api('/remote/command'), { ...command, os: [os] });
      calledMs.set(String(id), atMs);
    }
  });
  const addLink = share(await links, 0.99);
  const { p99Ms, failed } = await caller.times();
  // The last deliveries are still in flight.
  await Bun.sleep(3_000);
  caller.stop();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
  const delivered = async (name: 'apns' | 'webhook'): Promise<Visit[]> =>
    (await servers.visits(name)).filter((visit) => visit.delivered);
  const pushes = (await delivered('apns')).map(({ atMs, id }) => {
    return atMs - (calledMs.get(id?.split(' ').at(-1) ?? '') ?? Number.NaN);
  });
  const events = (await delivered('webhook'))
    .map(({ atMs, content }) => ({ atMs, ...(content as { type: string; timestamp: string }) }))
    // A command that waits for the blackhole has not ended.
    .filter(({ type }) => type === 'link.created')
    .map(({ atMs, timestamp }) => atMs - Date.parse(timestamp));
  return {
    list: p99Ms,
    addLink,
    push: share(pushes, 0.99),
    event: share(events, 0.99),
    failed,
    pushes: pushes.length,
    events: events.length,
  };
}

export const blackhole: Case = {
  isSpread: true,
  about:
    'p99 of the API and of deliveries while FCM and a webhook accept each call and never answer, in turns with the same load while all answer; ends with 1 over 1.2 times',
  options: { rounds: '5', seconds: '20', rate: '200' },
  run: async (bench) => {
    const servers = await startServers();
    const urls = HOOKS.map((name) => `${servers.origin(name)}/hook/${name}`);
    const secrets = makeData(bench, bench.place('data'), DEVICES, urls);
    for (const [at, name] of HOOKS.entries()) await servers.setHook(name, [secrets[at] ?? '']);
    const head = ['p99, ms', 'list-install', 'add-install', 'push', 'event', 'pushes', 'events'];
    const print = printTable([...head, 'failed']);
    const pairs: [well: Phase, black: Phase][] = [];
    for (let n = 0; n < bench.number('rounds'); n++) {
      const phases: Phase[] = [];
      for (const isBlack of [false, true]) {
        const phase = await runPhase(bench, servers, isBlack);
        const counts = [phase.pushes, phase.events, phase.failed].map(String);
        print([isBlack ? 'blackholes' : 'well', ...FIGURES.map((name) => phase[name]), ...counts]);
        phases.push(phase);
      }
      pairs.push(phases as [Phase, Phase]);
    }
    const ratios = FIGURES.map((name) =>
      median(pairs.map(([well, black]) => black[name] / well[name])),
    );
    for (const [i, name] of FIGURES.entries()) {
      console.log(`${name}: ${ratios[i]?.toFixed(2)} times`);
    }
    const isWhole = pairs.every(
      ([well, black]) =>
        black.pushes === well.pushes && black.events === well.events && black.failed === 0,
    );
    return isWhole && ratios.every((ratio) => ratio <= RATIO_MAX);
  },
};
