/** Looks into the inboxes of many streams at once, with a store that tells nothing by itself. */

import { expect, test } from 'bun:test';
import type { Core } from '../../src/core/core.ts';
import type { AuthenticDevice } from '../../src/core/device.ts';
import type { Glance } from '../../src/core/port/inbox.ts';
import { Signals } from '../../src/core/signals.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { Turns } from '../../src/http/bound/turns.ts';
import { DeviceStream } from '../../src/http/stream/device-stream.ts';
import { Looks } from '../../src/http/stream/looks.ts';
import { until } from '../support/until.ts';

interface Look {
  ids: number[];
  answer(glances: Glance[]): void;
  fail(fault: Error): void;
}

function start() {
  const naps: { ms: number; end(): void }[] = [];
  const sleep = (ms: number) => new Promise<void>((end) => void naps.push({ ms, end }));
  const clock = { steadyNowMs: 0, nowMs: () => 0, steadyMs: () => clock.steadyNowMs, sleep };
  const open: Look[] = [];
  const said: [number, string][] = [];
  const glanceInboxes = (devices: readonly AuthenticDevice[]) =>
    new Promise<Glance[]>((answer, fail) => {
      open.push({ ids: devices.map(({ id }) => id), answer, fail });
    });
  const onBehalfOf = (_party: unknown, _nameOf: unknown, work: () => unknown) => work();
  const leastMs = (atMs: number) => atMs;
  const core = { store: { glanceInboxes, onBehalfOf }, signals: new Signals(), leastMs };
  const turns = new Turns(clock as never);
  const looks = new Looks({ core: core as unknown as Core, clock: clock as never, turns });
  const looker = (id: number) => ({
    device: { id } as AuthenticDevice,
    found: (glance: Glance) => said.push([id, String(glance)]),
    missed: (fault: unknown) => said.push([id, String(fault)]),
  });
  /** Answers a look. */
  const end = async (look: Look | undefined) => {
    look?.answer(look.ids.map(() => 'more'));
    await nextTurn();
  };
  return { clock, naps, open, said, looks, looker, end };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

test('looks have 64 streams each, in the order in which they came, and three are in flight', async () => {
  const { open, said, looks, looker, end } = start();
  for (const id of range(0, 300)) looks.add(looker(id));
  await until('three are in flight', () => open.length === 3);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(open.map(({ ids }) => ids)).toEqual([range(0, 64), range(64, 128), range(128, 192)]);
  await end(open[1]);
  await until('the next goes', () => open.length === 4);
  for (const look of [open[0], open[2], open[3]]) await end(look);
  await until('the last goes', () => open.length === 5);
  await end(open[4]);
  expect(said.map(([id]) => id).sort((a, b) => a - b)).toEqual(range(0, 300));
});

test('a stream that closed is not looked for', async () => {
  const { open, looks, looker } = start();
  const [stays, leaves] = [looker(1), looker(2)];
  looks.add(stays);
  looks.add(leaves);
  looks.remove(leaves);
  await until('it looks', () => open.length > 0);
  expect(open.map(({ ids }) => ids)).toEqual([[1]]);
});

test('a fault is told to each stream of the look, and the next look goes on', async () => {
  const { open, said, looks, looker, end } = start();
  for (const id of range(0, 65)) looks.add(looker(id));
  await until('both are in flight', () => open.length === 2);
  open[0]?.fail(new Error('no database'));
  await end(open[1]);
  await until('all know', () => said.length === 65);
  expect(said.filter(([, text]) => text === 'Error: no database')).toHaveLength(64);
  looks.add(looker(99));
  await until('it looks', () => open.length === 3);
  expect(open[2]?.ids).toEqual([99]);
});

test('acknowledgements rest until no stream waits, a quarter of a second at most', async () => {
  const { clock, open, looks, looker, end } = start();
  expect(await looks.save(async () => 'saved')).toBe('saved');
  for (const id of range(0, 4 * 64)) looks.add(looker(id));
  await until('three are in flight', () => open.length === 3);
  let restedCount = 0;
  const rest = () => void looks.save(async () => (restedCount += 1));
  rest();
  clock.steadyNowMs = 249;
  await end(open[0]);
  await until('the last goes', () => open.length === 4);
  for (const id of range(300, 400)) looks.add(looker(id));
  await end(open[1]);
  expect(restedCount).toBe(0);
  clock.steadyNowMs = 250;
  for (const id of range(400, 500)) looks.add(looker(id));
  await end(open[2]);
  expect(restedCount).toBe(1);
  rest();
  for (let n = 3; n < 7; n += 1) {
    await until('a look goes', () => open.length > n);
    await end(open[n]);
  }
  await until('all rested', () => restedCount === 2);
});

test('acknowledgements do not wait for looks that the database does not answer', async () => {
  const { naps, open, looks, looker } = start();
  for (const id of range(0, 4 * 64)) looks.add(looker(id));
  await until('three are in flight', () => open.length === 3);
  const saves = range(0, 10).map((n) => looks.save(async () => n));
  expect(naps.map(({ ms }) => ms)).toEqual([250]);
  naps[0]?.end();
  expect(await Promise.all(saves)).toEqual(range(0, 10));
  expect(open).toHaveLength(3);
});

test('a bounded number of acknowledgements is saved at a time, in their order', async () => {
  const { looks } = start();
  const begun: number[] = [];
  const first = Promise.withResolvers<void>();
  const saves = range(0, 1000).map((n) =>
    looks.save(async () => {
      begun.push(n);
      await first.promise;
      if (n === 3) throw new Error('no database');
    }),
  );
  await nextTurn();
  expect(begun).toEqual(range(0, 512));
  first.resolve();
  const ended = await Promise.allSettled(saves);
  expect(ended.map(({ status }) => status).indexOf('rejected')).toBe(3);
  expect(begun).toEqual(range(0, 1000));
});

test('a stream saves what its device acknowledged after the looks, and leaves them when it closes', async () => {
  const saved: number[] = [];
  const looking = new Set<unknown>();
  const rest = Promise.withResolvers<void>();
  const looks: Record<keyof Looks, (...given: never[]) => unknown> = {
    add: (stream: unknown) => looking.add(stream),
    addLater: (stream: unknown) => looking.add(stream),
    remove: (stream: unknown) => looking.delete(stream),
    save: (work: () => unknown) => rest.promise.then(work),
  };
  const acknowledge = async (_device: unknown, items: readonly { id: number }[]) => {
    saved.push(...items.map(({ id }) => id));
    return items;
  };
  const core = { store: { acknowledge }, signals: new Signals() };
  const clock = { nowMs: () => 0, steadyMs: () => 0 };
  const device = { id: 1 } as AuthenticDevice;
  const socket = { send: () => 1, close: () => {} };
  const stream = new DeviceStream(device, socket as never, { core, clock, looks } as never);
  stream.open();
  expect(looking).toEqual(new Set([stream]));
  const receiving = stream.receive('{"items":[{"id":7,"state":"received"}]}');
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(saved).toEqual([]);
  rest.resolve();
  await receiving;
  expect(saved).toEqual([7]);
  stream.close();
  expect(looking.size).toBe(0);
});
