/**
 * A server with gateways and webhooks that has nothing to send does no work and writes nothing: as
 * much as one that has neither.
 *
 * IDLE_SECONDS=60 bun test test/e2e/outgoing-idle.test.ts looks for longer.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reachEnv } from '../servers/reach-env.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { openBeside } from '../support/database.ts';
import { byBinding, notify, register } from '../support/messaging.ts';
import {
  addProviderByCommand,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { pushToken } from '../support/push-devices.ts';
import { addWebhook, ended, expectNoViolations, metricsOf } from '../support/reach.ts';
import { scaleOf } from '../support/scale.ts';
import { addLink, bind } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const SECONDS = scaleOf('IDLE_SECONDS', { short: 4, long: 60 });
/** Calls of the system that two idle servers may differ by, a second: timers of the runtime. */
const CALLS_A_SECOND_MAX = 3;

useProcesses(120_000 + SECONDS * 1000);

let servers: StrictServers;
beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());

/** What a process did since it was started. */
interface Work {
  /** Bytes that it caused to be written to a disk. */
  written: number;
  /** Calls of read and write, of whatever kind. */
  calls: number;
  commits: number;
  requests: number;
  files: string;
}

async function workOf(server: ServerProcess): Promise<Work> {
  const io = readFileSync(`/proc/${server.pid}/io`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1]);
  const files = ['gatepost.db', 'gatepost.db-wal'].map((name) => {
    const { size, mtimeMs } = statSync(join(server.dataDir, name));
    return `${name} ${size} ${mtimeMs}`;
  });
  const calls = field('syscr') + field('syscw');
  const metrics = await metricsOf(server);
  let commits = 0;
  for (const [name, value] of metrics) {
    if (name.startsWith('gatepost_commits_total')) commits += value;
  }
  let requests = 0;
  for (const name of ['fcm', 'apns', 'webpush', 'webhook', 'telegram'] as const) {
    requests += (await servers.totals(name)).requests;
  }
  return { written: field('write_bytes'), calls, commits, requests, files: files.join(', ') };
}

/** Starts a server that sends a message through each gateway and an event to a webhook. */
async function startConfigured(): Promise<ServerProcess> {
  const dataDir = join(temporaryFolder(), 'data');
  const by = await addProviderByCommand(dataDir, '--plan', 'enterprise');
  const server = await startServe({ dataDir, env: reachEnv(servers) });
  const url = `${servers.origin('webhook')}/hook/idle`;
  const { secret } = await addWebhook(server, by, { url });
  await servers.setHook('idle', [secret]);
  await bind(server, by);
  await addLink(server, by);
  const [subscription] = await servers.subscribe(1);
  const push = { fcm: pushToken('fcm', 1), apns: pushToken('apns', 1), webpush: subscription };
  for (const [gateway, token] of Object.entries(push)) {
    await register(server, { ...byBinding(gateway, by), push: { gateway, token } });
  }
  const id = await notify(server, by, 'Hello', { hwid: Object.keys(push).join(',') });
  expect(await ended(server, by, id)).toBe(100);
  const db = openBeside(dataDir);
  const waiting = db.query<{ count: number }, []>('SELECT count(*) AS count FROM outbox');
  await until('the webhook has the event', () => waiting.get()?.count === 0);
  db.close();
  return server;
}

/** Waits until the server has saved the figures of the message, as every 10 s, and rests. */
async function untilRest(server: ServerProcess): Promise<void> {
  const db = openBeside(server.dataDir);
  const saved = db.query('SELECT links, sends, recipients, delivered FROM provider_day');
  const all = { links: 1, sends: 1, recipients: 3, delivered: 3 };
  await until('the figures are saved', () => Bun.deepEquals(saved.get(), all));
  db.close();
  // Leases are released and the log of the database is written meanwhile.
  let rested = await workOf(server);
  let equalCount = 0;
  await until('the files rest', async () => {
    await Bun.sleep(1_000);
    const now = await workOf(server);
    equalCount = now.files === rested.files ? equalCount + 1 : 0;
    rested = now;
    return equalCount === 3;
  });
}

test('an idle server with gateways and webhooks writes nothing and does no work', async () => {
  const configured = await startConfigured();
  const plain = await startServe({ env: { GATEPOST_MONITOR_PORT: '0' } });
  await untilRest(configured);
  const before = [await workOf(configured), await workOf(plain)] as const;
  await Bun.sleep(SECONDS * 1000);
  const after = [await workOf(configured), await workOf(plain)] as const;
  const [work, plainWork] = [0, 1].map((i) => ({
    written: (after[i]?.written ?? 0) - (before[i]?.written ?? 0),
    calls: (after[i]?.calls ?? 0) - (before[i]?.calls ?? 0),
    commits: (after[i]?.commits ?? 0) - (before[i]?.commits ?? 0),
    requests: (after[i]?.requests ?? 0) - (before[i]?.requests ?? 0),
  }));
  if (SECONDS > 10) console.log({ SECONDS, work, plainWork });
  expect(work).toMatchObject({ written: 0, commits: 0, requests: 0 });
  expect(after[0].files).toBe(before[0].files);
  const more = (work?.calls ?? 0) - (plainWork?.calls ?? 0);
  expect(more).toBeLessThanOrEqual(SECONDS * CALLS_A_SECOND_MAX);
  await expectNoViolations(servers);
  expect(configured.troubles()).toEqual([]);
});
