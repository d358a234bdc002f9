/** Paths through the model of registrations, each walked by a device of its own in the program. */

import { expect } from 'bun:test';
import type { TokenHolder } from '../../../src/core/port/inbox.ts';
import type { Shown } from '../../../src/core/port/registration.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { NO_POLICY } from '../../../src/core/slot.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { removeProvider } from '../../store/contract/fixture.ts';
import { ACT } from '../../support/actor.ts';
import { DAY_MS, type Engine, HOUR_MS } from '../../support/delivery.ts';
import { STORE } from '../../support/place.ts';
import {
  isLinked,
  type LinkName,
  NEW_WORLD,
  type OpModel,
  PROVIDER_OF,
  type ProviderName,
  play,
  readableIn,
  type ShownModel,
  type Step,
  type World,
} from './registration-model.ts';

/** Devices that are played side by side. */
export const CROWD = STORE === 'sqlite' ? 400 : 100;
const HASH = 'a'.repeat(64);
const FACTS = { os: 'android', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
const LINKS = ['own', 'others', 'ofM'] as const;

/** A path through the model, and the device of its own that is led along it. */
export interface Walk {
  ops: OpModel[];
  hwid: string;
  providers: Record<ProviderName, { id: number; code: string }>;
  links: Record<LinkName, { id: number; code: string }>;
  world: World;
  /** By number of the token. */
  holders: TokenHolder[];
  /** By number of the message. */
  distributions: number[];
  last: Step | null;
  said: string;
}

let walkCount = 0;
export function beginWalk(ops: OpModel[]): Walk {
  const n = walkCount++;
  const named = (id: number, first: string, length: number) => ({
    id,
    code: `${first}${String(n).padStart(length - 1, '0')}`,
  });
  const providers = { P: named(n * 2 + 1, 'P', 8), M: named(n * 2 + 2, 'M', 8) };
  const links = {
    own: named(n * 3 + 1, 'w', 12),
    others: named(n * 3 + 2, 't', 12),
    ofM: named(n * 3 + 3, 'f', 12),
  };
  return {
    ops,
    hwid: `walk-${n}`,
    providers,
    links,
    world: NEW_WORLD,
    holders: [],
    distributions: [],
    last: null,
    said: 'ok',
  };
}

/** Adds what the walks are at; a statement adds a table's rows of all. */
function addLinks({ db }: Engine, walks: readonly Walk[]): void {
  const add = (into: string, row: string, rows: (string | number | Uint8Array)[][]) =>
    db.query(`INSERT INTO ${into} VALUES ${rows.map(() => row).join(', ')}`).run(...rows.flat());
  const providers = walks.flatMap((walk) => Object.values(walk.providers));
  const keyHash = new Uint8Array(32);
  db.transaction(() => {
    add(
      'provider (id, code, name, plan, key_hash, created_at_ms)',
      "(?, ?, '', 'enterprise', ?, 0)",
      providers.map(({ id, code }) => [id, code, keyHash]),
    );
    add(
      'domain (provider_id, domain_hash, domain_name, status, created_at_ms)',
      `(?, '${HASH}', '', 10, 0)`,
      providers.map(({ id }) => [id]),
    );
    add(
      'install (id, provider_id, install_code, install_limit, status, created_at_ms)',
      '(?, ?, ?, 5, 10, 0)',
      walks.flatMap(({ links, providers: owners }) =>
        LINKS.map((name) => [links[name].id, owners[PROVIDER_OF[name]].id, links[name].code]),
      ),
    );
  })();
}

function shownBy(walk: Walk, shown: ShownModel): Shown {
  if (shown.by === 'nothing') return { kind: 'nothing', providerCode: null };
  if (shown.by === 'binding') {
    return { kind: 'binding', providerCode: walk.providers[shown.provider].code, domainHash: HASH };
  }
  return { kind: 'link', installCode: walk.links[shown.link].code, domainHash: HASH };
}

/** One operation on the program; the clock goes to and fro. */
async function act(
  engine: Engine,
  walk: Walk,
  op: OpModel,
  before: World,
  at: number,
): Promise<string> {
  const { store } = engine.core;
  const todayMs = engine.clock.nowMs() + before.day * DAY_MS;
  const nowMs = todayMs + (at % 2 === 0 ? at : -at) * HOUR_MS;
  if (op.op === 'register') {
    const held = before.held[op.actor];
    const holder = op.withToken && held !== undefined ? walk.holders[held] : undefined;
    const tokenHash = hashKey(crypto.randomUUID());
    const registered = await store.registerDevice({
      hwid: walk.hwid,
      facts: FACTS,
      locale: null,
      push: null,
      shown: shownBy(walk, op.shown),
      tokenHash,
      heldTokenHash: holder?.tokenHash ?? null,
      nowMs,
    });
    if (typeof registered === 'string') return registered;
    walk.holders[walk.world.held[op.actor] ?? -1] = { id: registered.deviceId, tokenHash };
    return 'ok';
  }
  if (op.op === 'send' || op.op === 'wait') return 'ok';
  if (op.op === 'show') {
    const held = before.held[op.actor];
    const holder = held === undefined ? undefined : walk.holders[held];
    const found = holder && (await store.findDeviceByToken(holder.tokenHash));
    if (found) await store.noteSeen(found.id, found.tokenId, nowMs);
    return 'ok';
  }
  if (op.op === 'forget') {
    await store.forgetDevice(walk.hwid, ACT);
    return 'ok';
  }
  if (op.op === 'call') {
    const key = {
      providerCode: walk.providers[op.provider].code,
      domainHash: HASH,
      hwid: walk.hwid,
    };
    return store.recordCheckIn(key, FACTS, nowMs);
  }
  if (op.op === 'remove') {
    await removeProvider(store, walk.providers[op.provider].code);
    return 'ok';
  }
  const { id, code } = walk.links[op.link];
  const providerId = walk.providers[PROVIDER_OF[op.link]].id;
  if (op.op === 'enter') {
    await store.takeSlot({ installCode: code, domainHash: HASH, hwid: walk.hwid }, FACTS, nowMs);
  } else if (op.op === 'pushOut') {
    // Here the clock goes on: a cool-down of before would hold the newcomer up.
    await pushOut(engine, walk, op, todayMs + 3 * DAY_MS + at * HOUR_MS);
  } else if (op.op === 'leave') {
    await store.freeSlot(providerId, { installCode: null, installId: id }, walk.hwid, {
      ...ACT,
      atMs: nowMs,
    });
  } else {
    const status = walk.world.disabled.includes(op.link) ? 5 : 10;
    await store.updateLink(providerId, id, { status }, ACT);
  }
  return 'ok';
}

/**
 * A newcomer on the link, which is full and frees slots by its policy; the device's is the only one
 * there. The newcomer goes then, and the link is as it was.
 */
async function pushOut(
  engine: Engine,
  walk: Walk,
  { link: name, why, door }: Extract<OpModel, { op: 'pushOut' }>,
  nowMs: number,
): Promise<void> {
  const { store } = engine.core;
  const { id, code: installCode } = walk.links[name];
  const providerId = walk.providers[PROVIDER_OF[name]].id;
  const policy =
    why === 'inactive'
      ? { inactiveDays: 1, whenFull: 'refuse' as const }
      : { inactiveDays: 0, whenFull: 'replace-oldest' as const, coolDownHours: 0 };
  await store.updateLink(providerId, id, { installLimit: 1, ...policy }, ACT);
  const hwid = `newcomer-${crypto.randomUUID()}`;
  const key = { installCode, domainHash: HASH };
  if (door === 'fetch') {
    await store.takeSlot({ ...key, hwid }, FACTS, nowMs);
  } else {
    await store.registerDevice({
      hwid,
      facts: FACTS,
      locale: null,
      push: null,
      shown: { kind: 'link', ...key },
      tokenHash: hashKey(crypto.randomUUID()),
      heldTokenHash: null,
      nowMs,
    });
  }
  await store.freeSlot(providerId, { installCode: null, installId: id }, hwid, ACT);
  await store.updateLink(providerId, id, { installLimit: 5, ...NO_POLICY }, ACT);
}

/** What a delivered send leaves behind, for many devices at once. */
function deliverTo(
  engine: Engine,
  sends: readonly { walk: Walk; provider: ProviderName; before: World }[],
): void {
  const add = engine.db.query<{ id: number }, [number, string]>(
    `INSERT INTO distribution (provider_id, notification_type, status, target_hwid, payload,
       created_at_ms, due_at_ms, reaches_unbound, expires_at_ms)
     VALUES (?, 20, 10, ?, '{}', 0, 0, 0, 9e15) RETURNING id`,
  );
  const know = engine.db.query(
    `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
       first_seen_at_ms, last_seen_at_ms) VALUES (?, '', '', '', '', '', 0, 0)
     ON CONFLICT DO NOTHING`,
  );
  const address = engine.db.query(
    `INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms,
       sent_at_ms) SELECT ?, id, 2, ?, 1, 0, 0 FROM device WHERE hwid = ?`,
  );
  engine.db.transaction(() => {
    for (const { walk, provider, before } of sends) {
      const of = walk.providers[provider].id;
      const id = add.get(of, walk.hwid)?.id ?? 0;
      know.run(walk.hwid);
      address.run(id, isLinked(before, provider) ? of : -of, walk.hwid);
      walk.distributions.push(id);
    }
  })();
}

/** Leads many devices along their paths, a step of each at a time. */
export async function walkAll(engine: Engine, walks: readonly Walk[]): Promise<void> {
  addLinks(engine, walks);
  const length = Math.max(...walks.map(({ ops }) => ops.length));
  for (let at = 0; at < length; at++) {
    await nextTurn();
    const moving = walks.flatMap((walk) => {
      const op = walk.ops[at];
      return op === undefined ? [] : [{ walk, op, before: walk.world }];
    });
    for (const { walk, op, before } of moving) {
      walk.last = play(before, op);
      walk.world = walk.last.after;
    }
    deliverTo(
      engine,
      moving.flatMap(({ walk, op, before }) =>
        op.op === 'send' ? [{ walk, provider: op.provider, before }] : [],
      ),
    );
    await Promise.all(
      moving.map(async ({ walk, op, before }) => {
        walk.said = await act(engine, walk, op, before, at);
      }),
    );
  }
  await nextTurn();
}

/** What the program said last and opens now is what the model does. */
export async function check(engine: Engine, walk: Walk): Promise<void> {
  const story = JSON.stringify(walk.ops);
  const says = walk.last?.says ?? '';
  if (walk.said !== says) expect([story, walk.said]).toEqual([story, says]);
  const limits = { countMax: 100, bytesMax: 1e6 };
  for (const [n, holder] of walk.holders.entries()) {
    const { messages } = await engine.core.store.listInbox(holder, engine.clock.nowMs(), limits);
    const found = messages.map(({ id }) => walk.distributions.indexOf(id));
    const wanted = readableIn(walk.world, n);
    if (!Bun.deepEquals(found, wanted)) expect([story, n, found]).toEqual([story, n, wanted]);
    const isGood = (await engine.core.store.findDeviceByToken(holder.tokenHash)) !== null;
    const shouldBe = walk.world.tokens[n] !== undefined;
    if (isGood !== shouldBe) expect([story, n, isGood]).toEqual([story, n, shouldBe]);
  }
}
