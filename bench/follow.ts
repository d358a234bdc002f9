/**
 * Passes of `follow` over a panel with many users: how long each takes, how long the event loop was
 * held in it, and the memory.
 */

import { makeFollower } from '../src/jobs/follow.ts';
import { readFollowedInProcess } from '../src/panel/reader-process.ts';
import { ownCommand } from '../src/parts/own-program.ts';
import { seedProvider, startTestApp } from '../test/support/app.ts';
import { API_TOKEN } from '../test/support/panel-api.ts';
import type { Bench, Case } from './driver.ts';

const PAGE = 500;
const EVERY_MS = 300_000;
/** The longest time for which a pass may hold the event loop, ms. */
const HELD_MAX_MS = 20;

const userOf = (n: number, note: string, isRenewed: boolean) => ({
  username: `user${n}`,
  status: 'active',
  expire: 1_800_000_000 + (isRenewed ? 30 * 86_400 : 0),
  note,
  created_at: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString().slice(0, 19),
});

/** Serves users in pages that are written once, so that the panel costs the loop little. */
function servePanel(count: number) {
  let renewedCount = 0;
  let pages = new Map<number, string>();
  const pageAt = (at: number) => {
    const length = Math.min(PAGE, count - at);
    const users = Array.from({ length }, (_, n) => userOf(at + n, '', at + n < renewedCount));
    return JSON.stringify({ users, total: count });
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/api/admin') return Response.json({ username: 'a', is_sudo: true });
      const at = Number(searchParams.get('offset'));
      const page = pages.get(at) ?? pageAt(at);
      return new Response(page, { headers: { 'content-type': 'application/json' } });
    },
  });
  const write = () => {
    pages = new Map();
    for (let at = 0; at < count; at += PAGE - 1) pages.set(at, pageAt(at));
  };
  write();
  return {
    url: `http://127.0.0.1:${server.port}`,
    renew(some: number) {
      renewedCount = some;
      write();
    },
    stop: () => server.stop(true),
  };
}

/**
 * Notes the longest time between two turns of the event loop, ms, by the processor: a machine with
 * other work would add theirs.
 */
function watchLoop() {
  const gaps: number[] = [];
  let last = process.cpuUsage();
  const timer = setInterval(() => {
    const now = process.cpuUsage();
    gaps.push((now.user - last.user + now.system - last.system) / 1_000);
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    const sorted = gaps.toSorted((one, two) => one - two);
    return { max: sorted.at(-1) ?? 0, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
  };
}

async function run(bench: Bench): Promise<boolean> {
  const count = bench.number('users');
  const panel = servePanel(count);
  const app = await startTestApp({ bounds: { linksPerProviderMax: 1_000_000 } });
  const own = await seedProvider(app);
  const read = readFollowedInProcess(ownCommand(), { PATH: process.env['PATH'] });
  const follower = makeFollower({
    core: app.core,
    clock: app.clock,
    log: app.log,
    panels: () => [
      {
        host: 'sub.example.org',
        kind: 'marzban',
        limits: 'own',
        unlimitedAs: 100,
        defaultLimit: 3,
        gone: 'tell',
        withNotes: false,
        providerCode: own.code,
        everyMs: EVERY_MS,
        read: (listing, signal) =>
          read(
            {
              panel: 'marzban',
              url: panel.url,
              token: API_TOKEN,
              headers: {},
              callsPerSecondMax: 10,
            },
            listing,
            { signal, memoryMaxMib: 1_024, onProgress: () => {} },
          ),
      },
    ],
  });
  const rows: object[] = [];
  let heldMs = 0;
  const pass = async (name: string) => {
    app.clock.advance(EVERY_MS);
    const stop = watchLoop();
    const begunMs = performance.now();
    await follower.tick();
    await follower.idle();
    const seconds = (performance.now() - begunMs) / 1_000;
    const { max, p99 } = stop();
    const [follow] = await app.core.store.listFollows();
    const changes = (follow?.pass?.addedCount ?? 0) + (follow?.pass?.changedCount ?? 0);
    const rssMib = Math.round(process.memoryUsage.rss() / 1024 ** 2);
    heldMs = Math.max(heldMs, p99);
    rows.push({
      pass: name,
      users: follow?.pass?.userCount ?? 0,
      changes,
      seconds: seconds.toFixed(2),
      'held ms, longest': max.toFixed(1),
      'held ms, 99 %': p99.toFixed(1),
      'memory MiB': rssMib,
    });
  };
  await pass('first');
  await pass('same');
  panel.renew(Math.ceil(count / 100));
  await pass('1 % renewed');
  await pass('same again');
  console.table(rows);
  await follower.stop();
  await app.close();
  await panel.stop();
  return heldMs <= HELD_MAX_MS;
}

export const follow: Case = {
  about:
    'passes of `follow` over the users of a panel; ends with 1 if 1 % of the turns are held over 20 ms',
  options: { users: '10000' },
  run,
};
