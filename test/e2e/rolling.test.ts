/**
 * Nodes that are restarted one after the other, behind nginx and HAProxy as the documents show
 * them, while calls come at a steady rate: none fails, and none is done twice.
 *
 * ROLLING_RESTARTS=10 ROLLING_RATE=200 bun test test/e2e/rolling.test.ts runs it longer, with the
 * times of the documents.
 */

import { afterAll, expect } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { endAll } from '../ha/daemon.ts';
import { Nodes } from '../ha/nodes.ts';
import { call } from '../support/app.ts';
import { testPostgres, testWith } from '../support/needs.ts';
import { freshDatabase } from '../support/postgres-data.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const IS_LONG = process.env['ROLLING_RESTARTS'] !== undefined;
const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 1);
/** Calls a second, at each of the proxies. */
const RATE = Number(process.env['ROLLING_RATE'] ?? 50);
/** HAProxy needs two checks to notice, nginx up to 2 s to ask one again that was away. */
const [CHECK_INTERVAL, DRAIN_SECONDS] = IS_LONG ? (['2s', 6] as const) : (['400ms', 2] as const);
const NODES = 2;

/** Skips where there is no nginx, no HAProxy, or no PostgreSQL. */
const hasProxies = Bun.which('nginx') !== null && Bun.which('haproxy') !== null;
const testRolling = hasProxies ? testPostgres : testWith('nginx', 'haproxy');

useProcesses(RESTARTS * NODES * (DRAIN_SECONDS + 5) * 1_000 + 10 * PATIENCE_MS);
afterAll(endAll);

testRolling(`${RESTARTS} rolling restarts behind nginx and HAProxy lose no call`, async () => {
  const database = await freshDatabase();
  const env = { GATEPOST_DRAIN_SECONDS: String(DRAIN_SECONDS) };
  const nodes = await Nodes.start(database.url, NODES, env);
  const fronts = [nodes.url, await nodes.haproxy(CHECK_INTERVAL)];
  const by = await nodes.addProvider('Rolling1');

  const callers = fronts.map((url, n) => new Caller(url, by, n));
  for (const caller of callers) caller.begin();
  for (let round = 0; round < RESTARTS; round++) {
    for (let which = 0; which < NODES; which++) {
      const said = await nodes.restart(which);
      expect(said).toContain(' info draining ');
      expect(said).not.toMatch(/ (?:warn|error) /);
      await nodes.ready();
    }
  }
  const failed = (await Promise.all(callers.map((caller) => caller.end()))).flat();
  if (IS_LONG) console.log(callers.map(({ url, count, added }) => ({ url, count, added })));
  expect(failed).toEqual([]);
  const [links] = await database.sql`SELECT count(*)::int AS count FROM install`;
  expect(links.count).toBe(callers.reduce((sum, { added }) => sum + added, 0));
  await nodes.stop();
});

/** Calls at a steady rate, however long the answers take. */
class Caller {
  count = 0;
  added = 0;
  readonly #underWay = new Set<Promise<void>>();
  readonly #failed: string[] = [];
  #timer: Timer | null = null;

  constructor(
    readonly url: string,
    private readonly by: Credentials,
    private readonly at: number,
  ) {}

  begin(): void {
    const beganMs = performance.now();
    this.#timer = setInterval(() => {
      const due = ((performance.now() - beganMs) / 1000) * RATE;
      while (this.count < due) {
        const one = this.#call(this.count++).finally(() => this.#underWay.delete(one));
        this.#underWay.add(one);
      }
    }, 1);
  }

  /** Ends it; returns what was not answered as it should be. */
  async end(): Promise<string[]> {
    clearInterval(this.#timer ?? undefined);
    await Promise.all(this.#underWay);
    return this.#failed;
  }

  /** Every other call may not be repeated by a proxy that cannot tell whether it was done. */
  async #call(n: number): Promise<void> {
    const code = `R${this.at}${String(n).padStart(10, '0')}`;
    const isAdd = n % 2 === 0;
    const [path, query] = isAdd
      ? ['/api/add-install', { install_code: code, install_limit: 1 }]
      : ['/api/list-install', { id: 1 }];
    const reply = await call(this, path, this.by, query).catch((fault) => String(fault));
    const isFine = typeof reply !== 'string' && reply.status === 200 && reply.json?.rc === 1;
    if (isFine && isAdd) this.added += 1;
    const said =
      typeof reply === 'string' ? reply : `${reply.status} ${JSON.stringify(reply.json)}`;
    if (!isFine) this.#failed.push(`${this.url}${path}: ${said}`);
  }
}
