/**
 * A provider moves from one running Gatepost to another, and the process that brings it over is
 * killed twice on the way. Afterwards both servers list the same, and the old credentials are good.
 *
 * IMPORT_SCALE=1 bun test test/e2e/import.test.ts does it with 20,000 links, 60,000 HWIDs and 500
 * bindings, and prints how long it took.
 */

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { failureLine } from '../support/command-line.ts';
import { openBeside } from '../support/database.ts';
import {
  addProviderByCommand,
  binary,
  plainEnv,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { Random } from '../support/random.ts';
import { isAskedFor, scaleOf } from '../support/scale.ts';
import { enter, openShop } from '../support/shop.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const SCALE = scaleOf('IMPORT_SCALE', { short: 0.02, long: 0.2 });
const LINKS = Math.round(20_000 * SCALE);
const HWIDS = Math.round(60_000 * SCALE);
const DOMAINS = Math.max(5, Math.round(500 * SCALE));
/** The busier the machine, the longer: two lists of every link at the end. */
useProcesses((4 + 30 * SCALE) * PATIENCE_MS);

const FACTS = { os: 'android', osVersion: '15', appVersion: '2', userAgent: 'App/2' };
const HASHES = Array.from({ length: DOMAINS }, (_, n) => String(n).padStart(64, 'e'));
const BEGAN_MS = Date.UTC(2025, 0, 31, 22, 59, 58);

/** Links, HWIDs and bindings of all states, written past the server: the API has only one date. */
async function fill(dataDir: string, { code }: Credentials): Promise<void> {
  const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1024 });
  const random = new Random(5);
  let atMs = BEGAN_MS;
  const later = () => {
    atMs += random.int(1, 400_000);
    return atMs;
  };
  const provider = await store.findProvider(code);
  if (provider === null) throw new Error('no provider');
  const { id: providerId } = provider;
  await Promise.all(
    HASHES.map((domainHash, n) =>
      store.addDomain(
        {
          providerId,
          domainHash,
          domainName: `shop ${n} ✓`,
          createdAtMs: later(),
          domainCountMax: HASHES.length,
        },
        ACT,
      ),
    ),
  );
  const domains = await store.listDomains(providerId, { id: null, beforeId: null, countMax: 5000 });
  const codes = Array.from({ length: LINKS }, (_, n) => `Link${String(n).padStart(8, '0')}`);
  const ids = await Promise.all(
    codes.map((installCode, n) =>
      store.addLink(
        {
          ...NO_TERMS,
          providerId,
          installCode,
          installLimit: random.int(5, 100),
          note: n % 3 === 0 ? null : `note ${n} “${'ю'.repeat(n % 40)}” & more`,
          createdAtMs: later(),
          installCountMax: 1_000_000,
        },
        ACT,
      ),
    ),
  );
  const knocks = Array.from({ length: HWIDS }, (_, n) => {
    const installCode = codes[n % Math.floor(LINKS * 0.9)] ?? '';
    // Every tenth HWID is on a second link too.
    const hwid = `hwid-${n % 10 === 9 ? n - 1 : n}`;
    const facts = { ...FACTS, deviceName: `Phone ${hwid}` };
    return store.takeSlot({ installCode, domainHash: HASHES[0] ?? '', hwid }, facts, later());
  });
  const taken = await Promise.all(knocks);
  expect(taken.filter((slot) => typeof slot === 'string')).toEqual([]);
  for (const [n, added] of ids.entries()) {
    if (n % 7 === 0 && typeof added === 'object') {
      await store.updateLink(providerId, added.id, { status: 5 }, ACT);
    }
  }
  for (const [n, { id }] of domains.entries()) {
    if (n % 5 === 1) await store.disableDomain(providerId, id, ACT);
  }
  await store.close();
}

/** What a client sees that asks for everything. */
async function everything(server: ServerProcess, own: Credentials) {
  const lists: Record<string, { id: number; install_code?: string }[]> = {};
  for (const path of ['/api/list-install', '/api/list-domain']) {
    const records: { id: number; install_code?: string }[] = [];
    for (let page = (await call(server, path, own)).json.data; page.length > 0; ) {
      records.push(...page);
      page = (await call(server, path, own, { before_id: records.at(-1)?.id ?? 0 })).json.data;
    }
    lists[path] = records;
  }
  const codes = (lists['/api/list-install'] ?? []).map((link) => link.install_code ?? '');
  const hwids: Record<string, unknown> = {};
  for (let at = 0; at < codes.length; at += 50) {
    await Promise.all(
      codes.slice(at, at + 50).map(async (code) => {
        const answer = await call(server, '/api/list-hwid', own, { install_code: code });
        hwids[code] = answer.json.data;
      }),
    );
  }
  return { lists, hwids };
}

/** The provider's links; those of the neighbour have codes by chance. */
const COUNT = "SELECT count(*) AS n FROM install WHERE install_code LIKE 'Link00%'";

function linkCount(dataDir: string, sql = COUNT): number {
  const db = openBeside(dataDir);
  try {
    return db.query<{ n: number }, []>(sql).get()?.n ?? 0;
  } finally {
    db.close();
  }
}

/** Another provider at work on the server beside the import; returns its slowest answer, ms. */
function neighbour(target: ServerProcess, own: Credentials): { stop(): Promise<number> } {
  let isOver = false;
  let slowestMs = 0;
  const work = (async () => {
    while (!isOver) {
      const began = performance.now();
      const added = await call(target, '/api/add-install', own, { install_limit: 1 });
      expect(added.json.rc).toBe(1);
      slowestMs = Math.max(slowestMs, performance.now() - began);
      await Bun.sleep(1);
    }
    return slowestMs;
  })();
  return {
    stop: () => {
      isOver = true;
      return work;
    },
  };
}

/** Starts the import and kills it once that share of the links has come. */
async function killedAt(share: number, words: readonly string[], dataDir: string): Promise<void> {
  const child = Bun.spawn([binary(), ...words], {
    env: plainEnv(),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  await until(`${share} of the links`, () => linkCount(dataDir) >= LINKS * share);
  child.kill('SIGKILL');
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
  expect(linkCount(dataDir)).toBeLessThan(LINKS);
}

test('killed twice on the way, everything arrives', async () => {
  const source = await startServe();
  const own = await addProviderByCommand(source.dataDir, '--plan', 'pro');
  const filling = performance.now();
  await fill(source.dataDir, own);
  const dataDir = join(temporaryFolder(), 'data');
  const target = await startServe({ dataDir });
  const keyFile = join(temporaryFolder(), 'key');
  writeFileSync(keyFile, own.authKey, { mode: 0o600 });
  const argv = ['import', '--from', source.url, '--code', own.code, '--key-file', keyFile];
  const at = (rate: string) => [
    ...argv,
    '--plan',
    'pro',
    '--rate',
    rate,
    '--json',
    '--data',
    dataDir,
  ];
  // So many calls a second that a quiet machine does not end between two looks.
  const slow = at(String(LINKS * 2));
  const other = await addProviderByCommand(dataDir, '--max-links', '1000000');
  const began = performance.now();

  await killedAt(0.3, slow, dataDir);
  const beside = neighbour(target, other);
  await killedAt(0.7, slow, dataDir);
  const { code, stdout, stderr } = await run(at('99999'));
  const tookMs = performance.now() - began;
  const slowestMs = await beside.stop();
  // Generous, for a busy machine: it was never shut out.
  expect(slowestMs).toBeWithin(0.001, 5_000);
  expect({ code, stderr: stderr.replace(/^\d+ of .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({
    complete: true,
    links: { listed: LINKS, different: 0, code_taken: 0, over_cap: 0, vanished: 0 },
    hwids: { without_room: 0 },
    domains: { present: DOMAINS },
    unusable: 0,
    mended: 0,
    new_ids: 0,
    links_end_at_id: null,
    problems: [],
  });
  expect(summary.links.added + summary.links.present).toBe(LINKS);
  expect(summary.hwids.added + summary.hwids.present).toBe(HWIDS);
  expect(summary.links.present).toBeGreaterThanOrEqual(Math.floor(LINKS * 0.7));

  const [there, here] = [await everything(source, own), await everything(target, own)];
  expect(here.lists).toEqual(there.lists);
  expect(here.hwids).toEqual(there.hwids);
  expect(Object.values(here.hwids).flat()).toHaveLength(HWIDS);

  // Old credentials and old ids are good here, with changes as well; wrong ones are not.
  const { id, install_code: installCode } = there.lists['/api/list-install']?.[0] ?? { id: 0 };
  const changed = await call(target, '/api/update-install', own, { id, note: 'moved' });
  expect(changed.json).toEqual({ rc: 1, msg: 'Ok', install_code: installCode, id });
  const wrong = { ...own, authKey: own.authKey.replace(/^./, own.authKey[0] === 'x' ? 'y' : 'x') };
  expect((await call(target, '/api/list-install', wrong)).json.msg).toBe('Auth error');

  // Again: nothing comes, and what was changed here stays.
  const again = JSON.parse((await run(at('99999'))).stdout);
  expect(again.links).toMatchObject({ added: 0, present: LINKS - 1, different: 1, updated: 0 });
  expect(again.hwids).toEqual({ added: 0, present: HWIDS, without_room: 0 });

  // The whole of it through a pipe.
  const exported = await run(['export', own.code, '--data', dataDir]);
  expect(exported.stdout.split('\n')).toHaveLength(LINKS + DOMAINS + 3);
  expect(JSON.parse(exported.stdout.trim().split('\n').at(-1) ?? '')).toEqual({
    end: { installs: LINKS, hwids: HWIDS, domains: DOMAINS },
  });

  if (isAskedFor('IMPORT_SCALE')) {
    const totalMs = performance.now() - filling;
    console.log({
      LINKS,
      HWIDS,
      DOMAINS,
      importMs: Math.round(tookMs),
      slowestMs,
      totalMs,
      summary,
    });
  }
});

test('SIGINT ends it in order, and the summary says how far it came', async () => {
  const shop = await openShop({ limits: Array.from({ length: 60 }, () => 1) });
  const { server: source, own, links } = shop;
  for (const { code } of links) await enter(source, 'h', code);
  const dataDir = join(temporaryFolder(), 'data');
  const argv = ['import', '--from', source.url, '--code', own.code, '--key-file', '-'];
  const child = Bun.spawn([binary(), ...argv, '--rate', '25', '--json', '--data', dataDir], {
    env: plainEnv(),
    stdin: new Blob([own.authKey]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const here = () => {
    try {
      return linkCount(dataDir, 'SELECT count(*) AS n FROM install');
    } catch {
      return 0;
    }
  };
  await until('the first 50 links', () => here() === 50);
  child.kill('SIGINT');
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect(child.exitCode).toBe(1);
  expect(stderr).toEndWith(
    failureLine('interrupted', 'interrupted: run the same command to continue'),
  );
  expect(JSON.parse(stdout)).toMatchObject({ complete: false, links: { listed: 60, added: 50 } });
  expect(stdout + stderr).not.toContain(own.authKey);
  const rest = await run([...argv.slice(0, -2), '--key', own.authKey, '--json', '--data', dataDir]);
  expect(JSON.parse(rest.stdout)).toMatchObject({
    complete: true,
    links: { added: 10, present: 50 },
    hwids: { added: 10, present: 50 },
  });
});
