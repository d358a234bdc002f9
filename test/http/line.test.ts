/** Places and the line before them: who gets one, who waits, who is turned away. */

import { expect, test } from 'bun:test';
import { type Leave, Line } from '../../src/http/bound/line.ts';
import { PATIENCE_MS } from '../support/until.ts';

const BOUNDS = { placesMax: 4, waitingMax: 3, waitMaxMs: PATIENCE_MS };
const HERE = new AbortController().signal;

/** Enters so many times; those that must have a place. */
async function hold(line: Line, caller: string, count: number): Promise<Leave[]> {
  const places = Array.from({ length: count }, () => line.enter(caller, HERE));
  return (await Promise.all(places)).map((leave) => {
    if (leave === null) throw new Error(`${caller} has no place`);
    return leave;
  });
}

test('one caller has half of the places, and the others come in between', async () => {
  const line = new Line(() => BOUNDS);
  const [leave] = await hold(line, 'a', 2);
  const entered: string[] = [];
  const third = line.enter('a', HERE).then((place) => entered.push(`a ${typeof place}`));
  await hold(line, 'b', 2);
  expect(entered).toEqual([]);
  leave?.();
  await third;
  expect(entered).toEqual(['a function']);
});

test('who waited first comes first, and a place is given up once', async () => {
  const line = new Line(() => ({ ...BOUNDS, placesMax: 2 }));
  const [[first], [second]] = [await hold(line, 'a', 1), await hold(line, 'b', 1)];
  const entered: string[] = [];
  const waiting = ['c', 'd'].map(async (caller) => {
    const leave = await line.enter(caller, HERE);
    entered.push(caller);
    return leave;
  });
  first?.();
  first?.();
  await waiting[0];
  expect(entered).toEqual(['c']);
  second?.();
  await waiting[1];
  expect(entered).toEqual(['c', 'd']);
});

test('a line that is too long takes nobody more', async () => {
  const line = new Line(() => ({ ...BOUNDS, placesMax: 1, waitingMax: 1 }));
  const [leave] = await hold(line, 'a', 1);
  const waiting = line.enter('b', HERE);
  expect(await line.enter('c', HERE)).toBeNull();
  leave?.();
  expect(await waiting).not.toBeNull();
});

test('who waited too long has no place, and waits no more', async () => {
  const line = new Line(() => ({ placesMax: 1, waitingMax: 1, waitMaxMs: 20 }));
  const [leave] = await hold(line, 'a', 1);
  expect(await line.enter('b', HERE)).toBeNull();
  const next = line.enter('c', HERE);
  leave?.();
  expect(await next).not.toBeNull();
});

test('a caller who leaves waits no more, and who has left gets no place', async () => {
  const line = new Line(() => ({ placesMax: 1, waitingMax: 1, waitMaxMs: 3_600_000 }));
  const [leave] = await hold(line, 'a', 1);
  const controller = new AbortController();
  const waiting = line.enter('b', controller.signal);
  controller.abort();
  expect(await waiting).toBeNull();
  leave?.();
  expect(await line.enter('b', controller.signal)).toBeNull();
  await hold(line, 'c', 1);
});
