/**
 * Random histories of a HWID whose slots end in all ways: the program says and opens what the model
 * does, no token reads what was not its own, and no rightful device is locked out.
 * `HISTORIES=10000` plays so many, `HISTORIES_SEED=7` others.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Engine, openEngine } from '../../support/delivery.ts';
import { STORE } from '../../support/place.ts';
import { Random } from '../../support/random.ts';
import { scaleOf } from '../../support/scale.ts';
import { PATIENCE_MS } from '../../support/until.ts';
import {
  type ActorName,
  isLinked,
  type LinkName,
  NEW_WORLD,
  type OpModel,
  type Place,
  PROVIDER_OF,
  type ProviderName,
  play,
  readableIn,
  type ShownModel,
  seenDayOf,
  type World,
} from './registration-model.ts';
import { beginWalk, CROWD, check, walkAll } from './registration-walk.ts';

const COUNT = scaleOf('HISTORIES', {
  short: STORE === 'sqlite' ? 250 : 100,
  long: STORE === 'sqlite' ? 5_000 : 1_000,
});
const SEED = Number(process.env['HISTORIES_SEED'] ?? 19);
const LENGTH = 16;
const LINKS: readonly LinkName[] = ['own', 'others', 'ofM'];
/** What each of them can show; no two share a link of P. */
const EVIDENCE: Readonly<Record<ActorName, readonly ShownModel[]>> = {
  device: [
    { by: 'link', link: 'own' },
    { by: 'link', link: 'own' },
    { by: 'link', link: 'ofM' },
    { by: 'binding', provider: 'P' },
    { by: 'nothing' },
  ],
  user: [{ by: 'link', link: 'others' }, { by: 'link', link: 'others' }, { by: 'nothing' }],
  stranger: [{ by: 'binding', provider: 'P' }, { by: 'nothing' }],
  rogue: [
    { by: 'link', link: 'ofM' },
    { by: 'binding', provider: 'M' },
  ],
};
const ACTORS = Object.keys(EVIDENCE) as ActorName[];
/** The one whose link of P it is. */
const OWNER_OF: Partial<Record<LinkName, ActorName>> = { own: 'device', others: 'user' };

setDefaultTimeout(COUNT > 500 ? COUNT * PATIENCE_MS : 4 * PATIENCE_MS);

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

function randomOp(random: Random): OpModel {
  const link = random.pick(LINKS);
  const kind = random.int(0, 99);
  if (kind < 36) {
    const actor = random.pick(ACTORS);
    const withToken = random.chance(0.4);
    return { op: 'register', actor, shown: random.pick(EVIDENCE[actor]), withToken };
  }
  if (kind < 50) return { op: 'enter', link };
  if (kind < 58) return { op: 'leave', link };
  if (kind < 68) {
    const why = random.pick(['inactive', 'replaced'] as const);
    return { op: 'pushOut', link, why, door: random.pick(['fetch', 'register'] as const) };
  }
  if (kind < 71) return { op: 'toggle', link };
  if (kind < 85) return { op: 'send', provider: random.chance(0.8) ? 'P' : 'M' };
  if (kind < 89) return { op: 'call', provider: random.pick(['P', 'M'] as const) };
  if (kind < 95) return { op: 'show', actor: random.pick(ACTORS) };
  return kind < 98 ? { op: 'wait' } : { op: 'forget' };
}

/** Who has a place, or may claim it again after its token ended; null: no one in particular. */
function claimant({ tokens }: World, { token, link }: Place): ActorName | null {
  if (token === null) return (link && OWNER_OF[link]) ?? null;
  return tokens[token]?.actor ?? null;
}

/** Whose a message is that is addressed to the device at P now; null: for no one in particular. */
function ownerAt(world: World): ActorName | null {
  const place = world.places.P;
  if (place !== undefined) return claimant(world, place);
  const first = world.slots.find(({ link }) => PROVIDER_OF[link] === 'P');
  return (first && OWNER_OF[first.link]) ?? null;
}

/** A history, with what it promises of P asked after each of its steps. */
function history(random: Random): OpModel[] {
  const ops: OpModel[] = [];
  const owners: (ActorName | null)[] = [];
  let world = NEW_WORLD;
  const next = (op: OpModel) => {
    const before = world;
    if (op.op === 'send') {
      const isOfP = op.provider === 'P' && isLinked(before, 'P');
      owners.push(isOfP ? ownerAt(before) : null);
    }
    const step = play(before, op);
    world = step.after;
    ops.push(op);
    checkStep(before, op, world, [ops, owners]);
    return step;
  };
  for (let n = random.int(6, LENGTH); n > 0; n--) next(randomOp(random));
  if (random.chance(0.1)) next({ op: 'remove', provider: 'M' });
  // The one who has the place, and lost the token, comes in by the link of the claim.
  const place = world.places.P;
  const actor = place && claimant(world, place);
  const link = place?.link;
  if (actor && link) {
    if (world.disabled.includes(link)) next({ op: 'toggle', link });
    const { says } = next({ op: 'register', actor, shown: { by: 'link', link }, withToken: false });
    expect([ops, says]).toEqual([ops, 'ok']);
  }
  return ops;
}

function checkStep(
  before: World,
  op: OpModel,
  after: World,
  [ops, owners]: [OpModel[], readonly (ActorName | null)[]],
): void {
  for (const [token, { actor }] of Object.entries(after.tokens)) {
    for (const n of readableIn(after, Number(token))) {
      const message = after.messages[n];
      if (message?.provider !== 'P' || message.isUnbound) continue;
      const owner = owners[n] ?? actor;
      if (owner !== actor) expect([ops, n, actor]).toEqual([ops, n, owner]);
    }
  }
  const names: readonly ProviderName[] = ['P', 'M'];
  for (const name of names) {
    const [old, place] = [before.places[name], after.places[name]];
    if (old === undefined || op.op === 'forget' || (op.op === 'remove' && op.provider === name)) {
      continue;
    }
    // Nothing but a registration moves a place, and while its token lives, that by its link alone.
    if (place?.token === old.token) continue;
    if (place?.token === null) {
      expect([ops, op.op]).toEqual([ops, expect.stringMatching(/^(leave|pushOut|remove)$/)]);
      continue;
    }
    const isIdle = before.day - seenDayOf(before, old) > 30;
    const isByClaim = op.op === 'register' && op.shown.by === 'link' && op.shown.link === old.link;
    expect([ops, op.op, isIdle || isByClaim]).toEqual([ops, 'register', true]);
  }
}

test(`${COUNT} histories of seed ${SEED}`, async () => {
  const random = new Random(SEED);
  for (let done = 0; done < COUNT; done += CROWD) {
    const count = Math.min(CROWD, COUNT - done);
    const walks = Array.from({ length: count }, () => beginWalk(history(random)));
    await walkAll(engine, walks);
    for (const walk of walks) await check(engine, walk);
  }
});
