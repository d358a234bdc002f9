/**
 * Every world that can be reached in a few operations, and every operation in it: the program says
 * and opens what the model does, whatever its clock does meanwhile.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { TokenHolder } from '../../../src/core/port/inbox.ts';
import type { Shown } from '../../../src/core/port/registration.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { ACT } from '../../support/actor.ts';
import { DAY_MS, type Engine, HOUR_MS, makeProvider, openEngine } from '../../support/delivery.ts';
import { STORE } from '../../support/place.ts';
import { PATIENCE_MS } from '../../support/until.ts';
import {
  type ActorName,
  isLinked,
  keyOf,
  type LinkName,
  NEW_WORLD,
  type OpModel,
  PROVIDER_OF,
  type ProviderName,
  play,
  readableIn,
  type ShownModel,
  type Step,
  WAIT_DAYS,
  type World,
} from './registration-model.ts';

setDefaultTimeout(4 * PATIENCE_MS);

/**
 * So many operations lead to a world at most, and one more is tried in it. `MODEL_DEPTH=3` tries
 * 35,000 and takes ten seconds of a processor.
 */
const DEPTH = Number(process.env['MODEL_DEPTH'] ?? 2);
const MESSAGES_MAX = 2;
/** Devices that are played side by side. */
const CROWD = STORE === 'sqlite' ? 400 : 100;
const HASH = 'a'.repeat(64);
const FACTS = { os: 'android', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };

const registers = (actor: ActorName, shown: ShownModel, ...withTokens: boolean[]): OpModel[] =>
  withTokens.map((withToken) => ({ op: 'register', actor, shown, withToken }));
const link = (name: LinkName): ShownModel => ({ by: 'link', link: name });
const binding = (provider: ProviderName): ShownModel => ({ by: 'binding', provider });
const NOTHING: ShownModel = { by: 'nothing' };

const OPS: readonly OpModel[] = [
  ...registers('device', link('own'), true, false),
  ...registers('device', link('ofM'), true),
  ...registers('device', binding('P'), true, false),
  ...registers('device', NOTHING, true, false),
  ...registers('user', link('others'), true, false),
  ...registers('stranger', binding('P'), true, false),
  ...registers('stranger', NOTHING, false),
  ...registers('rogue', link('ofM'), true, false),
  ...registers('rogue', binding('M'), false),
  ...(['own', 'others', 'ofM'] as const).flatMap((name): OpModel[] => [
    { op: 'enter', link: name },
    { op: 'leave', link: name },
  ]),
  { op: 'toggle', link: 'own' },
  { op: 'call', provider: 'P' },
  { op: 'send', provider: 'P' },
  { op: 'send', provider: 'M' },
  { op: 'wait' },
  { op: 'show', actor: 'device' },
];

let engine: Engine;
let ids: Record<ProviderName, number>;
let codes: Record<ProviderName, string>;
beforeAll(async () => {
  engine = await openEngine();
  const [p, m] = [await makeProvider(engine), await makeProvider(engine)];
  ids = { P: p.id, M: m.id };
  codes = { P: p.code, M: m.code };
  for (const providerId of Object.values(ids)) {
    const draft = { providerId, domainHash: HASH, domainName: '', createdAtMs: 0 };
    await engine.core.store.addDomain({ ...draft, domainCountMax: 1 }, ACT);
  }
});
afterAll(() => engine.close());

/** A path through the model, and the device of its own that is led along it. */
interface Walk {
  ops: OpModel[];
  hwid: string;
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
function beginWalk(ops: OpModel[]): Walk {
  const n = walkCount++;
  const codeOf = (name: LinkName) => `${name[1]}${String(n).padStart(11, '0')}`.slice(0, 12);
  const links = {
    own: { id: n * 3 + 1, code: codeOf('own') },
    others: { id: n * 3 + 2, code: codeOf('others') },
    ofM: { id: n * 3 + 3, code: codeOf('ofM') },
  };
  return {
    ops,
    hwid: `walk-${n}`,
    links,
    world: NEW_WORLD,
    holders: [],
    distributions: [],
    last: null,
    said: 'ok',
  };
}

function addLinks(walks: readonly Walk[]): void {
  const add = engine.db.query(
    `INSERT INTO install (id, provider_id, install_code, install_limit, status, created_at_ms)
     VALUES (?, ?, ?, 5, 10, 0)`,
  );
  engine.db.transaction(() => {
    for (const { links } of walks) {
      for (const name of ['own', 'others', 'ofM'] as const) {
        add.run(links[name].id, ids[PROVIDER_OF[name]], links[name].code);
      }
    }
  })();
}

function shownBy(walk: Walk, shown: ShownModel): Shown {
  if (shown.by === 'nothing') return { kind: 'nothing', providerCode: null };
  if (shown.by === 'binding') {
    return { kind: 'binding', providerCode: codes[shown.provider], domainHash: HASH };
  }
  return { kind: 'link', installCode: walk.links[shown.link].code, domainHash: HASH };
}

/** One operation on the program; the clock goes to and fro. */
async function act(walk: Walk, op: OpModel, before: World, at: number): Promise<string> {
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
    const key = { providerCode: codes[op.provider], domainHash: HASH, hwid: walk.hwid };
    return store.recordCheckIn(key, FACTS, nowMs);
  }
  const { id, code } = walk.links[op.link];
  const providerId = ids[PROVIDER_OF[op.link]];
  if (op.op === 'enter') {
    await store.takeSlot({ installCode: code, domainHash: HASH, hwid: walk.hwid }, FACTS, nowMs);
  } else if (op.op === 'leave') {
    await store.freeSlot(providerId, { installCode: null, installId: id }, walk.hwid, ACT);
  } else {
    const status = walk.world.disabled.includes(op.link) ? 5 : 10;
    await store.updateInstall(providerId, id, { status }, ACT);
  }
  return 'ok';
}

/** What a delivered send leaves behind, for many devices at once. */
function deliverTo(sends: readonly { walk: Walk; provider: ProviderName; before: World }[]): void {
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
      const id = add.get(ids[provider], walk.hwid)?.id ?? 0;
      know.run(walk.hwid);
      address.run(id, isLinked(before, provider) ? ids[provider] : -ids[provider], walk.hwid);
      walk.distributions.push(id);
    }
  })();
}

async function walkAll(walks: readonly Walk[]): Promise<void> {
  addLinks(walks);
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
      moving.flatMap(({ walk, op, before }) =>
        op.op === 'send' ? [{ walk, provider: op.provider, before }] : [],
      ),
    );
    await Promise.all(
      moving.map(async ({ walk, op, before }) => {
        walk.said = await act(walk, op, before, at);
      }),
    );
  }
  await nextTurn();
}

async function check(walk: Walk): Promise<void> {
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

/** Who reads which messages of a provider that the device is linked to. */
const readersOf = (world: World, provider: ProviderName) =>
  Object.keys(world.tokens).map((token) => [
    token,
    readableIn(world, Number(token)).filter((n) => {
      const message = world.messages[n];
      return message?.provider === provider && !message.isUnbound;
    }),
  ]);

/** What the rule promises, asked of the model, which the program is held against. */
function checkPromises(before: World, op: OpModel, { after }: Step): void {
  const isOfM =
    op.op === 'register'
      ? op.actor === 'rogue'
      : op.op === 'send' || op.op === 'call'
        ? op.provider === 'M'
        : 'link' in op && PROVIDER_OF[op.link] === 'M';
  if (isOfM) {
    expect(after.places.P).toEqual(before.places.P as never);
    const stays = new Set(readersOf(before, 'P').map((reader) => JSON.stringify(reader)));
    const lost = readersOf(after, 'P').filter(
      (reader) => (reader[1]?.length ?? 0) > 0 && !stays.has(JSON.stringify(reader)),
    );
    expect(lost).toEqual([]);
  }
  // A disabled link loses nothing.
  if (op.op === 'toggle') {
    expect(readersOf(after, 'P')).toEqual(readersOf(before, 'P'));
  }
  // A place that opens messages from before it began opens none from before its slot.
  for (const [provider, place] of Object.entries(after.places)) {
    const old = before.places[provider as ProviderName];
    if (old?.token === place.token) continue;
    const [first] = after.slots.filter(({ link: name }) => PROVIDER_OF[name] === provider);
    const opensNow = place.link === null || (old !== undefined && old.link !== place.link);
    expect(place.from).toBe(opensNow ? after.messages.length : (first?.from ?? -1));
  }
  if (after.nobody !== null && before.nobody?.token !== after.nobody.token) {
    expect(after.nobody.from).toBe(after.messages.length);
  }
}

test('every operation in every world that few operations lead to', async () => {
  const seen = new Set([keyOf(NEW_WORLD)]);
  let level: { ops: OpModel[]; world: World }[] = [{ ops: [], world: NEW_WORLD }];
  const cells = new Map<string, number>();
  for (let depth = 0; depth <= DEPTH && level.length > 0; depth++) {
    const next: typeof level = [];
    const tries: OpModel[][] = [];
    for (const { ops, world } of level) {
      for (const op of OPS) {
        if (op.op === 'send' && world.messages.length >= MESSAGES_MAX) continue;
        const step = play(world, op);
        checkPromises(world, op, step);
        if (step.cell !== null) cells.set(step.cell, (cells.get(step.cell) ?? 0) + 1);
        tries.push([...ops, op]);
        const key = keyOf(step.after);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ ops: [...ops, op], world: step.after });
      }
    }
    for (let i = 0; i < tries.length; i += CROWD) {
      const walks = tries.slice(i, i + CROWD).map(beginWalk);
      await walkAll(walks);
      for (const walk of walks) await check(walk);
    }
    level = next;
  }
  // The table of docs/device-protocol.md, cell by cell.
  const claims = ['link', 'binding', 'later', 'nothing'];
  const wanted = claims.flatMap((claim) =>
    ['free', 'own', 'another'].map((holder) => `${claim}, ${holder}`),
  );
  expect([...cells.keys()].sort()).toEqual(wanted.sort());
});
