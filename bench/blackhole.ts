/**
 * The cost of a blackhole for others: FCM and one webhook accept every call and never answer, while
 * APNs, another webhook and the API work. In turns with the same load while all answer, each on
 * a fresh copy of the same data, and compared pair by pair. Prints a table; ends with 1 if the p99
 * of the API or of a delivery is more than 1.2 times what it is while all are well.
 *
 *   bun bench/blackhole.ts [--rounds 5] [--seconds 20] [--rate 200] [--executable FILE]
 */

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Visit } from '../test/servers/ledger.ts';
import { reachEnv } from '../test/servers/reach-env.ts';
import { median } from './load.ts';
import { type Appliance, makeAppliance } from './outgoing-appliance.ts';
import { startOutgoingBench } from './outgoing-servers.ts';
import { type Server, startServer } from './process.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '200' },
    executable: { type: 'string', default: join(import.meta.dir, '..', 'dist', 'gatepost') },
  },
});
/** Devices at each gateway: a command a second goes to all of them. */
const DEVICES = 300;
const LINKS_A_SECOND = 20;
/** A start is no steady state. */
const WARM_UP_MS = 2_000;
const RATIO_MAX = 1.2;
const HOOKS = ['webhook', 'webhook2'] as const;

/** 99th percentiles of one phase, ms. */
interface Phase {
  list: number;
  addLink: number;
  /** From the call of a command to its push at APNs, each device. */
  push: number;
  /** From a link to the call of the webhook that is well. */
  event: number;
  pushes: number;
  events: number;
  failed: number;
}

const { folder, servers } = await startOutgoingBench();

const wallMs = () => performance.timeOrigin + performance.now();

function p99(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * 0.99)] ?? Number.NaN;
}

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

async function prepare(isBlack: boolean): Promise<void> {
  for (const name of ['fcm', 'apns', ...HOOKS] as const) {
    const black = isBlack && (name === 'fcm' || name === 'webhook2');
    await servers.behave(name, black ? { always: { kind: 'blackhole' } } : { delayMs: 5 });
    await servers.forget(name);
    await servers.keepVisits(name, 100_000);
  }
}

async function runPhase(appliance: Appliance, isBlack: boolean, n: number): Promise<Phase> {
  await prepare(isBlack);
  const dataDir = join(folder, `data-${n}-${isBlack}`);
  cpSync(appliance.dataDir, dataDir, { recursive: true });
  const env = { ...reachEnv(servers), GATEPOST_LOG_LEVEL: 'error' };
  const program = [options.executable, 'serve', '--port', '0', '--data', dataDir];
  const server = await startServer(program, env);
  const endLoad = startLoad(server, appliance);
  await Bun.sleep(WARM_UP_MS);
  const startMs = wallMs();
  const endMs = startMs + Number(options.seconds) * 1000;
  const links = steadily(1000 / LINKS_A_SECOND, endMs, () =>
    appliance.ask(server, '/api/add-install', '&install_limit=1'),
  );
  const calledMs = new Map<string, number>();
  await steadily(1_000, endMs, async () => {
    for (const os of ['android', 'ios']) {
      const atMs = wallMs();
      const command = { action_type: 'update-subscription', specific_device_toggle: false };
      const { id } = await appliance.ask(server, '/remote/command', '', { ...command, os: [os] });
      calledMs.set(String(id), atMs);
    }
  });
  const addLink = p99(await links);
  // The last deliveries are still in flight.
  await Bun.sleep(3_000);
  const { samples, failed } = await endLoad();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
  const steady = samples.filter(({ atMs }) => atMs >= startMs && atMs < endMs);
  const pushes = (await delivered('apns')).map(({ atMs, id }) => {
    return atMs - (calledMs.get(id?.split(' ').at(-1) ?? '') ?? Number.NaN);
  });
  const events = (await delivered('webhook'))
    .map(({ atMs, content }) => ({ atMs, ...(content as { type: string; timestamp: string }) }))
    // A command that waits for the blackhole has not ended.
    .filter(({ type }) => type === 'link.created')
    .map(({ atMs, timestamp }) => atMs - Date.parse(timestamp));
  return {
    list: p99(steady.map(({ tookMs }) => tookMs)),
    addLink,
    push: p99(pushes),
    event: p99(events),
    failed,
    pushes: pushes.length,
    events: events.length,
  };
}

const delivered = async (name: 'apns' | 'webhook'): Promise<Visit[]> =>
  (await servers.visits(name)).filter((visit) => visit.delivered);

/** Starts the steady calls of `list-install`; the function returned ends them. */
function startLoad(server: Server, appliance: Appliance) {
  const script = join(import.meta.dir, 'messaging-load.ts');
  const target = appliance.url(server, '/api/list-install', '&id=1');
  const load = Bun.spawn([process.execPath, script, target, options.rate], {
    stdin: 'pipe',
    stdout: 'pipe',
  });
  process.once('exit', () => load.kill('SIGKILL'));
  return async () => {
    load.stdin.write('end\n');
    await load.stdin.end();
    const printed = await new Response(load.stdout).text();
    return JSON.parse(printed) as { samples: { atMs: number; tookMs: number }[]; failed: number };
  };
}

const FIGURES = ['list', 'addLink', 'push', 'event'] as const;

function print(name: string, phase: Phase): void {
  const figures = FIGURES.map((figure) => phase[figure].toFixed(1)).join(' | ');
  console.log(`| ${name} | ${figures} | ${phase.pushes} | ${phase.events} | ${phase.failed} |`);
}

async function measure(): Promise<boolean> {
  const counts = { fcm: DEVICES, apns: DEVICES };
  const hooks = HOOKS.map((name) => [name, `${servers.origin(name)}/hook/${name}`] as const);
  const dataDir = join(folder, 'data');
  const appliance = makeAppliance({ executable: options.executable, dataDir, counts, hooks });
  for (const [name, secret] of appliance.secrets) await servers.setHook(name, [secret]);
  console.log(
    'p99, ms\n\n| | list-install | add-install | push | event | pushes | events | failed |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  const pairs: [well: Phase, black: Phase][] = [];
  for (let n = 0; n < Number(options.rounds); n++) {
    const well = await runPhase(appliance, false, n);
    print('well', well);
    const black = await runPhase(appliance, true, n);
    print('blackholes', black);
    pairs.push([well, black]);
  }
  const ratios = FIGURES.map((name) =>
    median(pairs.map(([well, black]) => black[name] / well[name])),
  );
  for (const [i, name] of FIGURES.entries()) console.log(`${name}: ${ratios[i]?.toFixed(2)} times`);
  const isWhole = pairs.every(([well, black]) => {
    return black.pushes === well.pushes && black.events === well.events && black.failed === 0;
  });
  return isWhole && ratios.every((ratio) => ratio <= RATIO_MAX);
}

const isShown = await measure();
process.exit(isShown ? 0 : 1);
