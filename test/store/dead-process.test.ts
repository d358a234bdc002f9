/** On a file, what a process held that was killed is free at once; what the living hold is not. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { Store } from '../../src/core/port/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/actor.ts';
import { until } from '../support/until.ts';
import { addDoor } from './contract/fixture.ts';
import { draft, to, UNGUARDED } from './contract/message-fixture.ts';
import { apns, registerAt } from './contract/outbox-fixture.ts';

const HOUR_MS = 3_600_000;
let folder: string;
let store: Store;
const children: { kill(signal: 'SIGKILL'): void; exited: Promise<unknown> }[] = [];

const open = (clock = systemClock) =>
  openSqliteStore({ dataDir: join(folder, 'data'), create: true, commitBatchMax: 1024, clock });

/** One message that waits for a gateway, and one that nobody looked at yet. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatepost-dead-'));
  store = await open();
  const { providerId } = await addDoor(store);
  await registerAt(store, 'a', apns('a'));
  const nowMs = systemClock.nowMs();
  const more = { createdAtMs: nowMs, expiresAtMs: nowMs + HOUR_MS };
  const rules = { afterChecking: () => 5, ledgerRowsMax: 1e6, waitingMax: 100 };
  await store.addDistribution(draft(providerId, { ...more, ...to('a') }), UNGUARDED, ACT);
  const lease = { owner: 'first', nowMs, leaseMs: 5_000 };
  await store.deliverNamed(lease, { ...rules, gateways: ['apns'] });
  await store.addDistribution(draft(providerId, more), UNGUARDED, ACT);
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await child.exited;
  }
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A process that holds both; settles once it does. */
async function holder() {
  const script = join(import.meta.dir, 'dead-process.fixture.ts');
  const child = Bun.spawn([process.execPath, script, join(folder, 'data')], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  children.push(child);
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe('1 1\n');
  return child;
}

async function claimed(by: Store, owner: string): Promise<[number, number]> {
  const lease = { owner, nowMs: systemClock.nowMs(), leaseMs: HOUR_MS };
  const work = await by.claimWork(lease);
  return [work.length, (await by.claimDestinations(lease, ['apns'], 1, 1, [])).length];
}

test('a process that starts after a kill takes over at once', async () => {
  const killed = await holder();
  expect(await claimed(store, 'beside')).toEqual([0, 0]);
  killed.kill('SIGKILL');
  await killed.exited;
  expect(await claimed(store, 'beside')).toEqual([0, 0]);
  expect(await claimed(store, await store.nameWorker())).toEqual([1, 1]);
});

test('one that lives on takes over within a second or two, and is told to look', async () => {
  const own = await store.nameWorker();
  const killed = await holder();
  const living = await holderOfNothing();
  let looks = 0;
  const stop = store.watch(() => {
    looks += 1;
  });
  killed.kill('SIGKILL');
  await killed.exited;
  await until('it is free', async () => (await claimed(store, own)).join() === '1,1');
  expect(looks).toBeGreaterThan(0);
  stop();
  await living.close();
});

test('with several that die and start, the living keep what they hold', async () => {
  const killed = await holder();
  const second = await open();
  await second.nameWorker();
  killed.kill('SIGKILL');
  await killed.exited;
  // It takes the number of the dead one; the second keeps its own.
  const owner = await store.nameWorker();
  expect(await claimed(store, owner)).toEqual([1, 1]);
  const third = await open();
  expect(await claimed(third, await third.nameWorker())).toEqual([0, 0]);
  expect(await claimed(second, await second.nameWorker())).toEqual([0, 0]);
  await third.close();
  await second.close();
});

async function holderOfNothing(): Promise<Store> {
  const other = await open();
  await other.nameWorker();
  return other;
}
