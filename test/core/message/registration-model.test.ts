/**
 * Every world that can be reached in a few operations, and every operation in it: the program says
 * and opens what the model does, whatever its clock does meanwhile.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Engine, openEngine } from '../../support/delivery.ts';
import { STORE } from '../../support/place.ts';
import { IS_LONG, scaleOf } from '../../support/scale.ts';
import {
  type ActorName,
  keyOf,
  type LinkName,
  livesAt,
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
import { beginWalk, CROWD, check, walkAll } from './registration-walk.ts';

/**
 * So many operations lead to a world at most, and one more is tried in it. `MODEL_DEPTH=3` tries
 * 35,000 and takes ten seconds of a processor.
 */
const DEPTH = scaleOf('MODEL_DEPTH', { short: 2, long: STORE === 'sqlite' ? 3 : 2 });
const MESSAGES_MAX = 2;
/** On PostgreSQL a short run tries as much of the last level as fits into this time, s. */
const LAST_LEVEL_SECONDS = 4;
const TRIES_MIN = 1_000;
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
  // Random histories have time on both stores.
  ...(STORE === 'sqlite' ? ([{ op: 'wait' }, { op: 'show', actor: 'device' }] as const) : []),
];

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

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
  // A place whose slot P freed lives no longer than the token's place at M.
  if (isOfM && (before.places.P === undefined || livesAt(before, 'P'))) {
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
    if (old?.token === place.token || place.token === null) continue;
    const slot = after.slots.find(({ link: name }) => name === place.link);
    const opensNow = place.link === null || (old !== undefined && old.link !== place.link);
    expect(place.from).toBe(opensNow ? after.messages.length : (slot?.from ?? -1));
  }
  if (after.nobody !== null && before.nobody?.token !== after.nobody.token) {
    expect(after.nobody.from).toBe(after.messages.length);
  }
}

test('every operation in every world that few operations lead to', async () => {
  const seen = new Set([keyOf(NEW_WORLD)]);
  let level: { ops: OpModel[]; world: World }[] = [{ ops: [], world: NEW_WORLD }];
  const cells = new Map<string, number>();
  let tried = 0;
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
    const isTimed = STORE === 'postgres' && !IS_LONG && depth === DEPTH;
    const endMs = performance.now() + LAST_LEVEL_SECONDS * 1000;
    const crowds = Math.ceil(tries.length / CROWD);
    for (let crowd = 0; crowd < crowds; crowd++) {
      if (isTimed && tried >= TRIES_MIN && performance.now() > endMs) break;
      // Each crowd has tries of all worlds.
      const walks = tries.filter((_, at) => at % crowds === crowd).map(beginWalk);
      tried += walks.length;
      await walkAll(engine, walks);
      for (const walk of walks) await check(engine, walk);
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
