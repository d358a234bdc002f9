/**
 * Three servers on one data directory, killed at random, while devices knock and register, slots
 * are freed, limits and statuses change, and an operator forgets devices. At no moment may a link
 * hold more than it may, or a count be untrue; whatever is answered is one of the documented
 * answers.
 *
 * RACE_SECONDS=40 bun test test/e2e/race.test.ts runs it longer, RACE_SEED=n otherwise.
 */

import { expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { invariantProblems } from '../fuzz/invariants.ts';
import { call, read } from '../support/app.ts';
import { lookedAt, run, type ServerProcess, startServe } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { isAskedFor, scaleOf } from '../support/scale.ts';
import { HASH, type Link, openShop, type Shop } from '../support/shop.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const SECONDS = scaleOf('RACE_SECONDS', { short: 1, long: 40 });
const SEED = Number(process.env['RACE_SEED'] ?? 5);
const SERVERS = 3;
const CALLERS = 24;
const HWIDS = 40;
/** Of a race that says something. */
const HEARD_MIN = 400;
/** Of each link. */
const LIMITS = [2, 3, 4, 5, 6];
/** All callers have one address. */
const ENV = { GATEPOST_REGISTRATIONS_PER_MINUTE_MAX: '1000000000' };

useProcesses(SECONDS * 1000 + 4 * PATIENCE_MS);

class Race {
  readonly dataDir: string;
  readonly servers: ServerProcess[];
  readonly links: readonly Link[];
  readonly own: Credentials;
  readonly answers = new Map<string, number>();
  readonly problems: string[] = [];
  lost = 0;
  readonly #endMs = performance.now() + SECONDS * 1000;

  constructor({ dataDir, own, servers, links }: Shop) {
    this.dataDir = dataDir;
    this.own = own;
    this.servers = servers;
    this.links = links;
  }

  get heard(): number {
    return [...this.answers.values()].reduce((sum, times) => sum + times, 0);
  }

  /** On a busy machine it takes longer until enough was heard. */
  get isOver(): boolean {
    const overMs = performance.now() - this.#endMs;
    return overMs > 0 && (this.heard > HEARD_MIN || overMs > PATIENCE_MS);
  }

  async get(random: Random, path: string, query: Record<string, string | number>): Promise<void> {
    const own = path.startsWith('/api/') ? this.own : null;
    await this.#hear(path, () => call(random.pick(this.servers), path, own, query));
  }

  async register(random: Random, body: Record<string, unknown>): Promise<void> {
    const init = { method: 'POST', body: JSON.stringify(body) };
    await this.#hear('/device/register', async () =>
      read(await fetch(`${random.pick(this.servers).url}/device/register`, init)),
    );
  }

  async #hear(path: string, ask: () => ReturnType<typeof call>): Promise<void> {
    try {
      const { json, text } = await ask();
      if (json === null) throw new Error('half an answer');
      const says = `${path}: ${json.msg}`;
      this.answers.set(says, (this.answers.get(says) ?? 0) + 1);
      if (!EXPECTED.test(says)) this.problems.push(`${path} answered ${text}`);
      if (json.install_count > 100) this.problems.push(text);
    } catch {
      // Its server was killed; the next one may not listen yet.
      this.lost += 1;
      await Bun.sleep(1);
    }
  }
}

/** Nothing else may be heard, whatever the others do meanwhile. */
const EXPECTED = new RegExp(
  [
    '^/install: (?:Ok|Install limit reached|Install disabled)$',
    '^/api/delete-hwid: Ok$',
    '^/api/update-install: (?:Ok|Install limit is less than the current install_count)$',
    '^/device/register: (?:Ok|Install limit reached|Install disabled|Device is registered)$',
  ].join('|'),
);

async function live(race: Race, number: number): Promise<void> {
  const random = new Random(SEED * 1000 + number);
  while (!race.isOver) {
    const { code, id } = random.pick(race.links);
    const hwid = `hwid-${random.int(1, HWIDS)}`;
    const roll = random.next();
    if (roll < 0.5) {
      await race.get(random, '/install', { id: HASH, installid: code, hwid });
    } else if (roll < 0.75) {
      await race.get(random, '/api/delete-hwid', { install_code: code, hwid });
    } else if (roll < 0.9) {
      const status = random.chance(0.1) ? 5 : 10;
      const change = random.chance(0.5) ? { install_limit: random.int(1, 12) } : { status };
      await race.get(random, '/api/update-install', { id, ...change });
    } else {
      await race.register(random, { hwid, os: 'android', install_code: code, domain_hash: HASH });
    }
  }
}

/** An operator beside the servers. */
async function forget(race: Race): Promise<void> {
  const random = new Random(SEED + 1);
  while (!race.isOver) {
    const hwid = `hwid-${random.int(1, HWIDS)}`;
    const { code, stderr } = await run(['device', 'forget', hwid, '--yes', '--data', race.dataDir]);
    const isExpected = code === 0 || /there is no|not known|no device/i.test(stderr);
    if (!isExpected) race.problems.push(`device forget: ${code} ${stderr}`);
  }
}

async function kill(race: Race): Promise<number> {
  const random = new Random(SEED + 2);
  let kills = 0;
  while (!race.isOver) {
    await Bun.sleep(random.int(100, 600));
    const which = random.int(0, SERVERS - 1);
    await race.servers[which]?.stop('SIGKILL');
    race.servers[which] = await startServe({ dataDir: race.dataDir, env: ENV });
    kills += 1;
  }
  return kills;
}

/** Looks all the while, each time at one moment of the data. */
async function watch(race: Race): Promise<void> {
  const data = await lookedAt(race.dataDir);
  while (!race.isOver) {
    race.problems.push(...invariantProblems(data));
    await Bun.sleep(50);
  }
}

test(`${SERVERS} servers for ${SECONDS} s, seed ${SEED}`, async () => {
  const race = new Race(await openShop({ serverCount: SERVERS, env: ENV, limits: LIMITS }));
  const { dataDir } = race;

  const [kills] = await Promise.all([
    kill(race),
    forget(race),
    watch(race),
    ...Array.from({ length: CALLERS }, (_, number) => live(race, number)),
  ]);
  for (const server of race.servers) await server.stop();

  race.problems.push(...invariantProblems(await lookedAt(dataDir)));
  expect(race.problems).toEqual([]);
  expect(await run(['audit', 'verify', '--data', dataDir])).toMatchObject({ code: 0 });
  if (isAskedFor('RACE_SECONDS')) {
    console.log({ kills, lost: race.lost, ...Object.fromEntries(race.answers) });
  }
  expect(race.heard).toBeGreaterThan(HEARD_MIN);
  for (const says of ['/install: Ok', '/install: Install limit reached', '/device/register: Ok']) {
    expect([says, (race.answers.get(says) ?? 0) > 0]).toEqual([says, true]);
  }
});
