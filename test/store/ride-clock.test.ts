/** Rides are by the clock of the store: a node whose own is behind ends what others blocked. */

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Backend } from '../../src/store/backend.ts';
import { CarriedStamps } from '../../src/store/noun/carried.ts';
import { distributionNoun } from '../../src/store/noun/distribution.ts';
import { rideNoun } from '../../src/store/noun/ride.ts';
import { batchNotes, sqliteBackend } from '../../src/store/sqlite/backend.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/file/migrate.ts';
import { GroupWriter } from '../../src/store/sqlite/writer.ts';
import { ACT } from '../support/actor.ts';
import { noLeap } from '../support/no-leap.ts';
import { notesOn } from '../support/write-notes.ts';

const BEHIND_MS = 3_000;

test('a block by one node is in the past of another one', async () => {
  const native = new Database(':memory:', { strict: true });
  migrate(native);
  native.run(`INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
    VALUES (1, 'Provide1', 'one', 'pro', zeroblob(32), 0)`);
  native.run(`INSERT INTO distribution (id, provider_id, notification_type, status, target_os,
      target_hwid, created_at_ms, due_at_ms, reaches_unbound, expires_at_ms, payload)
    VALUES (1, 1, 10, 10, 'ios', '', 1000, 1000, 0, 900000, '{}')`);
  for (const status of [20, 5, 40, 100]) native.run('UPDATE distribution SET status = ?', [status]);
  native.run(`INSERT INTO ride (provider_id, os, part, distribution_id, from_ms, until_ms)
    VALUES (1, 'ios', 'message', 1, 1000, 900000)`);
  const db = new Connection(native);
  const notes = notesOn(db);
  const writer = new GroupWriter(db, 1, { notes: batchNotes(notes) });
  const store = sqliteBackend({ db, writer, notes, clock: systemClock, leastMs: noLeap });
  const nodeBy = (aheadMs: number): Backend => ({ ...store, storeMs: (atMs) => atMs + aheadMs });

  await distributionNoun(nodeBy(0)).blockDistribution(1, [], 50_000, ACT);
  const seenBy = async (aheadMs: number) => {
    const { rides } = await rideNoun(nodeBy(aheadMs), new CarriedStamps()).findRides(1);
    return rides.map(({ fromMs, untilMs }) => [fromMs, untilMs]);
  };
  expect(await seenBy(0)).toEqual([[1_000, 50_000]]);
  expect(await seenBy(BEHIND_MS)).toEqual([[1_000 - BEHIND_MS, 50_000 - BEHIND_MS]]);
  native.run('UPDATE ride SET until_ms = 900000');
  // The clock of the node that blocks is behind: by the store's it is later.
  await distributionNoun(nodeBy(BEHIND_MS)).blockDistribution(1, [], 50_000, ACT);
  expect(await seenBy(0)).toEqual([[1_000, 50_000 + BEHIND_MS]]);
  native.close();
});
