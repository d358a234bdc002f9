/** Forgeries of the audit log by an attacker who can write to the file and compute hashes. */

import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  auditBlocks,
  auditHead,
  hashOfBlock,
  headText,
  listAudit,
} from '../../../src/core/audit/chain.ts';
import { SYSTEM } from '../../../src/core/audit/entry.ts';
import { verifyAudit } from '../../../src/core/audit/verify.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { openBeside } from '../../support/database.ts';

const DAY_MS = 86_400_000;
const LINKS = 10;
const BOUNDS = { auditDays: 365, auditEntriesMax: 1_000_000 };

let app: TestApp;
/** Every head as it was noted each day, in order. */
let heads: string[];
beforeEach(async () => {
  app = await startTestApp();
  const own = await seedProvider(app, { code: 'Provide1' });
  heads = [await currentHead()];
  for (let n = 1; n < LINKS; n++) {
    app.clock.advance(DAY_MS);
    await call(app, '/api/add-install', own, { install_limit: n });
    heads.push(await currentHead());
  }
});
afterEach(() => app.close());

const currentHead = async () => headText((await auditHead(app.core)) ?? expect.unreachable());

const problem = async (expected: readonly string[] = [], bounds = BOUNDS) =>
  (await verifyAudit(app.core, { expected, nowMs: app.clock.nowMs(), ...bounds })).problem;

/** Changes the file without the program, which reads it again in the next turn. */
async function forge(work: (db: Database) => void): Promise<void> {
  await nextTurn();
  const db = openBeside(app.dataDir);
  try {
    work(db);
  } finally {
    db.close();
  }
}

interface Row {
  last_number: number;
  at_ms: number;
  prev_hash: Uint8Array;
  hash: Uint8Array;
}

const rowOf = (db: Database, number: number) =>
  db.query<Row, [number]>('SELECT * FROM audit WHERE last_number = ?').get(number) as Row;

/** A row like one of the program, with hashes that are right. */
function addRow(db: Database, number: number, prevHash: Uint8Array, list: readonly object[]): void {
  const entries = JSON.stringify(list);
  const hash = hashOfBlock({ number, prevHash, entries });
  const atMs = Date.parse((list.at(-1) as { at: string } | undefined)?.at ?? '') || 0;
  db.query('INSERT INTO audit VALUES (?, ?, ?, ?, ?)').run(number, atMs, prevHash, hash, entries);
}

const iso = (ms: number) => new Date(ms).toISOString();
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const { kind: who, name, from } = SYSTEM;

/** Deletes the rows up to `through` and leaves what the program leaves when it prunes. */
function cutBeginning(
  db: Database,
  through: number,
  more: { entry?: object; object?: object; newest?: number } = {},
): void {
  const { hash, at_ms } = rowOf(db, through);
  const { newest = LINKS } = more;
  const object = { entries: through, through, hash: hex(hash), until: iso(at_ms), ...more.object };
  const at = iso(app.clock.nowMs());
  const entry = { at, who, name, from, action: 'audit.prune', object, ...more.entry };
  addRow(db, newest + 1, rowOf(db, newest).hash, [entry]);
  db.query('DELETE FROM audit WHERE last_number <= ?').run(through);
  db.query('INSERT OR REPLACE INTO audit_anchor VALUES (1, ?, ?, ?)').run(
    through,
    hash,
    Date.parse(object.until),
  );
}

describe('a beginning that was cut off, with an anchor and an entry of one’s own', () => {
  test('is found: the settings keep what is said to have been pruned', async () => {
    await forge((db) => cutBeginning(db, 4));
    const sentence =
      'block 11 records that entries up to 4, of 2026-11-23T12:00:00.000Z, were pruned';
    expect(await problem()).toStartWith(sentence);
    expect(await problem([heads[7] as string])).toStartWith(sentence);
    // Had the settings been others, the program would have done so.
    expect(await problem([], { ...BOUNDS, auditDays: 5 })).toBeNull();
  });

  test('is found when it lies about their age, if a head of those days was noted', async () => {
    const until = iso(app.clock.nowMs() - 366 * DAY_MS);
    await forge((db) => cutBeginning(db, 4, { object: { until } }));
    for (const [at, head] of heads.entries()) {
      const found = await problem([heads[9] as string, head]);
      if (at >= 4) expect(found).toBeNull();
      else expect(found).toStartWith(`${head} was pruned and cannot be verified any more`);
    }
  });

  test.each([
    ['by an operator', { entry: { who: 'operator', name: 'root' } }, 'the program did not do'],
    ['from elsewhere', { entry: { from: 'ssh 203.0.113.5' } }, 'the program did not do'],
    ['in the future', { entry: { at: '2099-01-01T00:00:00.000Z' } }, 'in the future'],
    [
      'of more than there were',
      { object: { entries: 5 } },
      'does not continue from the earlier one',
    ],
    ['of none', { object: { entries: 0 } }, 'does not continue from the earlier one'],
    ['of a text', { object: { entries: 'x' } }, 'does not continue from the earlier one'],
    ['of no time', { object: { until: 'x' } }, 'entries up to 4, of x'],
  ])('is found when the entry about pruning is %s', async (_, more, sentence) => {
    await forge((db) => {
      const until = iso(app.clock.nowMs() - 366 * DAY_MS);
      const object = { until, ...('object' in more ? more.object : {}) };
      // The anchor has a number where the entry has none.
      cutBeginning(db, 4, { ...more, object: { ...object, until } });
      if (object.until !== until) {
        db.query('DELETE FROM audit WHERE last_number = 11').run();
        const entry = { at: iso(app.clock.nowMs()), who, name, from, action: 'audit.prune' };
        const told = { ...object, entries: 4, through: 4, hash: '' };
        addRow(db, 11, rowOf(db, 10).hash, [{ ...entry, object: told }]);
      }
    });
    expect(await problem()).toContain(sentence);
  });

  test('is found when it does not go on from the pruning before', async () => {
    const until = iso(app.clock.nowMs() - 366 * DAY_MS);
    await forge((db) => cutBeginning(db, 2, { object: { until } }));
    expect(await problem()).toBeNull();
    await forge((db) => cutBeginning(db, 5, { newest: 11, object: { until, entries: 5 } }));
    expect(await problem()).toContain(
      'block 12 records a pruning that does not continue from the earlier one',
    );
  });

  test('is distinguished from a log that had become too long', async () => {
    await forge((db) => cutBeginning(db, 4));
    expect(await problem([], { ...BOUNDS, auditEntriesMax: 9 })).toBeNull();
    expect(await problem([], { ...BOUNDS, auditEntriesMax: 10 })).toContain(
      'block 11 records that',
    );
  });
});

describe('rows below the first', () => {
  const at = '2026-11-20T12:00:00.000Z';
  const entry = { at, who: 'operator', name: 'alice', from: 'local', action: 'provider.add' };

  test.each([
    [0, [entry]],
    [0, []],
    [-1, [entry]],
    [-5, [entry, entry]],
    // Rounded by JavaScript, so that it seems to be the one before the next.
    [-9_007_199_254_740_993n, [entry]],
    [-9_223_372_036_854_775_807n, [entry]],
  ])('number %p is found', async (number, list) => {
    const zeros = new Uint8Array(32);
    await forge((db) => {
      addRow(db, 1_000, zeros, list);
      const entries = JSON.stringify(list);
      const hash = hashOfBlock({ number: Number(number), prevHash: zeros, entries });
      db.query('UPDATE audit SET last_number = ?, hash = ? WHERE last_number = 1000').run(
        number,
        hash,
      );
    });
    expect(await problem()).toMatch(/^block (0|-\d+) does not hold the entries from 1 to /);
    expect(await problem([heads[9] as string])).toStartWith('block ');
    // An export and a list come to their end, and show it.
    const numbers: number[] = [];
    for await (const { block } of auditBlocks(app.core)) numbers.push(block.number);
    expect(numbers[0]).toBe(Number(number));
  });

  test('so is a block with a number that JavaScript rounds', async () => {
    await forge((db) => {
      addRow(db, 1_000, rowOf(db, LINKS).hash, [entry]);
      db.query('UPDATE audit SET last_number = 9007199254740993 WHERE last_number = 1000').run();
    });
    expect(await problem()).toMatch(/^block 900719925474099\d was changed/);
    const filter = { provider: null, action: null, hwidHash: null, sinceMs: null, untilMs: null };
    expect(await listAudit(app.core, { ...filter, countMax: 100 })).toHaveLength(LINKS);
  });
});
