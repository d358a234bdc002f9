/** Processes that are killed at any moment: the events on disk are those of the changes on disk. */

import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { freshFolder } from '../support/app.ts';
import { openBeside } from '../support/database.ts';
import type { EventMakerOrder } from '../support/event-maker.ts';
import { plainEnv } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { scaleOf } from '../support/scale.ts';
import { addProvider, bind, HASH } from './contract/fixture.ts';
import { addWebhook } from './contract/webhook.ts';

const KILLS = scaleOf('EVENT_KILLS', { short: 4, long: 40 });
const PROCESSES = 2;

let dataDir: string;
beforeEach(() => {
  dataDir = freshFolder();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function startMaker(order: EventMakerOrder) {
  const program = join(import.meta.dir, '../support/event-maker.ts');
  return Bun.spawn([process.execPath, program, JSON.stringify(order)], {
    env: plainEnv(),
    stdout: 'pipe',
    stderr: 'inherit',
  });
}

/** Lets processes work side by side, and kills each in the middle of it. */
async function killInTheMiddle(providerId: number, random: Random): Promise<void> {
  const makers = Array.from({ length: PROCESSES }, () =>
    startMaker({ dataDir, seed: random.int(1, 9_999), providerId, domainHash: HASH }),
  );
  for (const maker of makers) {
    await maker.stdout.getReader().read();
    await Bun.sleep(random.int(0, 60));
    maker.kill('SIGKILL');
  }
  await Promise.all(makers.map(({ exited }) => exited));
}

/** Number of events of a kind by the link that they tell of. */
const TOLD = `SELECT kind, data ->> '$.install_id' AS install_id, count(*) AS told FROM event
  GROUP BY kind, install_id`;

function expectNoDifference(db: Database): void {
  const wrong = (sql: string) => db.query(sql).all();
  // A link is made once and told of once.
  expect(
    wrong(`WITH t AS (${TOLD}) SELECT i.id, t.told FROM install i
      FULL JOIN (SELECT * FROM t WHERE kind = 'link.created') t ON t.install_id = i.id
      WHERE i.id IS NULL OR t.told IS NOT 1`),
  ).toEqual([]);
  // Its note says how often it was changed.
  expect(
    wrong(`WITH t AS (${TOLD}) SELECT i.id, i.note, t.told FROM install i
      LEFT JOIN t ON t.kind = 'link.updated' AND t.install_id = i.id
      WHERE i.note <> 'changed ' || coalesce(t.told, 0)`),
  ).toEqual([]);
  // Who came and did not go is there.
  expect(
    wrong(`WITH t AS (${TOLD}) SELECT i.id, i.device_count FROM install i
      LEFT JOIN t a ON a.kind = 'device.admitted' AND a.install_id = i.id
      LEFT JOIN t r ON r.kind = 'device.removed' AND r.install_id = i.id
      WHERE i.device_count <> coalesce(a.told, 0) - coalesce(r.told, 0)`),
  ).toEqual([]);
  // All of it waits for the webhook that wants all, and of the other what that wants.
  expect(
    wrong(`SELECT e.id, e.kind, count(o.id) AS waiting FROM event e
      LEFT JOIN outbox o ON o.event_id = e.id GROUP BY e.id
      HAVING waiting <> 1 + (e.kind = 'link.created')`),
  ).toEqual([]);
  expect(
    wrong(`SELECT d.id FROM destination d WHERE waiting_count <>
      (SELECT count(*) FROM outbox o WHERE o.destination_id = d.id)`),
  ).toEqual([]);
}

test('an event is never there without its change, and never missing', async () => {
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1024 });
  const { id: providerId } = await addProvider(store, 'Provide1');
  await bind(store, providerId);
  await addWebhook(store, providerId);
  await addWebhook(store, providerId, { events: ['link.created'] });
  await store.close();
  const random = new Random(20261122);
  const db = openBeside(dataDir);
  try {
    for (let kill = 0; kill < KILLS; kill += PROCESSES) {
      await killInTheMiddle(providerId, random);
      expectNoDifference(db);
    }
    const kinds = db.query<{ kind: string }, []>('SELECT DISTINCT kind FROM event').all();
    const expected = ['device.admitted', 'device.removed', 'link.created', 'link.full'];
    expect(kinds.map(({ kind }) => kind).toSorted()).toEqual([...expected, 'link.updated']);
  } finally {
    db.close();
  }
});
