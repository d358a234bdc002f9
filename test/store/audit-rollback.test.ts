/** What a write noted that was taken back is in no entry, whatever the writes beside it did. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Deed } from '../../src/core/audit/entry.ts';
import type { WriteNotes } from '../../src/store/noun/notes.ts';
import { batchNotes } from '../../src/store/sqlite/backend.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/file/migrate.ts';
import { GroupWriter } from '../../src/store/sqlite/writer.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { notesOn } from '../support/write-notes.ts';

let folder: string;
let native: Database;
let notes: WriteNotes;
let writer: GroupWriter;
beforeEach(() => {
  folder = freshFolder();
  native = new Database(join(folder, 'gatepost.db'), { create: true, strict: true });
  migrate(native);
  const db = new Connection(native);
  notes = notesOn(db);
  writer = new GroupWriter(db, 100, { notes: batchNotes(notes) });
});
afterEach(() => {
  native.close();
  rmSync(folder, { recursive: true, force: true });
});

const deed = (id: number): Deed => ({ action: 'distribution.block', object: { id } });

/** A write that notes a deed; then the next one, or a fault of its own. */
const write = (id: number, then: () => void = () => undefined) =>
  writer.run(() => {
    notes.audit(ACT, deed(id));
    then();
    notes.audit(ACT, deed(id + 100));
  });

const failing = () => {
  throw new Error('a rule was broken');
};

/** The ids that entries tell of, by row. */
const told = () =>
  native
    .query<{ entries: string }, []>('SELECT entries FROM audit ORDER BY last_number')
    .all()
    .map(({ entries }) => JSON.parse(entries).map(({ object }: Deed) => object['id']));

test('one that fails leaves nothing, and those in the same commit leave theirs', async () => {
  const writes = [write(1), write(2, failing), write(3), write(4, failing)];
  const settled = await Promise.allSettled(writes);
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
  ]);
  expect(told()).toEqual([[1, 101, 3, 103]]);
});

test('if all of a commit fail there is no row', async () => {
  await Promise.allSettled([write(1, failing), write(2, failing)]);
  expect(told()).toEqual([]);
  await write(3);
  expect(told()).toEqual([[3, 103]]);
});

test('a commit that fails leaves nothing to the next one', async () => {
  native.run(`CREATE TEMP TRIGGER refusal BEFORE INSERT ON audit BEGIN
    SELECT RAISE(ABORT, 'no'); END`);
  const [lost] = await Promise.allSettled([write(1)]);
  expect(lost?.status).toBe('rejected');
  native.run('DROP TRIGGER refusal');
  await write(2);
  expect(told()).toEqual([[2, 102]]);
});
