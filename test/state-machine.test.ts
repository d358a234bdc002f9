/** The law of the states is said three times: in the core, in the database and in a document. */

import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { CREATED, isTerminal, STATUS_NAMES, TRANSITIONS } from '../src/core/message/status.ts';
import { openEngine } from './support/delivery.ts';
import { readText } from './support/tree.ts';

const STATUSES = Object.keys(TRANSITIONS).map(Number);
const PAIRS = Object.entries(TRANSITIONS)
  .flatMap(([from, all]) => all.map((to) => `${from} > ${to}`))
  .sort();

const engine = await openEngine();
afterAll(() => engine.close());

test('there are the eleven statuses of the specification, five of them final', () => {
  expect(STATUSES).toEqual([5, 6, 10, 20, 30, 40, 100, 110, 120, 130, 140]);
  expect(STATUSES.filter(isTerminal)).toEqual([100, 110, 120, 130, 140]);
  expect(Object.keys(STATUS_NAMES).map(Number)).toEqual(STATUSES);
});

describe('the database', () => {
  test('has the same table', () => {
    const rows = engine.db
      .query<{ pair: string }, []>(
        "SELECT from_status || ' > ' || to_status AS pair FROM distribution_transition",
      )
      .all();
    expect(rows.map((row) => row.pair).sort()).toEqual(PAIRS);
  });

  /** The part of the real schema that is about distributions, with those whose they are. */
  function copyOfSchema(): Database {
    const db = new Database(':memory:', { strict: true });
    const schema = engine.db
      .query<{ sql: string }, []>(
        `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL
           AND (tbl_name LIKE 'distribution%' OR name = 'provider')`,
      )
      .all();
    for (const { sql } of schema) db.run(sql);
    const allow = db.prepare('INSERT INTO distribution_transition VALUES (?, ?)');
    const rows = engine.db.query('SELECT * FROM distribution_transition').values();
    for (const row of rows) allow.run(...(row as [number, number]));
    return db;
  }

  /** A distribution that was brought to a status past the trigger. */
  function at(db: Database, status: number): void {
    db.run('DELETE FROM distribution');
    db.run(`INSERT INTO distribution (id, provider_id, notification_type, status, target_hwid,
      payload, created_at_ms, due_at_ms, reaches_unbound, expires_at_ms)
      VALUES (1, 1, 10, 10, '', '{}', 0, 0, 0, 0)`);
    const trigger = db
      .query<{ sql: string }, []>("SELECT sql FROM sqlite_schema WHERE name = 'distribution_moved'")
      .get();
    db.run('DROP TRIGGER distribution_moved');
    db.run('UPDATE distribution SET status = ?', [status]);
    db.run(trigger?.sql ?? '');
  }

  const all = STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const));

  test.each(all)('%d to %d: as the table says', (from, to) => {
    const db = copyOfSchema();
    at(db, from);
    const move = () => db.run('UPDATE distribution SET status = ?', [to]);
    const isAllowed = from === to || TRANSITIONS[from]?.includes(to) === true;
    if (isAllowed) move();
    else expect(move).toThrow('no such transition');
    const { status } = db.query('SELECT status FROM distribution').get() as { status: number };
    expect(status).toBe(isAllowed ? to : from);
    db.close();
  });

  test.each(STATUSES)('%d as the first status: only Created', (status) => {
    const add = () =>
      engine.db.run(
        `INSERT INTO distribution (provider_id, notification_type, status, target_hwid, payload,
           created_at_ms, due_at_ms, reaches_unbound, expires_at_ms)
         VALUES (999, 10, ?, '', '{}', 0, 0, 0, 0)`,
        [status],
      );
    // A provider that does not exist stops the one that the trigger lets through.
    expect(add).toThrow(status === CREATED ? 'FOREIGN KEY' : 'begins as 10 Created');
  });

  test.each([0, 7, 50, 150, -10])('a status that does not exist is refused: %d', (status) => {
    const db = copyOfSchema();
    at(db, CREATED);
    db.run('DROP TRIGGER distribution_moved');
    const move = () => db.run('UPDATE distribution SET status = ?', [status]);
    expect(move).toThrow('CHECK constraint failed: distribution_status');
    db.close();
  });
});

describe('docs/inside/state-machine.md', () => {
  const document = readText('docs/inside/state-machine.md');

  test('the diagram has the same arrows', () => {
    const arrows = [...document.matchAll(/^ {2}s(\d+) --> s(\d+): /gm)];
    expect(arrows.map(([, from, to]) => `${from} > ${to}`).sort()).toEqual(PAIRS);
    const ends = [...document.matchAll(/^ {2}s(\d+) --> \[\*\]$/gm)].map(([, from]) =>
      Number(from),
    );
    expect(ends).toEqual(STATUSES.filter(isTerminal));
    const names = [...document.matchAll(/^ {2}s(\d+): (\d+) (.+)$/gm)];
    const named = Object.fromEntries(names.map(([, , status, name]) => [Number(status), name]));
    expect(named).toEqual({ ...STATUS_NAMES });
  });

  test('the table has the same names', () => {
    const rows = [...document.matchAll(/^\| (\d+) \| ([^|]+) \| [^|]+ \|$/gm)];
    const named = Object.fromEntries(rows.map(([, status, name]) => [Number(status), name]));
    expect(named).toEqual({ ...STATUS_NAMES });
  });

  test('every move has an actor', () => {
    const who = document.split('## Who moves it')[1]?.split('Every move')[0] ?? '';
    const moves = [...who.matchAll(/(\d+) to (\d+)/g)].map(([, from, to]) => `${from} > ${to}`);
    expect([...new Set(moves)].sort()).toEqual(PAIRS);
  });
});
