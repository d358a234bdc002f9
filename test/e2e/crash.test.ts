/**
 * Servers are killed with SIGKILL at random moments while clients keep changing things; afterwards
 * no acknowledged change may be missing, and the caps hold. A SIGKILL shows that nothing is
 * answered before the database has it; that a power cut loses nothing rests on `synchronous=FULL`.
 *
 * CRASH_KILLS=200 bun test test/e2e/crash.test.ts runs it longer, CRASH_SEED=n otherwise.
 */

import { expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { invariantProblems } from '../fuzz/invariants.ts';
import { call } from '../support/app.ts';
import { Beliefs } from '../support/belief.ts';
import { besideOf } from '../support/beside.ts';
import { lookedAt, run, type ServerProcess, startServe } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { isAskedFor, scaleOf } from '../support/scale.ts';
import { HASH, type Link, openShop } from '../support/shop.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const KILLS = scaleOf('CRASH_KILLS', { short: 3, long: 100 });
const SEED = Number(process.env['CRASH_SEED'] ?? 11);
const SERVERS = 2;
const CLIENTS = 16;
/** Between two kills so many requests are answered, at most. */
const ANSWERS_BETWEEN_KILLS_MAX = 300;
const LINKS = 6;
const HWIDS_PER_CLIENT = 12;

useProcesses((3 + KILLS / 10) * PATIENCE_MS);

class Scene {
  readonly slots = new Beliefs<'on' | 'off'>();
  readonly notes = new Beliefs<string>();
  readonly installs = new Beliefs<'there' | 'absent'>();
  readonly domains = new Beliefs<'active' | 'disabled' | 'absent'>();
  readonly problems: string[] = [];
  answers = 0;
  lost = 0;
  isOver = false;

  constructor(
    readonly credentials: Credentials,
    readonly servers: ServerProcess[],
    readonly links: Link[],
  ) {}

  /** The answer's JSON, or null if the connection broke before it came. */
  async ask(random: Random, path: string, query: Record<string, string | number>) {
    const server = random.pick(this.servers);
    const credentials = path.startsWith('/api/') ? this.credentials : null;
    try {
      const { json } = await call(server, path, credentials, query);
      if (json === null) throw new Error('half an answer');
      this.answers += 1;
      return json;
    } catch {
      this.lost += 1;
      // Give the restart a turn.
      await Bun.sleep(1);
      return null;
    }
  }

  wrong(what: string, answer: unknown): void {
    this.problems.push(`${what}: ${JSON.stringify(answer)}`);
  }
}

type Step = (scene: Scene, random: Random, client: number, n: number) => Promise<void>;

const slotKey = (link: Link, hwid: string) => `${link.code} ${hwid}`;

const checkIn: Step = async (scene, random, client) => {
  const link = random.pick(scene.links);
  const hwid = `hwid-${client}-${random.int(1, HWIDS_PER_CLIENT)}`;
  const query = { id: HASH, installid: link.code, hwid };
  const answer = await scene.ask(random, '/install', query);
  if (answer === null) scene.slots.maybe(slotKey(link, hwid), 'on', 'off');
  else if (answer.rc === 1) scene.slots.is(slotKey(link, hwid), 'on');
  else if (answer.msg === 'Install limit reached') scene.slots.is(slotKey(link, hwid), 'off');
  else scene.wrong('check-in', answer);
};

const freeSlot: Step = async (scene, random, client) => {
  const link = random.pick(scene.links);
  const hwid = `hwid-${client}-${random.int(1, HWIDS_PER_CLIENT)}`;
  const answer = await scene.ask(random, '/api/delete-hwid', { install_code: link.code, hwid });
  if (answer === null) scene.slots.maybe(slotKey(link, hwid), 'off', 'off');
  else if (answer.rc === 1) scene.slots.is(slotKey(link, hwid), 'off');
  else scene.wrong('delete-hwid', answer);
};

const addLink: Step = async (scene, random, client, n) => {
  const code = `${String(client).padStart(4, '0')}${String(n).padStart(8, '0')}`;
  const query = { install_limit: random.int(1, 100), install_code: code };
  const answer = await scene.ask(random, '/api/add-install', query);
  if (answer === null) scene.installs.maybe(code, 'there', 'absent');
  // `rc` 2: the HTTP client itself tried twice.
  else if (answer.rc === 1 || answer.rc === 2) scene.installs.is(code, 'there');
  else scene.wrong('add-install', answer);
};

/** Each client has a link of its own to write its notes on. */
const updateLink: Step = async (scene, random, client, n) => {
  const link = scene.links[client % scene.links.length];
  if (!link || client >= scene.links.length) return;
  const note = `note ${n}`;
  const answer = await scene.ask(random, '/api/update-install', { id: link.id, note });
  if (answer === null) scene.notes.maybe(link.code, note, '');
  else if (answer.rc === 1) scene.notes.is(link.code, note);
  else scene.wrong('update-install', answer);
};

const ownHash = (random: Random, client: number) =>
  `${String(client).padStart(2, '0')}${random.int(1, 5)}`.padEnd(64, 'a');

const addDomain: Step = async (scene, random, client) => {
  const hash = ownHash(random, client);
  const answer = await scene.ask(random, '/api/add-domain', { domain_hash: hash });
  if (answer === null) scene.domains.maybe(hash, 'active', 'absent');
  else if (answer.rc === 1 || answer.rc === 2) {
    scene.domains.is(hash, 'active');
    ids.set(hash, answer.id);
  } else scene.wrong('add-domain', answer);
};

const ids = new Map<string, number>();

const deleteDomain: Step = async (scene, random, client) => {
  const hash = ownHash(random, client);
  const id = ids.get(hash);
  if (id === undefined) return addDomain(scene, random, client, 0);
  const answer = await scene.ask(random, '/api/delete-domain', { id });
  if (answer === null) scene.domains.maybe(hash, 'disabled', 'absent');
  else if (answer.rc === 1) scene.domains.is(hash, 'disabled');
  else scene.wrong('delete-domain', answer);
};

const STEPS = [checkIn, checkIn, freeSlot, addLink, updateLink, addDomain, deleteDomain];

async function client(scene: Scene, number: number): Promise<void> {
  const random = new Random(SEED * 1000 + number);
  for (let n = 0; !scene.isOver; n++) await random.pick(STEPS)(scene, random, number, n);
}

/** Kills a server once so many more answers have come, and starts it again. */
async function killAndRestart(scene: Scene, dataDir: string, random: Random): Promise<void> {
  const which = random.int(0, SERVERS - 1);
  const killAt = scene.answers + random.int(1, ANSWERS_BETWEEN_KILLS_MAX);
  while (scene.answers < killAt) await Bun.sleep(1);
  const exit = await scene.servers[which]?.stop('SIGKILL');
  expect(exit?.signal).toBe('SIGKILL');
  scene.servers[which] = await startServe({ dataDir });
}

test('no acknowledged change is missing after servers were killed at random', async () => {
  const random = new Random(SEED);
  const limits = Array.from({ length: LINKS }, () => random.int(1, 60));
  const { dataDir, own, server, servers, links } = await openShop({ serverCount: SERVERS, limits });
  const ask = async (path: string, query: Record<string, string | number> = {}) =>
    (await call(servers[0] ?? server, path, own, query)).json;
  const scene = new Scene(own, servers, links);
  const clients = Array.from({ length: CLIENTS }, (_, n) => client(scene, n));
  for (let kill = 0; kill < KILLS; kill++) await killAndRestart(scene, dataDir, random);
  // The last word is a kill too: what was acknowledged is in the file, not in a process.
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  scene.isOver = true;
  await Promise.all(clients);
  servers.splice(0, SERVERS, await startServe({ dataDir }));

  const installs = await everyLink(ask);
  const byCode = new Map(installs.map((row) => [row.install_code, row]));
  const onLink = new Set<string>();
  for (const link of links) {
    const slots = (await ask('/api/list-hwid', { install_code: link.code })).data as SlotRow[];
    for (const { hwid } of slots) onLink.add(slotKey(link, hwid));
    expect(byCode.get(link.code)?.install_count).toBe(slots.length);
    expect(slots.length).toBeLessThanOrEqual(link.limit);
  }
  const domains = (await ask('/api/list-domain')).data as DomainRow[];
  const statusOf = new Map(domains.map((row) => [row.domain_hash, row.status]));

  expect(scene.problems).toEqual([]);
  expect(scene.slots.problems((key) => (onLink.has(key) ? 'on' : 'off'))).toEqual([]);
  expect(scene.installs.problems((code) => (byCode.has(code) ? 'there' : 'absent'))).toEqual([]);
  expect(scene.notes.problems((code) => byCode.get(code)?.note ?? '')).toEqual([]);
  const domainState = (hash: string) =>
    ({ 10: 'active', 5: 'disabled' })[statusOf.get(hash) ?? 0] as 'active' | 'disabled' | undefined;
  expect(scene.domains.problems((hash) => domainState(hash) ?? 'absent')).toEqual([]);

  // It really was interrupted, and really did something.
  expect(scene.lost).toBeGreaterThan(0);
  expect(scene.slots.certainCount).toBeGreaterThan(LINKS);
  expect(scene.installs.certainCount).toBeGreaterThan(KILLS);
  await servers[0]?.stop();
  expect(invariantProblems(await lookedAt(dataDir))).toEqual([]);
  await expectAuditOf(dataDir);
  if (isAskedFor('CRASH_KILLS')) {
    const { answers, lost } = scene;
    console.log({ kills: KILLS + SERVERS, answers, lost, installs: installs.length });
  }
});

interface LinkRow {
  id: number;
  install_code: string;
  install_count: number;
  note: string | null;
}
interface SlotRow {
  hwid: string;
}
interface DomainRow {
  domain_hash: string;
  status: number;
}

type Ask = (path: string, query: Record<string, string | number>) => Promise<{ data: unknown }>;

/** The whole list, page by page. */
async function everyLink(ask: Ask): Promise<LinkRow[]> {
  const installs: LinkRow[] = [];
  for (;;) {
    const before = installs.at(-1)?.id ?? 999_999_999;
    const page = (await ask('/api/list-install', { before_id: before })).data as LinkRow[];
    if (page.length === 0) return installs;
    installs.push(...page);
  }
}

/**
 * One unbroken chain of all processes, with each change in it that is there, and no other. The
 * links are counted here again: PostgreSQL may end a transaction of a killed server after the list
 * was read.
 */
async function expectAuditOf(dataDir: string): Promise<void> {
  const audit = (...words: string[]) => run(['audit', ...words, '--data', dataDir]);
  expect(await audit('verify')).toMatchObject({ code: 0, stderr: '' });
  const added = await audit('list', '--action', 'install.add', '--limit', '9999999', '--json');
  const listed: { object: { folded?: number } }[] = JSON.parse(added.stdout);
  const count = listed.reduce((sum, { object: { folded = 1 } }) => sum + folded, 0);
  const { links, waitingDeeds } = await countsOf(dataDir);
  expect({ listed: count, links }).toEqual({ listed: links - waitingDeeds, links });
}

/** The links, and those of them that wait for their common entry: over 600 a minute fold. */
async function countsOf(dataDir: string): Promise<{ links: number; waitingDeeds: number }> {
  const db = besideOf(await lookedAt(dataDir));
  try {
    const counts = db.query<{ links: number; waiting: number }, []>(
      `SELECT (SELECT count(*) FROM install) AS links, (SELECT coalesce(sum(deed_count), 0)
        FROM audit_fold WHERE action = 'install.add') AS waiting`,
    );
    const { links, waiting } = counts.get() ?? { links: 0, waiting: 0 };
    return { links: Number(links), waitingDeeds: Number(waiting) };
  } finally {
    db.close();
  }
}
