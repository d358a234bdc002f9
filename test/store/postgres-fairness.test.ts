/** Parties that wait for PostgreSQL: one that has any number of calls holds up no other. */

import { afterEach, beforeAll, expect, spyOn, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { isBusy, StoreBusy } from '../../src/core/port/store.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { TurnGroup } from '../../src/store/postgres/group.ts';
import { onBehalfOf } from '../../src/store/postgres/party.ts';
import { prepare } from '../../src/store/postgres/statement.ts';
import { describePostgres } from '../support/needs.ts';
import { type Postgres, sharedPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const sleep = prepare(sql`SELECT pg_sleep(:seconds::float8)`);
/** Far longer than a busy machine needs to pass a call on. */
const A_MOMENT = { seconds: 0.1 };

describePostgres('parties at PostgreSQL', () => {
  let server: Postgres;
  const opened: Database[] = [];
  const told: string[] = [];

  beforeAll(async () => {
    server = await sharedPostgres();
  });
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close();
    told.length = 0;
  });

  function open(connections: number): Database {
    const db = new Database({
      host: '127.0.0.1',
      port: server.port,
      socket: null,
      user: 'postgres',
      database: 'postgres',
      password: () => null,
      tls: null,
      isPooled: false,
      node: 'one',
      statementMs: 20_000,
      connections,
      onAway: (problem) => told.push(problem),
    });
    opened.push(db);
    return db;
  }

  /** Has the party `a` make so many calls, and then `b` one; how many of `a` were served first. */
  async function servedBefore(count: number, call: () => Promise<unknown>): Promise<number> {
    let served = 0;
    const ofA = Array.from({ length: count }, () => onBehalfOf('a', String, call));
    for (const each of ofA) {
      each.then(
        () => {
          served += 1;
        },
        () => undefined,
      );
    }
    await onBehalfOf('b', String, call);
    const before = served;
    await Promise.allSettled(ofA);
    return before;
  }

  test('a transaction waits for none of those that another party has waiting', async () => {
    const db = open(6);
    const call = () => db.within((mine) => db.transaction((on) => sleep.get(on, A_MOMENT), mine));
    // Two of the three connections are the first party's; the third is free all the time.
    expect(await servedBefore(40, call)).toBeLessThanOrEqual(4);
    expect(told).toEqual([]);
  });

  test('a statement waits for none of those that another party has waiting', async () => {
    const db = open(6);
    expect(await servedBefore(60, () => sleep.get(db, A_MOMENT))).toBeLessThanOrEqual(24);
    expect(told).toEqual([]);
  });

  test('a grouped call goes with the next run, and never behind two of another party', async () => {
    const db = open(6);
    const group = new TurnGroup<number, number>(db, {
      itemsMax: 4,
      run: async (items) => {
        await sleep.get(db, A_MOMENT);
        return items;
      },
    });
    expect(await servedBefore(60, () => group.ask(1))).toBeLessThanOrEqual(2 * 4);
  });

  test('a party that fills a group leaves one of its runs to others', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const group = new TurnGroup<string, string>(open(2), {
      itemsMax: 1,
      inFlightMax: 3,
      run: async (items) => {
        begun.push(...items);
        await new Promise<void>((resolve) => ends.push(resolve));
        return items;
      },
    });
    const ask = (party: string) => onBehalfOf(party, String, () => group.ask(party));
    const asked = ['a', 'a', 'a', 'a'].map(ask);
    for (let turns = 0; turns < 5; turns++) await nextTurn();
    expect(begun).toEqual(['a', 'a']);
    asked.push(ask('b'));
    await until('the run of b begins', () => begun.includes('b'));
    expect(begun).toEqual(['a', 'a', 'b']);
    await until('all have ended', () => {
      for (const end of ends.splice(0)) end();
      return begun.length === 5;
    });
    for (const end of ends) end();
    await Promise.all(asked);
  });

  test('a run takes one call of each party in turn', async () => {
    const db = open(2);
    const runs: string[][] = [];
    const group = new TurnGroup<string, string>(db, {
      itemsMax: 3,
      inFlightMax: 1,
      run: async (items) => {
        runs.push([...items]);
        return items;
      },
    });
    const ask = (party: string) => onBehalfOf(party, String, () => group.ask(party));
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'c'].map(ask));
    expect(runs).toEqual([
      ['a', 'b', 'c'],
      ['a', 'a', 'a'],
    ]);
  });

  test('of too many calls those of the party that has them are refused, as busy', async () => {
    const db = open(6);
    const kinds = {
      statement: () => sleep.get(db, { seconds: 0 }),
      transaction: () =>
        db.within((mine) => db.transaction((on) => sleep.get(on, { seconds: 0 }), mine)),
    };
    for (const call of Object.values(kinds)) {
      const ofA = Array.from({ length: 4_500 }, () => onBehalfOf('a', String, call));
      const settled = Promise.allSettled(ofA);
      const others = Array.from({ length: 20 }, (_, n) => onBehalfOf(`b${n}`, String, call));
      await Promise.all(others);
      const refused = (await settled).flatMap((each) =>
        each.status === 'rejected' ? [each.reason] : [],
      );
      expect(refused.length).toBeGreaterThan(100);
      expect(refused.every((fault) => fault instanceof StoreBusy && isBusy(fault))).toBe(true);
      expect(String(refused[0])).toBe('StoreBusy: too many calls wait for the database');
    }
    expect(told).toEqual([]);
  });

  test('the party is the one of the call, however it goes on', async () => {
    const db = open(2);
    const seen: string[] = [];
    const party = () => {
      seen.push('asked');
      return 'a';
    };
    await onBehalfOf(null, party, async () => {
      await sleep.get(db, { seconds: 0 });
      await new Promise((resolve) => setImmediate(resolve));
      await sleep.get(db, { seconds: 0 });
    });
    // Once: a client's address is gone when the client is.
    expect(seen).toEqual(['asked']);
  });

  test('the timer of a group ends when the database is closed', async () => {
    const timers = new Set<unknown>();
    const set = spyOn(globalThis, 'setTimeout');
    const clear = spyOn(globalThis, 'clearTimeout');
    try {
      const ends: (() => void)[] = [];
      const home = { callMs: 600_000, onClose: (end: () => void) => void ends.push(end) };
      const group = new TurnGroup<number, number>(home, {
        itemsMax: 1,
        run: (items) => Promise.resolve(items),
      });
      await group.ask(1);
      set.mock.calls.forEach(([, ms], n) => {
        if (ms === 600_000) timers.add(set.mock.results[n]?.value);
      });
      expect(timers.size).toBe(1);
      for (const end of ends) end();
      for (const [timer] of clear.mock.calls) timers.delete(timer);
      expect(timers.size).toBe(0);
    } finally {
      set.mockRestore();
      clear.mockRestore();
    }
  });
});
