/** The count of a send's devices: bounded, in steps, and never the reason of a failed send. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { TargetCursor } from '../../src/core/port/distribution.ts';
import type { Provider } from '../../src/core/port/provider.ts';
import { withMethods } from '../../src/core/port/store.ts';
import { sendNotification } from '../../src/core/send.ts';
import {
  countTargets,
  findForCommand,
  findForNotification,
  TARGET_COUNT_MAX,
} from '../../src/core/target-count.ts';
import {
  type Engine,
  makeDevices,
  makeProvider,
  openEngine,
  putOnLinks,
} from '../support/delivery.ts';

let engine: Engine;
let provider: Provider;
beforeEach(async () => {
  engine = await openEngine();
  provider = await makeProvider(engine);
});
afterEach(() => engine.close());

const MESSAGE = {
  type: 10,
  payload: { body: 'x', type_push: 'optional', expire_days: 1 },
  isQuiet: false,
} as const;
const OS = { os: ['ios' as const, 'android' as const] };

/** The core on a store that has so many steps of targets; counts the steps. */
function counting(steps: number, step: { count: number; reachableCount: number }) {
  const seen = { steps: 0 };
  const store = withMethods(engine.core.store, {
    scanTargets: async () => {
      seen.steps += 1;
      return {
        ...step,
        groups: [],
        next: seen.steps < steps ? (seen as unknown as TargetCursor) : null,
      };
    },
  });
  return { core: { ...engine.core, store }, seen };
}

test('counts to the end if there are few, and says that it is all', async () => {
  const { core } = counting(3, { count: 40, reachableCount: 7 });
  const counted = await countTargets(core, provider, OS, MESSAGE);
  expect(counted).toMatchObject({ recipients: 120, reachable: 21, isAtLeast: false });
});

test('stops at a number of devices, and of steps that found few', async () => {
  const many = counting(1_000, { count: 2_000, reachableCount: 500 });
  expect(await countTargets(many.core, provider, OS, MESSAGE)).toMatchObject({
    recipients: TARGET_COUNT_MAX,
    reachable: 2_500,
    isAtLeast: true,
  });
  expect(many.seen.steps).toBe(5);
  const rare = counting(1_000, { count: 1, reachableCount: 0 });
  expect(await countTargets(rare.core, provider, OS, MESSAGE)).toMatchObject({ isAtLeast: true });
  expect(rare.seen.steps).toBeLessThan(20);
});

test('the search for a first device has no such bound', async () => {
  const none = counting(50, { count: 0, reachableCount: 0 });
  expect(await findForNotification(none.core, provider, OS)).toMatchObject({
    says: 'no_devices_found',
  });
  expect(none.seen.steps).toBe(50);
});

test('named devices: those that may get it, and what a notification and a command refuse', async () => {
  const ids = makeDevices(engine, ['linked', 'stranger']);
  putOnLinks(engine, provider, ids.slice(0, 1));
  const { core } = engine;
  const linked = { hwids: ['linked'] };
  const both = { hwids: ['linked', 'stranger'] };
  const found = await findForNotification(core, provider, linked);
  expect(await countTargets(core, provider, found as never, MESSAGE)).toMatchObject({
    recipients: 1,
    reachable: 0,
    isAtLeast: false,
  });
  expect(await findForNotification(core, provider, both)).toMatchObject({
    says: 'device_not_found',
  });
  expect(await findForCommand(core, provider, both, 'update-subscription')).toMatchObject({
    says: 'unbound_not_allowed',
  });
  expect(await findForCommand(core, provider, both, 'import-data')).toMatchObject({
    unboundCount: 1,
    reachesUnbound: true,
  });
  expect(await findForCommand(core, provider, linked, 'update-subscription')).toMatchObject({
    unboundCount: 0,
  });
});

test('a send that is accepted stays accepted although its devices cannot be counted', async () => {
  let steps = 0;
  const store = withMethods(engine.core.store, {
    scanTargets: async () => {
      if (++steps > 1) throw new Error('the database has gone');
      return { count: 1, reachableCount: 1, groups: [], next: null };
    },
  });
  const payload = { body: 'x', type_push: 'optional' as const, expire_days: 1 };
  const order = { payload, targets: OS, dueAtMs: null };
  const nowMs = engine.clock.nowMs();
  const sent = await sendNotification({ ...engine.core, store }, provider, order, nowMs);
  expect(sent).toEqual({ id: 1, count: null });
});
