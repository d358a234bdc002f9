/**
 * Slots are freed for newcomers by a policy, under concurrency, across processes and kills: never
 * more than the policy gives, the cap holds at each moment, and the slots of a link together with
 * the ends that its story tells explain every admission.
 *
 * SLOT_LIFE_SCALE=10 bun test test/e2e/slot-life.test.ts runs it longer, SLOT_LIFE_SEED=n another
 * way.
 */

import { expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { invariantProblems } from '../fuzz/invariants.ts';
import { call } from '../support/app.ts';
import { type Beside, besideOf } from '../support/beside.ts';
import { lookedAt, startServe } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { scaleOf } from '../support/scale.ts';
import { enter, HASH, openShop, type Shop } from '../support/shop.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const SCALE = scaleOf('SLOT_LIFE_SCALE', { short: 1, long: 10 });
const SEED = Number(process.env['SLOT_LIFE_SEED'] ?? 3);
const LIMIT = 7;

useProcesses(4 * PATIENCE_MS * SCALE);

const slotsOf = (db: Beside, linkId: number) =>
  db
    .query<{ hwid: string }, []>(
      `SELECT d.hwid FROM install_device s JOIN device d ON d.id = s.device_id
     WHERE s.install_id = ${linkId} ORDER BY s.id`,
    )
    .all()
    .map(({ hwid }) => hwid);

interface End {
  hwid: string;
  newcomer: string;
  why: string;
  endedAtMs: number;
}

const endsOf = (db: Beside, linkId: number) =>
  db
    .query<End, []>(
      `SELECT d.hwid, n.hwid AS newcomer, e.why, e.ended_at_ms AS "endedAtMs"
     FROM slot_end e JOIN device d ON d.id = e.device_id JOIN device n ON n.id = e.for_device_id
     WHERE e.install_id = ${linkId} ORDER BY e.id`,
    )
    .all();

/** Has the slots of HWIDs been last seen so many days ago. */
function age(db: Beside, linkId: number, hwids: readonly string[], days: number): void {
  const names = hwids.map((hwid) => `'${hwid}'`).join(', ');
  db.run(
    `UPDATE install_device SET last_seen_at_ms = ${Date.now() - days * DAY_MS}
     WHERE install_id = ${linkId}
       AND device_id IN (SELECT id FROM device WHERE hwid IN (${names}))`,
  );
}

function setPolicy(db: Beside, linkId: number): void {
  db.run(
    `UPDATE install SET inactive_days = 30, when_full = 'replace-oldest', cool_down_hours = 1
     WHERE id = ${linkId}`,
  );
}

/** Links that are full of devices of the first day. */
async function fullLinks(shop: Shop): Promise<string[]> {
  const first = Array.from({ length: LIMIT }, (_, n) => `first-${n}`);
  for (const link of shop.links) {
    for (const hwid of first) await enter(shop.server, hwid, link.code);
  }
  return first;
}

/**
 * What slots and ends do not explain: whoever holds a slot or held one was there at first, or a
 * slot was freed for it.
 */
function unexplained(first: readonly string[], slots: readonly string[], ends: readonly End[]) {
  const count = (names: readonly string[], hwid: string) =>
    names.filter((name) => name === hwid).length;
  const held = ends.map(({ hwid }) => hwid);
  const entered = ends.map(({ newcomer }) => newcomer);
  const all = new Set([...first, ...slots, ...held, ...entered]);
  return [...all].filter((hwid) => {
    const times = count(slots, hwid) + count(held, hwid);
    return times !== count(first, hwid) + count(entered, hwid);
  });
}

test('200 newcomers at once, over two processes: as many slots as the policy gives', async () => {
  const shop = await openShop({ serverCount: 2, limits: [LIMIT] });
  const { dataDir, servers } = shop;
  const db = besideOf(await lookedAt(dataDir));
  const [link = { id: 0, code: '' }] = shop.links;
  const first = await fullLinks(shop);
  setPolicy(db, link.id);
  age(db, link.id, first.slice(0, 4), 31);
  age(db, link.id, first.slice(4), 29);
  const said = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const hwid = `newcomer-${n}`;
      const knock = { id: HASH, installid: link.code, hwid };
      const server = servers[n % 2] ?? shop.server;
      return { hwid, rc: (await call(server, '/install', null, knock)).json.rc };
    }),
  );
  const letIn = said.filter(({ rc }) => rc === 1).map(({ hwid }) => hwid);
  const slots = slotsOf(db, link.id);
  const ends = endsOf(db, link.id);
  // Four that were inactive, and one replacement for an hour.
  expect(letIn).toHaveLength(5);
  expect(slots).toEqual([...first.slice(5), ...ends.map(({ newcomer }) => newcomer)]);
  expect(ends.map(({ hwid, why }) => [hwid, why])).toEqual([
    ...first.slice(0, 4).map((hwid) => [hwid, 'inactive']),
    [first[4] ?? '', 'replaced'],
  ]);
  expect(ends.map(({ newcomer }) => newcomer).sort()).toEqual(letIn.sort());
  db.close();
  expect(invariantProblems(await lookedAt(dataDir))).toEqual([]);
});

test('with servers killed meanwhile: slots and ends explain every admission', async () => {
  // A story tells of the newest 100 ends.
  const limits = Array.from({ length: 4 * SCALE }, () => LIMIT);
  const shop = await openShop({ serverCount: 2, limits });
  const { dataDir, servers, links } = shop;
  const db = besideOf(await lookedAt(dataDir));
  const first = await fullLinks(shop);
  for (const { id } of links) setPolicy(db, id);

  const letIn = new Map(links.map(({ id }) => [id, new Set<string>()]));
  const problems: string[] = [];
  let [left, answers, agings, kills, lost] = [2_000 * SCALE, 0, 0, 0, 0];

  async function live(number: number): Promise<void> {
    const random = new Random(SEED * 1000 + number);
    while (left-- > 0) {
      const { id, code } = random.pick(links);
      const hwid = `newcomer-${random.int(1, 200)}`;
      try {
        const knock = { id: HASH, installid: code, hwid };
        const { json } = await call(random.pick(servers), '/install', null, knock);
        if (json.rc === 1) letIn.get(id)?.add(hwid);
        else if (json.msg !== 'Install limit reached') problems.push(json.msg);
        answers += 1;
      } catch {
        // Its server was killed; the next one may not listen yet.
        lost += 1;
        await Bun.sleep(1);
      }
    }
  }

  /** Ages a slot now and then, and kills a server: by the answers, not by the time. */
  async function disturb(): Promise<void> {
    const random = new Random(SEED);
    for (let n = 1; left > 0; n++) {
      while (left > 0 && answers < n * 30) await Bun.sleep(1);
      const { id } = random.pick(links);
      const hwid = random.pick(slotsOf(db, id));
      age(db, id, [hwid], 31);
      agings += 1;
      problems.push(...invariantProblems(await lookedAt(dataDir)));
      if (n % 7 !== 0) continue;
      const which = random.int(0, 1);
      await servers[which]?.stop('SIGKILL');
      servers[which] = await startServe({ dataDir });
      kills += 1;
    }
  }

  await Promise.all([disturb(), ...Array.from({ length: 32 }, (_, number) => live(number))]);
  for (const server of servers) await server.stop();
  problems.push(...invariantProblems(await lookedAt(dataDir)));
  expect(problems).toEqual([]);
  if (SCALE > 1) console.log({ answers, lost, kills, agings });
  expect(kills).toBeGreaterThan(0);

  let freed = 0;
  for (const { id } of links) {
    const slots = slotsOf(db, id);
    const ends = endsOf(db, id);
    expect(slots).toHaveLength(LIMIT);
    expect(unexplained(first, slots, ends)).toEqual([]);
    const entered = new Set(ends.map(({ newcomer }) => newcomer));
    expect([...(letIn.get(id) ?? [])].filter((hwid) => !entered.has(hwid))).toEqual([]);
    // The whole test takes less than an hour.
    expect(ends.filter(({ why }) => why === 'replaced')).toHaveLength(1);
    freed += ends.length - 1;
  }
  expect(freed).toBeGreaterThan(0);
  expect(freed).toBeLessThanOrEqual(agings);
  db.close();
});
