/** A write while another process has the lock: it waits by timers, in turn, and not for ever. */

import { describe, expect, test } from 'bun:test';
import { WriteFailed } from '../../src/core/port/store.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { GroupWriter, type WriterOptions } from '../../src/store/sqlite/writer.ts';
import { until } from '../support/until.ts';
import { faultOf, writerDatabase } from '../support/writer-database.ts';

const at = writerDatabase();

describe('while another process holds the database', () => {
  /** A writer whose clock and pauses are moved by hand. */
  function byHand(options: WriterOptions = {}) {
    const pauses: { run: () => void; ms: number }[] = [];
    const clock = { ms: 0 };
    const writer = new GroupWriter(new Connection(at.db), 100, {
      ...options,
      steadyMs: () => clock.ms,
      later: (run, ms) => void pauses.push({ run, ms }),
    });
    const paused = (count: number) =>
      until(`it paused ${count} times`, () => pauses.length >= count);
    const goOn = () => pauses.at(-1)?.run();
    return { writer, clock, pauses, paused, goOn };
  }

  test.each([
    ['refused', () => undefined],
    ['done', () => at.beside.run('COMMIT')],
  ])('the next one waits as long again after one that was %s', async (_, free) => {
    const { writer, clock, pauses, paused, goOn } = byHand({ lockWaitMaxMs: 10_000 });
    at.beside.run('BEGIN IMMEDIATE');
    const first = faultOf(writer.run(() => at.add(1)));
    await paused(1);
    free();
    clock.ms += 10_000;
    goOn();
    await first;
    if (!at.beside.inTransaction) at.beside.run('BEGIN IMMEDIATE');
    clock.ms += 1;
    const second = writer.run(() => at.add(2));
    await paused(2);
    clock.ms += 9_999;
    goOn();
    expect(pauses.length).toBe(3);
    at.beside.run('COMMIT');
    goOn();
    await second;
    expect(at.visible()).toContain(2);
  });

  test('requests are told each time that it was not to be had', async () => {
    let knocks = 0;
    const request = () => {
      knocks += 1;
    };
    const requests = { request, takeRequest: () => false };
    const { writer, pauses, paused, goOn } = byHand({ requests });
    at.beside.run('BEGIN IMMEDIATE');
    const write = writer.run(() => at.add(1));
    await paused(1);
    goOn();
    expect([knocks, pauses.length]).toEqual([2, 2]);
    for (const { ms } of pauses) expect(ms).toBeWithin(1, 3);
    at.beside.run('COMMIT');
    goOn();
    await write;
  });

  test('a writer without pauses leaves a gap for who waits, longer than that one pauses', async () => {
    let isWaiting = true;
    const requests = { request: () => undefined, takeRequest: () => isWaiting };
    const { writer, clock, pauses, paused, goOn } = byHand({ requests });
    const write = (n: number) =>
      writer.run(() => {
        at.add(n);
        clock.ms += 20;
      });
    await write(1);
    const second = write(2);
    await paused(1);
    expect(at.visible()).toEqual([1]);
    expect(pauses[0]?.ms).toBeGreaterThan(3);
    goOn();
    await second;
    isWaiting = false;
    await write(3);
    // Somebody who knocked long ago has had gaps enough.
    isWaiting = true;
    clock.ms += 1_000;
    await write(4);
    expect(pauses.length).toBe(1);
  });

  test('in a hurry, what has no lock at once is refused', async () => {
    const { writer, pauses, paused, goOn } = byHand();
    at.beside.run('BEGIN IMMEDIATE');
    const first = faultOf(writer.run(() => at.add(1)));
    await paused(1);
    writer.limitWait();
    goOn();
    expect(await first).toBeInstanceOf(WriteFailed);
    expect(await faultOf(writer.run(() => at.add(2)))).toBeInstanceOf(WriteFailed);
    expect(pauses.length).toBe(1);
    at.beside.run('ROLLBACK');
    await writer.run(() => at.add(3));
    expect(at.visible()).toEqual([3]);
  });

  test('a write waits, and the event loop goes on', async () => {
    const writer = new GroupWriter(new Connection(at.db), 100);
    at.beside.run('BEGIN IMMEDIATE');
    let isDone = false;
    const write = writer
      .run(() => at.add(1))
      .then(() => {
        isDone = true;
      });
    let turns = 0;
    await until('the event loop has turned often', () => {
      turns += 1;
      return turns > 50;
    });
    expect(isDone).toBe(false);
    at.beside.run('COMMIT');
    await write;
    expect(at.visible()).toEqual([1]);
  });

  test('the order of writes stays', async () => {
    const writer = new GroupWriter(new Connection(at.db), 2);
    at.beside.run('BEGIN IMMEDIATE');
    const order: number[] = [];
    const write = (n: number) => writer.run(() => order.push(n));
    const early = [1, 2, 3].map(write);
    let turns = 0;
    await until('the lock was tried for', () => {
      turns += 1;
      return turns > 10;
    });
    const late = [4, 5].map(write);
    at.beside.run('ROLLBACK');
    await Promise.all([...early, ...late]);
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  test('for too long: it is refused, and later ones work', async () => {
    const writer = new GroupWriter(new Connection(at.db), 100, { lockWaitMaxMs: 20 });
    at.beside.run('BEGIN IMMEDIATE');
    const fault = (await faultOf(writer.run(() => at.add(1)))) as WriteFailed;
    expect(fault).toBeInstanceOf(WriteFailed);
    expect(fault.message).toBe('the database could not be locked for writing');
    // Nothing is left to be done, so that a stop need not wait for the lock.
    await writer.idle();
    at.beside.run('ROLLBACK');
    await writer.run(() => at.add(2));
    expect(at.visible()).toEqual([2]);
  });
});
