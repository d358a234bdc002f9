/**
 * Two nodes on one PostgreSQL behind nginx, killed at random, with connections of the database
 * terminated at random, while callers race for places of links, and everything else goes on. What
 * was answered must hold, and no law be broken at any moment.
 *
 * NODES_SECONDS=600 bun test test/e2e/nodes.test.ts runs it longer, NODES_SEED=n otherwise.
 */

import { afterAll, expect } from 'bun:test';
import { SQL } from 'bun';
import { endAll } from '../ha/daemon.ts';
import { Nodes } from '../ha/nodes.ts';
import { Ordeal } from '../ha/ordeal.ts';
import { testPostgres, testWith } from '../support/needs.ts';
import { freshDatabase } from '../support/postgres-data.ts';
import { Random } from '../support/random.ts';
import { isAskedFor, scaleOf } from '../support/scale.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const SECONDS = scaleOf('NODES_SECONDS', { short: 2, long: 60 });
const SEED = Number(process.env['NODES_SEED'] ?? 7);
const NODES = 2;
const PROVIDERS = 4;
const CALLERS = 24;

/** Skips where there is no nginx, or no PostgreSQL. */
const testNodes = Bun.which('nginx') === null ? testWith('nginx') : testPostgres;

useProcesses(SECONDS * 1000 + 10 * PATIENCE_MS);
afterAll(endAll);

testNodes(`${NODES} nodes for ${SECONDS} s, seed ${SEED}`, async () => {
  const database = await freshDatabase();
  const lookUrl = database.url.replace('gatepost@', 'postgres@');
  const nodes = await Nodes.start(database.url, NODES);
  const ordeal = await Ordeal.prepare({
    nodes,
    lookUrl,
    providerCount: PROVIDERS,
    callerCount: CALLERS,
    seed: SEED,
  });
  const endMs = performance.now() + SECONDS * 1000;
  // A busy machine takes longer until each kind of call was answered.
  const isOver = () => {
    const leftMs = endMs - performance.now();
    const { rounds, refusals, messages } = ordeal.figures();
    const hasAll = [rounds, refusals, messages].every((count) => Number(count) > 0);
    return leftMs < -5 * PATIENCE_MS || (leftMs < 0 && hasAll);
  };

  ordeal.begin();
  const [kills, terminated] = await Promise.all([
    killNodes(nodes, isOver),
    terminate(lookUrl, isOver),
    watch(ordeal, isOver),
  ]);
  const problems = await ordeal.end();
  await nodes.stop();

  const figures = ordeal.figures();
  if (isAskedFor('NODES_SECONDS')) console.log({ kills, terminated, ...figures });
  expect(problems.slice(0, 20)).toEqual([]);
  expect(figures['rounds']).toBeGreaterThan(0);
  expect(figures['refusals']).toBeGreaterThan(0);
  expect(figures['messages']).toBeGreaterThan(0);
  expect(figures['generals']).toBeGreaterThanOrEqual(PROVIDERS - 1);
});

async function killNodes(nodes: Nodes, isOver: () => boolean): Promise<number> {
  const random = new Random(SEED);
  for (let kills = 0; ; kills++) {
    await Bun.sleep(random.int(500, 3000));
    if (isOver()) return kills;
    await nodes.kill(random.int(0, NODES - 1));
  }
}

/** Ends connections of nodes, whatever they are doing. */
async function terminate(lookUrl: string, isOver: () => boolean): Promise<number> {
  const random = new Random(SEED + 1);
  const sql = new SQL({ url: lookUrl, database: new URL(lookUrl).pathname.slice(1), max: 1 });
  for (let count = 0; ; ) {
    await Bun.sleep(random.int(50, 1000));
    if (isOver()) {
      await sql.close();
      return count;
    }
    const rows = await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'gatepost%'
      ORDER BY random() LIMIT ${random.int(1, 3)}`;
    count += rows.length;
  }
}

/** Looks all the while, each time at one moment of the data. */
async function watch(ordeal: Ordeal, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await ordeal.look();
    await Bun.sleep(200);
  }
}
