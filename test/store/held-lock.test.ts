/** Locks that other processes hold: which fault callers get, and who is named. */

import { Database as File } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeLog, reasonOf } from '../../src/base/log.ts';
import { failureOf } from '../../src/cli/refusal.ts';
import { isAway, isBusy, type Store, WriteFailed } from '../../src/core/port/store.ts';
import { describeLock } from '../../src/disk/lock-holder.ts';
import { Outages } from '../../src/monitor/outages.ts';
import { Troubles } from '../../src/store/troubles.ts';
import { ACT } from '../support/actor.ts';
import { freshPlace } from '../support/app.ts';
import { holdDatabase, holdFile } from '../support/held-database.ts';
import { openPlace, STORE } from '../support/place.ts';
import { until } from '../support/until.ts';
import { faultOf } from '../support/writer-database.ts';
import { addProvider } from './contract/fixture.ts';

const nameOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();

type Place = Awaited<ReturnType<typeof freshPlace>>;

describe('a database that another process holds', () => {
  let at: Place;
  let store: Store;
  const lines: string[] = [];

  beforeAll(async () => {
    at = await freshPlace();
    const settings = { logFormat: 'human', logLevel: 'info' } as const;
    const log = makeLog(
      settings,
      () => 0,
      (line) => lines.push(line),
    );
    const { onAway, onTrouble } = new Outages(log);
    store = await openPlace(at.place, { onAway, onTrouble });
  });
  afterAll(async () => {
    await store.close();
    await at.drop();
  });

  test('a write fails as busy, which names the holder; the log has it once, without a stack', async () => {
    await addProvider(store, 'Provide1');
    const looked = { dataDir: at.place.dataDir, database: at.database };
    const held = await holdDatabase(looked);
    const whose = STORE === 'sqlite' ? `(${nameOf(held.pid)})` : 'of PostgreSQL (another/node)';
    const write = () => store.updateProvider('Provide1', { name: 'other' }, ACT);
    const faults = await Promise.all([write(), write()].map(faultOf));
    expect((await store.findProvider('Provide1'))?.name).not.toBe('other');
    await held.release();
    for (const fault of faults) {
      expect(fault).toBeInstanceOf(WriteFailed);
      expect([isBusy(fault), isAway(fault)]).toEqual([true, true]);
      expect(reasonOf(fault)).toContain(`process ${held.pid} ${whose} holds`);
      expect(reasonOf(fault)).not.toContain('\n    at ');
    }
    expect(failureOf(faults[0])).toMatchObject({
      code: 'locked',
      message: expect.stringMatching(
        /^database is busy: .* holds (its|a) lock; try again in a moment$/,
      ),
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`warn database_busy problem="`);
    expect(lines[0]).toContain(`process ${held.pid} `);
    await write();
    expect((await store.findProvider('Provide1'))?.name).toBe('other');
  });
});

describe.skipIf(STORE !== 'sqlite')('SQLite', () => {
  test('names a process that is stopped, and one that has the file for itself', async () => {
    const at = await freshPlace();
    const { dataDir } = at.place;
    const file = join(dataDir, 'gatepost.db');
    const held = await holdDatabase({ dataDir, database: null });
    const who = `process ${held.pid} (${nameOf(held.pid)}`;
    expect(describeLock(file)).toBe(`${who}) holds its lock`);
    process.kill(held.pid, 'SIGSTOP');
    await until('it stops', () => describeLock(file) === `${who}, stopped) holds its lock`);
    await held.release();
    expect(describeLock(file)).toBe('another process holds its lock');
    rmSync(dataDir, { recursive: true });
  });

  test('names neither a process that only reads, nor itself', async () => {
    const at = await freshPlace();
    const { dataDir } = at.place;
    const file = join(dataDir, 'gatepost.db');
    const own = new File(file);
    own.run('BEGIN IMMEDIATE');
    const reader = await holdFile(dataDir, 'BEGIN; SELECT count(*) FROM provider');
    expect(describeLock(file)).toBe('another process holds its lock');
    await reader.release();
    own.close();
    rmSync(dataDir, { recursive: true });
  });

  test('does not open a file that another process has for itself, in one sentence', async () => {
    const at = await freshPlace();
    const { dataDir } = at.place;
    const own = new File(join(dataDir, 'gatepost.db'));
    own.run('PRAGMA locking_mode = EXCLUSIVE');
    own.query('SELECT count(*) FROM provider').get();
    const opened = await faultOf(openPlace(at.place));
    own.close();
    expect(failureOf(opened)).toMatchObject({
      code: 'locked',
      message: 'database is busy: another process holds its lock; try again in a moment',
    });
    rmSync(dataDir, { recursive: true });
  });
});

test('each trouble is reported once a minute, and each call gets its fault', () => {
  const told: string[] = [];
  const troubles = new Troubles(
    () => null,
    (trouble, problem) => told.push(`${trouble}: ${problem}`),
  );
  const faults = [troubles.busy('one'), troubles.busy('two'), troubles.full('three')];
  expect(faults.map(({ message }) => message)).toEqual(['one', 'two', 'three']);
  expect(told).toEqual(['busy: one', 'full: three']);
});
