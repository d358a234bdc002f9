/**
 * Sends, pushes, answers of gateways, devices that come and go, workers that die and clocks that
 * are set, at random: after each step what waits is what is counted, and in the end everybody is
 * accounted for. A failure prints its seed and the way to it.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { Core } from '../../../src/core/core.ts';
import { deliverStep } from '../../../src/core/message/deliver.ts';
import { BLOCKED, endOf, statusesBefore } from '../../../src/core/message/status.ts';
import type { Dispatch, Settlement } from '../../../src/core/port/outbox.ts';
import { PUSH_GATEWAYS, type PushAddress } from '../../../src/core/port/registration.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import {
  addLink,
  bind,
  CODE,
  FACTS,
  HASH,
  OTHER_CODE,
  provider,
  providerDraft,
} from '../../store/contract/fixture.ts';
import { draft, tokenHash, UNGUARDED } from '../../store/contract/message-fixture.ts';
import { ACT } from '../../support/actor.ts';
import type { Beside } from '../../support/beside.ts';
import { type Engine, openCoreOn, openEngine } from '../../support/delivery.ts';
import { Random } from '../../support/random.ts';

const WORLDS = 8;
const STEPS = 120;
const DEVICES = ['a', 'b', 'c', 'd', 'e', 'f'];
const LEASE_MS = 30_000;
const WELL = { failingSinceMs: null, retryAtMs: 0, stoppedAtMs: null, problem: null };

const NEWEST = 'SELECT id FROM distribution ORDER BY id DESC LIMIT 4';

/** Everything that must hold between any two steps; each row is a breach. */
const BREACHES: Readonly<Record<string, string>> = {
  'what waits at a destination': `SELECT id FROM destination d WHERE waiting_count <>
     (SELECT count(*) FROM outbox WHERE destination_id = d.id)`,
  'what a distribution waits for': `SELECT id FROM distribution x WHERE push_waiting_count <>
     (SELECT count(*) FROM recipient WHERE distribution_id = x.id AND push_state = 1)`,
  'a push for who waits, and nobody else': `SELECT r.id FROM recipient r
     LEFT JOIN outbox o ON o.recipient_id = r.id
     WHERE (coalesce(r.push_state, 0) = 1) <> (o.id IS NOT NULL)`,
  'nobody is counted twice': `SELECT id FROM distribution
     WHERE sent_count + failed_count + push_waiting_count > recipient_count`,
  'what has ended waits for nobody, and counts everybody': `SELECT id FROM distribution
     WHERE status IN (100, 110, 120)
       AND (push_waiting_count <> 0 OR sent_count + failed_count <> recipient_count)`,
  'what was handed over is held by no worker': `SELECT id FROM distribution
     WHERE handed_over_at_ms IS NOT NULL AND lease_owner IS NOT NULL`,
  'one of a provider has its turn': `SELECT provider_id FROM distribution
     WHERE status IN (5, 6, 40) AND handed_over_at_ms IS NULL
     GROUP BY provider_id HAVING count(*) > 1`,
  'who has the message needs no push': `SELECT r.id FROM recipient r
     JOIN outbox o ON o.recipient_id = r.id WHERE r.received_at_ms IS NOT NULL`,
};

function expectWhole(db: Beside, way: string): void {
  for (const [name, breach] of Object.entries(BREACHES)) {
    expect({ name, way, rows: db.query(breach).all() }).toEqual({ name, way, rows: [] });
  }
}

let engine: Engine;
let beside: Core;
beforeAll(async () => {
  engine = await openEngine();
  beside = await openCoreOn(engine.place, engine.clock);
  if (engine.database === null) engine.db.run('PRAGMA synchronous = OFF');
});
afterAll(async () => {
  await beside.store.close();
  await engine.close();
});

class World {
  readonly #random: Random;
  readonly #seed: number;
  readonly tokens = new Map<string, { id: number; tokenHash: Uint8Array }>();
  #tokenCount = 0;
  #nowMs: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#nowMs = engine.clock.nowMs();
  }

  get #core(): Core {
    const core = this.#random.chance(0.5) ? engine.core : beside;
    return { ...core, gateways: () => PUSH_GATEWAYS };
  }

  get #store() {
    return this.#core.store;
  }

  #address(): PushAddress | null {
    const token = `address ${this.#random.int(0, 9)}`;
    const gateway = this.#random.pick([...PUSH_GATEWAYS, null]);
    if (gateway === null) return null;
    if (gateway !== 'webpush') return { gateway, token };
    const endpoint = `https://push-${this.#random.int(1, 3)}.example/${token}`;
    return { gateway, token: { endpoint, keys: {} } };
  }

  async register(): Promise<void> {
    const hwid = this.#random.pick(DEVICES);
    const installCode = this.#random.pick([`${CODE}${this.#seed}`, `${OTHER_CODE}${this.#seed}`]);
    const hash = tokenHash(`${this.#seed} ${this.#tokenCount++}`);
    const registered = await this.#store.registerDevice({
      hwid: this.#name(hwid),
      facts: FACTS,
      locale: null,
      push: this.#address(),
      shown: this.#random.chance(0.8)
        ? { kind: 'link', installCode, domainHash: HASH }
        : { kind: 'nothing', providerCode: null },
      tokenHash: hash,
      heldTokenHash: this.tokens.get(hwid)?.tokenHash ?? null,
      nowMs: this.#nowMs,
    });
    if (typeof registered === 'string') return;
    this.tokens.set(hwid, { id: registered.deviceId, tokenHash: hash });
  }

  #name = (hwid: string) => `${this.#seed}-${hwid}`;

  async send(providerIds: readonly number[]): Promise<void> {
    const more = {
      createdAtMs: this.#nowMs,
      expiresAtMs: this.#nowMs + this.#random.pick([DAY_MS, 365 * DAY_MS]),
    };
    await this.#store.addDistribution(draft(this.#random.pick(providerIds), more), UNGUARDED, ACT);
  }

  async deliver(): Promise<void> {
    const owner = this.#random.pick(['one', 'another']);
    for (let n = this.#random.int(1, 6); n > 0; n--) {
      if (!(await deliverStep(this.#core, owner, this.#nowMs))) return;
    }
  }

  #settlement(due: Dispatch): Settlement | null {
    const { id } = due;
    if (due.kind !== 'push') throw new Error('nobody has a webhook');
    if (due.moot !== null) return { id, outcome: 'moot' };
    const { token } = due;
    if (token === null || token.push === null) throw new Error('nowhere to push to');
    const problem = 'busy';
    const nextAtMs = this.#nowMs + this.#random.int(0, 5_000);
    switch (this.#random.int(0, 6)) {
      case 0:
        return { id, outcome: 'retry', nextAtMs, problem };
      case 1:
        return { id, outcome: 'failed', problem };
      case 2:
        return { id, outcome: 'dead', problem, tokenId: token.id, push: token.push, asOfMs: null };
      case 3:
        return null;
      default:
        return { id, outcome: 'accepted' };
    }
  }

  /** A process takes a queue up, and may die with it half settled. */
  async push(): Promise<void> {
    const store = this.#store;
    const lease = {
      owner: `pusher ${this.#random.int(1, 2)}`,
      nowMs: this.#nowMs,
      leaseMs: LEASE_MS,
    };
    for (const { id } of await store.claimDestinations(lease, PUSH_GATEWAYS, 9, 9, [])) {
      const due = await store.listDispatches(id, this.#nowMs, 9, null);
      if (this.#random.chance(0.2)) await this.change();
      const settled = due.map((each) => this.#settlement(each)).filter((each) => each !== null);
      const stoppedAtMs = this.#random.chance(0.1) ? this.#nowMs : null;
      const health = { ...WELL, failureCount: this.#random.int(0, 2), stoppedAtMs };
      await store.settleDispatches({ ...lease, destinationId: id }, settled, health, null);
      // The same again, as one does who never heard that it was saved.
      if (this.#random.chance(0.2)) {
        await store.settleDispatches({ ...lease, destinationId: id }, settled, health, null);
      }
      if (this.#random.chance(0.7)) await store.releaseDestinations(lease.owner, id);
    }
  }

  /** Something that happens to devices and distributions meanwhile. */
  async change(): Promise<void> {
    const hwid = this.#random.pick(DEVICES);
    const token = this.tokens.get(hwid);
    const ids = engine.db.query<{ id: number }, []>(NEWEST).all();
    const id = ids.length === 0 ? 0 : this.#random.pick(ids).id;
    switch (this.#random.int(0, 5)) {
      case 0:
        if (this.#random.chance(0.3)) {
          await this.#store.forgetDevice(this.#name(hwid), ACT);
          this.tokens.delete(hwid);
        }
        return;
      case 1:
        if (this.#random.chance(0.4)) {
          await this.#store.blockDistribution(id, statusesBefore(BLOCKED), this.#nowMs, ACT);
        }
        return;
      case 2:
      case 3:
        if (token === undefined) return;
        await this.#store.acknowledge(
          token,
          [{ id, state: 'received', detail: null }],
          this.#nowMs,
        );
        return;
      default:
        await this.register();
    }
  }

  async keep(): Promise<void> {
    const store = this.#store;
    await store.endHandedOver(this.#nowMs);
    await store.expireRecipients(this.#nowMs);
    await store.forgetDestinations();
    if (this.#random.chance(0.3)) await store.resumeDestinations(PUSH_GATEWAYS);
  }

  moveClock(): void {
    const byMs = this.#random.pick([
      1_000,
      6_000,
      LEASE_MS,
      3_600_000,
      DAY_MS,
      -1_800_000,
      -DAY_MS,
    ]);
    this.#nowMs += byMs;
    engine.clock.set(this.#nowMs);
  }

  async step(providerIds: readonly number[]): Promise<string> {
    const [name, run] = this.#random.pick([
      ['send', () => this.send(providerIds)],
      ['deliver', () => this.deliver()],
      ['deliver', () => this.deliver()],
      ['push', () => this.push()],
      ['push', () => this.push()],
      ['change', () => this.change()],
      ['change', () => this.change()],
      ['keep', () => this.keep()],
      ['clock', async () => this.moveClock()],
    ] as const);
    await run();
    return name;
  }

  /** Nobody dies any more, gateways answer, and time goes by. */
  async finish(): Promise<void> {
    const core = { ...engine.core, gateways: () => PUSH_GATEWAYS };
    const { store } = core;
    this.#nowMs += LEASE_MS;
    engine.clock.set(this.#nowMs);
    await store.resumeDestinations(PUSH_GATEWAYS);
    if (this.#seed % 2 === 0) {
      // Nobody answers before everything is over.
      this.#nowMs += 366 * DAY_MS;
      engine.clock.set(this.#nowMs);
      while (await store.endHandedOver(this.#nowMs)) await nextTurn();
    }
    while (await deliverStep(core, 'last', this.#nowMs)) await store.releaseWork('another');
    for (let round = 0; round < 200; round++) {
      const lease = { owner: `last ${round}`, nowMs: this.#nowMs, leaseMs: LEASE_MS };
      const found = await store.claimDestinations(lease, PUSH_GATEWAYS, 99, 99, []);
      for (const { id } of found) {
        const due = await store.listDispatches(id, this.#nowMs, 99, null);
        const settled = due.map(({ id: dispatchId, ...each }): Settlement => {
          const isMoot = each.kind === 'push' && each.moot !== null;
          return { id: dispatchId, outcome: isMoot ? 'moot' : 'accepted' };
        });
        const health = { ...WELL, failureCount: 0 };
        await store.settleDispatches({ ...lease, destinationId: id }, settled, health, null);
        await store.releaseDestinations(lease.owner, id);
      }
      const nextMs = await store.findNextDispatchMs(PUSH_GATEWAYS);
      if (nextMs === null) break;
      this.#nowMs = Math.max(this.#nowMs + 5_000, nextMs);
      engine.clock.set(this.#nowMs);
    }
    while (await store.endHandedOver(this.#nowMs));
  }
}

/** What a run that says nothing would not have. */
const HAPPENINGS: Readonly<Record<string, string>> = {
  'a push was taken': 'SELECT 1 FROM recipient WHERE push_state = 2',
  'a push failed': 'SELECT 1 FROM recipient WHERE push_state = 3',
  'an address was dropped': 'SELECT 1 FROM device_token WHERE push_dropped_at_ms > 0',
  'all got it': 'SELECT 1 FROM distribution WHERE status = 100 AND handed_over_at_ms > 0',
  'some got it': 'SELECT 1 FROM distribution WHERE status = 110 AND handed_over_at_ms > 0',
  'nobody got it': 'SELECT 1 FROM distribution WHERE status = 120 AND handed_over_at_ms > 0',
  'blocked at gateways': 'SELECT 1 FROM distribution WHERE status = 140 AND handed_over_at_ms > 0',
  'a message was over at a gateway': `SELECT 1 FROM recipient
     WHERE push_problem LIKE 'expired before%'`,
};

const seeds = Array.from({ length: WORLDS }, (_, n) => n + 1);

test.each(seeds)('whatever happens, everybody is accounted for: %d', async (seed) => {
  const { store } = engine.core;
  const providerIds: number[] = [];
  for (const [n, word] of [CODE, OTHER_CODE].entries()) {
    const code = `Model${seed}x${n}`.padEnd(8, 'z');
    await store.addProvider(providerDraft(code, { plan: 'enterprise' }), ACT);
    const { id } = await provider(store, code);
    await addLink(store, id, { installCode: `${word}${seed}`, installLimit: 20 });
    await bind(store, id);
    providerIds.push(id);
  }
  const world = new World(seed);
  for (let n = 0; n < 6; n++) await world.register();
  const way = [`seed ${seed}`];
  for (let n = 0; n < STEPS; n++) {
    way.push(await world.step(providerIds));
    expectWhole(engine.db, way.join(' '));
  }
  await world.finish();
  expectWhole(engine.db, `${way.join(' ')} finish`);
  const left = engine.db
    .query<{ id: number; status: number; sent: number; failed: number }, []>(
      `SELECT id, status, sent_count AS sent, failed_count AS failed FROM distribution
       WHERE status <> ${BLOCKED}`,
    )
    .all();
  for (const { id, status, sent, failed } of left) {
    expect({ id, status, way }).toEqual({ id, status: endOf(sent, failed), way });
  }
});

test('all of that happened', () => {
  const missing = Object.keys(HAPPENINGS).filter(
    (name) => engine.db.query(HAPPENINGS[name] ?? '').get() === null,
  );
  expect(missing).toEqual([]);
});
