/** Pushes in the commands of the operator: `distribution show`, `device show`. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { Store } from '../../src/core/port/store.ts';
import { addDoor, knock, NOW_MS } from '../store/contract/fixture.ts';
import {
  ACCEPTED,
  claimOne,
  dueAt,
  failedFor,
  fcm,
  pushesAt,
  registerAt,
  retryAt,
  serve,
  settle,
  WELL,
} from '../store/contract/outbox-fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { type Engine, openEngine } from '../support/delivery.ts';

let engine: Engine;
let line: CommandLine;
let store: Store;
let providerId: number;
beforeEach(async () => {
  engine = await openEngine();
  store = engine.core.store;
  line = commandLine({ dataDir: engine.dataDir });
  ({ providerId } = await addDoor(store));
});
afterEach(async () => {
  line.close();
  await engine.close();
});

async function shown(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await line.run(...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

test('distribution show says of each device what its gateway said', async () => {
  for (const hwid of ['a', 'b']) await registerAt(store, hwid, fcm(`secret of ${hwid}`));
  const { id } = await serve(store, providerId);
  const { id: destinationId } = await claimOne(store);
  const [first = { id: 0 }, second = { id: 0 }] = await dueAt(store, destinationId);
  await settle(store, destinationId, [first], ACCEPTED);
  await settle(store, destinationId, [second], retryAt(NOW_MS + 1, '503 UNAVAILABLE'));
  const show = () => shown('distribution', 'show', String(id));
  expect(await show()).toContain('At gateways\n  queued    1\n  accepted  1\n  failed    0\n');
  expect(await show()).toMatch(/^b +sent +\S+ +queued +503 UNAVAILABLE$/m);
  await settle(store, destinationId, [second], failedFor('400 INVALID_ARGUMENT'));
  expect(await show()).toMatch(/^a +sent +\S+ +accepted *$/m);
  expect(await show()).toMatch(/^b +sent +\S+ +failed +400 INVALID_ARGUMENT$/m);
  expect(await show()).toMatch(/^status_name +Sent with errors$/m);
  expect(await show()).not.toContain('secret');
  expect(JSON.parse(await shown('distribution', 'show', String(id), '--json'))).toMatchObject({
    sent: 1,
    failed: 1,
    at_gateways_since: expect.any(String),
    ledger: { sent: 2, at_gateway: { queued: 0, accepted: 1, failed: 1 } },
    missing: [
      { hwid: 'a', push: 'accepted', push_problem: null },
      { hwid: 'b', push: 'failed', push_problem: '400 INVALID_ARGUMENT' },
    ],
  });
});

test('distribution show says why a push that was not tried yet waits', async () => {
  await registerAt(store, 'a', fcm('secret'));
  const { id } = await serve(store, providerId);
  const { id: destinationId } = await claimOne(store);
  const health = { ...WELL, stoppedAtMs: NOW_MS, problem: '403: the key is not accepted' };
  await settle(store, destinationId, [], ACCEPTED, { health });
  const text = await shown('distribution', 'show', String(id));
  expect(text).toMatch(/^a +sent +\S+ +queued +403: the key is not accepted$/m);
});

test('distribution show has no word of gateways where none was asked', async () => {
  await knock(store, 'a');
  const { id } = await serve(store, providerId);
  const text = await shown('distribution', 'show', String(id));
  expect(text).toMatch(/^NOT RECEIVED BY +STATE +SINCE +WHY$/m);
  expect(text).not.toContain('At gateways');
});

test('distribution show while only pushes are pending', async () => {
  const a = await registerAt(store, 'a', fcm('secret'));
  await registerAt(store, 'b', fcm('secret'));
  const { id } = await serve(store, providerId);
  await store.acknowledge(a, [{ id, state: 'received', detail: null }], NOW_MS);
  await store.forgetDevice('b', ACT);
  const text = await shown('distribution', 'show', String(id));
  expect(text.trimEnd().split('\n').at(-1)).toBe('All inboxes have it; pushes are pending.');
});

test('distribution receipts has each device, or those in a state', async () => {
  const a = await registerAt(store, 'a', fcm('secret'));
  await registerAt(store, 'b', fcm('secret'));
  const { id } = await serve(store, providerId);
  await store.acknowledge(a, [{ id, state: 'opened', detail: null }], NOW_MS);
  const list = (...more: string[]) => line.run('distribution', 'receipts', `${id}`, ...more);
  const { stdout } = await list();
  expect(stdout).toMatch(/^HWID +DEVICE +STATE +SINCE +CARRIED +PUSH +WHY$/m);
  expect(stdout).toMatch(/^a +Pixel 9 +received +/m);
  const hwidsOf = ({ stdout: text }: { stdout: string }) =>
    JSON.parse(text).map(({ hwid }: { hwid: string }) => hwid);
  expect(hwidsOf(await list('--json'))).toEqual(['b', 'a']);
  expect(hwidsOf(await list('--json', '--only', 'waiting'))).toEqual(['b']);
  expect(hwidsOf(await list('--json', '--only', 'opened'))).toEqual(['a']);
  expect(hwidsOf(await list('--json', '--all'))).toEqual(['b', 'a']);
  const first = await list('--json', '--limit', '1');
  expect([hwidsOf(first), first.stderr]).toEqual([
    ['b'],
    'the first 1 device: --all or --limit shows more\n',
  ]);
  expect((await line.run('distribution', 'receipts', '99')).code).toBe(1);
});

test('device show names the gateway, or why there is none, and no address', async () => {
  await registerAt(store, 'a', fcm('secret address'), { locale: 'fa' });
  const show = () => shown('device', 'show', 'a');
  expect(await show()).toMatch(/^PUSHED BY +LOCALE +DROPPED AT +WHY$/m);
  expect(await show()).toMatch(/^fcm +fa *$/m);
  await serve(store, providerId);
  const { id: destinationId } = await claimOne(store);
  const [push] = await pushesAt(store, destinationId);
  const { id: tokenId = 0, push: address } = push?.token ?? {};
  await store.settleDispatches(
    { destinationId, owner: 'one', nowMs: NOW_MS, leaseMs: 30_000 },
    [
      {
        id: push?.id ?? 0,
        outcome: 'dead',
        problem: 'UNREGISTERED',
        tokenId,
        push: address ?? fcm(''),
        asOfMs: null,
      },
    ],
    { failureCount: 0, failingSinceMs: null, retryAtMs: 0, stoppedAtMs: null, problem: null },
    null,
  );
  expect(await show()).toMatch(/^none +fa +2\S+Z +UNREGISTERED$/m);
  expect(await show()).not.toContain('secret');
  expect(JSON.parse(await shown('device', 'show', 'a', '--json')).registrations).toEqual([
    {
      locale: 'fa',
      push: null,
      push_dropped_at: expect.stringMatching(/Z$/),
      push_dropped_why: 'UNREGISTERED',
    },
  ]);
});
