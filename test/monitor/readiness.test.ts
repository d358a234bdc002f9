/** `/readyz`: what it takes to be ready, and how little asking for it costs. */

import { beforeEach, describe, expect, test } from 'bun:test';
import { makeLog } from '../../src/base/log.ts';
import { WriteFailed } from '../../src/core/port/store.ts';
import { Readiness } from '../../src/monitor/readiness.ts';
import { FakeClock } from '../support/clock.ts';

const DISK_FULL = new WriteFailed('the commit failed', {
  cause: new Error('database or disk is full'),
});

let clock: FakeClock;
let lines: { level: string; event: string }[];
let writes: number;
/** How the next write ends. */
let write: () => Promise<'ok' | 'schema_changed'>;
let readiness: Readiness;

beforeEach(() => {
  clock = new FakeClock();
  lines = [];
  writes = 0;
  write = async () => 'ok';
  const checkWritable = () => {
    writes += 1;
    return write();
  };
  const log = makeLog({ logFormat: 'json', logLevel: 'info' }, clock.nowMs, (line) =>
    lines.push(JSON.parse(line)),
  );
  readiness = new Readiness({ checkWritable }, clock, log);
});

describe('readiness', () => {
  test('begins when the server listens, and ends with the order to stop', async () => {
    expect(await readiness.problem()).toMatchObject({ reason: 'starting' });
    readiness.serving();
    expect(await readiness.problem()).toBeNull();
    readiness.stopping();
    expect(await readiness.problem()).toMatchObject({ reason: 'stopping' });
  });

  test('is asked of the database every five seconds, however many want to know', async () => {
    readiness.serving();
    await Promise.all(Array.from({ length: 50 }, () => readiness.problem()));
    clock.advance(4_999);
    await readiness.problem();
    expect(writes).toBe(1);
    clock.advance(1);
    await readiness.problem();
    expect(writes).toBe(2);
  });

  test('is lost when nothing can be saved, in the words of the database, and comes back', async () => {
    readiness.serving();
    write = () => Promise.reject(DISK_FULL);
    const full = { reason: 'database_not_writable', detail: 'database or disk is full' } as const;
    expect(await readiness.problem()).toEqual(full);
    clock.advance(1_000);
    expect(await readiness.problem()).toEqual(full);
    expect(writes).toBe(2);
    clock.advance(999);
    write = async () => 'ok';
    expect(await readiness.problem()).toEqual(full);
    clock.advance(1);
    expect(await readiness.problem()).toBeNull();
    expect(lines.map(({ level, event }) => `${level} ${event}`)).toEqual([
      'warn not_ready',
      'info ready_again',
    ]);
  });

  test('is lost when a newer version has changed the database', async () => {
    readiness.serving();
    write = async () => 'schema_changed';
    expect(await readiness.problem()).toMatchObject({ reason: 'schema_changed' });
  });

  test('is lost when a write takes longer than three seconds', async () => {
    readiness.serving();
    write = () => new Promise(() => {});
    const asked = readiness.problem();
    clock.advance(3_000);
    expect(await asked).toMatchObject({ reason: 'database_not_writable' });
  });
});
