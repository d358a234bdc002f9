/**
 * The cap is a promise (docs, "Links and their devices"): under any concurrency and across
 * processes a link never holds more than its limit, never refuses a new HWID while a slot is free,
 * and a known HWID never takes a second slot. What happens when a server is killed is in
 * crash.test.ts.
 *
 * CAP_SCALE=20 bun test test/e2e/cap.test.ts runs it longer, CAP_SEED=n otherwise.
 */

import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import { plainEnv, ROOT, type ServerProcess } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { scaleOf } from '../support/scale.ts';
import { addLink, HASH, type Link, openShop } from '../support/shop.ts';
import { SlotHistory } from '../support/slot-history.ts';
import type { SlotWorkerOrder, SlotWorkerReport } from '../support/slot-worker.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const SCALE = scaleOf('CAP_SCALE', { short: 1, long: 20 });
const SEED = Number(process.env['CAP_SEED'] ?? 7);

useProcesses(2 * PATIENCE_MS * SCALE);

const PROCESSES = 4;
const CALLS_PER_PROCESS = 500 * SCALE;
const LINKS = 20;
/** Device after device knocks, so many at a time at each server. */
const AT_ONCE = 40;

let dataDir: string;
let credentials: Credentials;
let servers: ServerProcess[];

beforeAll(async () => {
  ({ dataDir, own: credentials, servers } = await openShop({ serverCount: PROCESSES }));
});

async function ask(path: string, query: Record<string, string | number>, server = servers[0]) {
  if (!server) throw new Error('no server');
  return (await call(server, path, credentials, query)).json;
}

/** Says `ok`, or why the device stays outside. */
async function knock(server: ServerProcess, { code }: Link, hwid: string): Promise<string> {
  const reply = await call(server, '/install', null, { id: HASH, installid: code, hwid });
  return reply.json.rc === 1 ? 'ok' : reply.json.msg;
}

async function makeLink(limit: number): Promise<Link> {
  const [server] = servers as [ServerProcess];
  return addLink(server, credentials, null, limit);
}

function makeLinks(random: Random): Promise<Link[]> {
  return Promise.all(Array.from({ length: LINKS }, () => makeLink(random.int(1, 100))));
}

/** The HWIDs on a link, after checking that both ways to count them agree within the limit. */
async function hwidsOn({ code, limit }: Link): Promise<string[]> {
  const [slots, installs] = await Promise.all([
    ask('/api/list-hwid', { install_code: code }),
    ask('/api/list-install', {}),
  ]);
  const install = installs.data.find((row: { install_code: string }) => row.install_code === code);
  expect(install.install_count).toBe(slots.data.length);
  expect(install.install_count).toBeLessThanOrEqual(limit);
  const hwids: string[] = slots.data.map((slot: { hwid: string }) => slot.hwid);
  expect(new Set(hwids).size).toBe(hwids.length);
  return hwids.sort();
}

/** What must hold when nothing was deleted, whatever the order was. */
async function checkFilled(link: Link, said: { hwid: string; says: string }[]): Promise<void> {
  const hwids = await hwidsOn(link);
  const letIn = new Set(said.filter(({ says }) => says === 'ok').map(({ hwid }) => hwid));
  expect(hwids).toEqual([...letIn].sort());
  const isRefused = said.filter(({ says }) => says !== 'ok');
  // Nobody left: a link that refused anybody was full then, so it is full now.
  if (isRefused.length > 0) expect(hwids).toHaveLength(link.limit);
  expect(isRefused.filter(({ hwid }) => letIn.has(hwid))).toEqual([]);
}

test('200 check-ins of 100 HWIDs at once on a link of 7 let exactly 7 in', async () => {
  const link = await makeLink(7);
  const [server] = servers as [ServerProcess];
  const hwids = Array.from({ length: 200 }, (_, i) => `phone-${i % 100}`);
  const said = await Promise.all(
    hwids.map(async (hwid) => ({ hwid, says: await knock(server, link, hwid) })),
  );
  const letIn = said.filter(({ says }) => says === 'ok').map(({ hwid }) => hwid);
  const chosen = [...new Set(letIn)];
  expect(chosen).toHaveLength(7);
  // Both calls of the same HWID are told the same.
  expect(letIn).toHaveLength(14);
  const refusals = new Set(said.filter(({ says }) => says !== 'ok').map(({ says }) => says));
  expect([...refusals]).toEqual(['Install limit reached']);

  for (const hwid of chosen) expect(await knock(server, link, hwid)).toBe('ok');
  const others = [...new Set(hwids)].filter((hwid) => !chosen.includes(hwid));
  for (const hwid of others) {
    expect(await knock(server, link, hwid)).toBe('Install limit reached');
  }
  expect(await hwidsOn(link)).toEqual(chosen.sort());
  for (const hwid of [...chosen, others[0] ?? '']) {
    const one = await ask('/api/list-hwid', { install_code: link.code, hwid });
    expect(one.data.map((slot: { hwid: string }) => slot.hwid)).toEqual(
      chosen.includes(hwid) ? [hwid] : [],
    );
  }
});

describe('four processes on one data directory', () => {
  test('four servers fill links of 1 to 100', async () => {
    const random = new Random(SEED);
    const links = await makeLinks(random);
    const said = new Map(links.map((link) => [link, [] as { hwid: string; says: string }[]]));
    await Promise.all(
      servers.flatMap((server, n) => {
        const draw = new Random(SEED + 1 + n);
        let left = CALLS_PER_PROCESS;
        return Array.from({ length: AT_ONCE }, async () => {
          while (left-- > 0) {
            const link = draw.pick(links);
            const hwid = `hwid-${draw.int(1, 150)}`;
            said.get(link)?.push({ hwid, says: await knock(server, link, hwid) });
          }
        });
      }),
    );
    const everything = [...said.values()].flat();
    expect(everything).toHaveLength(PROCESSES * CALLS_PER_PROCESS);
    const answers = new Set(everything.map(({ says }) => says));
    expect([...answers].sort()).toEqual(['Install limit reached', 'ok']);
    for (const [link, calls] of said) await checkFilled(link, calls);
  });

  test('four processes fill links through the store itself, beside the servers', async () => {
    const links = await makeLinks(new Random(SEED + 10));
    const reports = await Promise.all(
      Array.from({ length: PROCESSES }, (_, n) =>
        runWorker({
          dataDir,
          seed: SEED + 11 + n,
          domainHash: HASH,
          codes: links.map((link) => link.code),
          hwidCount: 150,
          callCount: CALLS_PER_PROCESS,
        }),
      ),
    );
    const calls = reports.flat();
    expect(calls).toHaveLength(PROCESSES * CALLS_PER_PROCESS);
    expect([...new Set(calls.map(([, , says]) => says))].sort()).toEqual([
      'link_limit_reached',
      'ok',
    ]);
    for (const [which, link] of links.entries()) {
      const here = calls.filter((made) => made[0] === which);
      await checkFilled(
        link,
        here.map(([, hwid, says]) => ({ hwid, says })),
      );
    }
  });

  test('slots that are freed meanwhile are given again, never twice', async () => {
    const random = new Random(SEED + 20);
    const links = await Promise.all([1, 2, 5, 13].map(makeLink));
    const histories = new Map(links.map((link) => [link, new SlotHistory(link.limit)]));
    const wrong: string[] = [];
    let left = (PROCESSES * CALLS_PER_PROCESS) / 2;
    /** One device: it alone speaks for its HWID, so its own calls have an order. */
    const live = async (link: Link, hwid: string) => {
      const history = histories.get(link);
      while (history && left-- > 0) {
        const startMs = performance.now();
        const says = await knock(random.pick(servers), link, hwid);
        const made = { startMs, endMs: performance.now() };
        if (says === 'ok') history.admitted(hwid, made);
        else wrong.push(...(history.refused(hwid, made) ?? []));
        if (says === 'ok' && random.chance(0.5)) await free(link, hwid, history);
      }
    };
    const free = async (link: Link, hwid: string, history: SlotHistory) => {
      const startMs = performance.now();
      const query = { install_code: link.code, hwid };
      const freed = await ask('/api/delete-hwid', query, random.pick(servers));
      history.deleted(hwid, { startMs, endMs: performance.now() });
      if (freed.rc !== 1 || freed.install_count >= link.limit) wrong.push(JSON.stringify(freed));
    };
    // Three devices for each slot: the links are full most of the time, and often just not.
    await Promise.all(
      links.flatMap((link) =>
        Array.from({ length: link.limit * 3 }, (_, i) => live(link, `tenant-${i}`)),
      ),
    );
    expect(wrong).toEqual([]);
    for (const [link, history] of histories) {
      expect(history.refusals.length).toBeGreaterThan(0);
      expect(history.problems()).toEqual([]);
      expect(await hwidsOn(link)).toEqual(history.present());
    }
  });
});

async function runWorker(order: SlotWorkerOrder): Promise<SlotWorkerReport> {
  const file = join(ROOT, 'test/support/slot-worker.ts');
  const child = Bun.spawn([process.execPath, file, JSON.stringify(order)], {
    env: plainEnv(),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return (await new Response(child.stdout).json()) as SlotWorkerReport;
}
