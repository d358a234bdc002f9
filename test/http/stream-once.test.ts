/** A message that a device acknowledged while its inbox was looked into comes no second time. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { authenticateDevice } from '../../src/core/device.ts';
import { SENT } from '../../src/core/message/status.ts';
import type { Credentials } from '../../src/core/provider.ts';
import type { TestApp } from '../support/app.ts';
import { ack, inbox, notify, readable } from '../support/messaging.ts';
import { openStream, received, startWithPhone, toPhone } from '../support/stream.ts';
import { until } from '../support/until.ts';

let app: TestApp;
let own: Credentials;
let token: string;
beforeEach(async () => {
  ({ app, own, token } = await startWithPhone());
});
afterEach(() => app.close());

/**
 * Holds the answer of the next look back that finds so many messages, by a glance or by a list;
 * `held` settles when it is, and the function that it gives lets it go.
 */
function holdLook(count: number): Promise<() => void> {
  const { store } = app.core;
  const listInbox = store.listInbox.bind(store);
  const glanceInboxes = store.glanceInboxes.bind(store);
  return new Promise((isHeld) => {
    const hold = async (length: number) => {
      if (length !== count) return;
      Object.assign(store, { listInbox, glanceInboxes });
      await new Promise<void>((letGo) => isHeld(letGo));
    };
    store.listInbox = async (...asked) => {
      const found = await listInbox(...asked);
      await hold(found.messages.length);
      return found;
    };
    store.glanceInboxes = async (...asked) => {
      const found = await glanceInboxes(...asked);
      await hold(found[0]?.length ?? 0);
      return found;
    };
  });
}

test.each(['a frame', 'a call'])('on a stream, by %s', async (door) => {
  const stream = await openStream(app, token);
  const first = await notify(app, own, 'first', toPhone);
  await until('it came', () => stream.ids().length === 1);
  const held = holdLook(2);
  const second = await notify(app, own, 'second', toPhone);
  const letGo = await held;
  if (door === 'a frame') {
    stream.send(received(first));
    await until('it is answered', () => stream.frames.length === 2);
  } else {
    await ack(app, token, [{ id: first, state: 'received' }]);
  }
  letGo();
  await until('the second came', () => stream.ids().includes(second));
  const third = await notify(app, own, 'third', toPhone);
  await until('the third came', () => stream.ids().includes(third));
  expect(stream.ids()).toEqual([first, second, third]);
});

test('on a stream, when all that were found are acknowledged by then, and more wait', async () => {
  for (let n = 0; n < 130; n += 1) await notify(app, own, `n${n}`, toPhone);
  await until('all wait', async () => {
    const sent = await app.core.store.findDistribution(130, 1);
    return sent?.distribution.status === SENT;
  });
  const stream = await openStream(app, token);
  await until('a hundred came', () => stream.ids().length === 100);
  const held = holdLook(100);
  const last = await notify(app, own, 'last', toPhone);
  const letGo = await held;
  await ack(
    app,
    token,
    stream.ids().map((id) => ({ id, state: 'received' })),
  );
  letGo();
  await until('the last came', () => stream.ids().includes(last));
  expect(stream.ids()).toEqual(Array.from({ length: 131 }, (_, n) => n + 1));
});

test('on a stream, though older ones pushed it out of the look', async () => {
  for (let n = 0; n < 101; n += 1) await notify(app, own, `n${n}`, toPhone);
  await until('all wait', async () => {
    const device = await authenticateDevice(app.core, token, app.clock.nowMs());
    return device && app.core.store.findWaiting(device, 101, app.clock.nowMs());
  });
  const listInbox = app.core.store.listInbox.bind(app.core.store);
  // As if the first one came late: ids of two providers may be committed in another order.
  let isLate = true;
  app.core.store.listInbox = async (device, nowMs, limits) => {
    const all = await listInbox(device, nowMs, { ...limits, countMax: limits.countMax + 1 });
    const messages = all.messages.slice(isLate ? 1 : 0).slice(0, limits.countMax);
    return { messages, isCut: messages.length === limits.countMax };
  };
  const stream = await openStream(app, token);
  await until('a hundred came', () => stream.ids().length === 100);
  isLate = false;
  app.core.signals.awaited('all').forEach((id) => {
    app.core.signals.messagesFor(id);
  });
  await until('the first came', () => stream.ids().length === 101);
  stream.send(received(1, 2));
  const last = await notify(app, own, 'last', toPhone);
  await until('the last came', () => stream.ids().includes(last));
  expect(stream.ids().sort((a, b) => a - b)).toEqual(Array.from({ length: 102 }, (_, n) => n + 1));
});

test('on a stream, though it came while a look found nothing', async () => {
  const held = holdLook(0);
  const stream = await openStream(app, token);
  const letGo = await held;
  const id = await notify(app, own, 'meanwhile', toPhone);
  await until('it waits', async () => (await readable(app, token)).length === 1);
  letGo();
  await until('it came', () => stream.ids().length === 1);
  expect(stream.ids()).toEqual([id]);
});

test('in a poll', async () => {
  const first = await notify(app, own, 'first', toPhone);
  await until('it waits', async () => (await readable(app, token)).length === 1);
  const held = holdLook(1);
  const poll = inbox(app, token, 30);
  const letGo = await held;
  await ack(app, token, [{ id: first, state: 'received' }]);
  letGo();
  const second = await notify(app, own, 'second', toPhone);
  const { data } = (await poll).json as { data: { id: number }[] };
  expect(data.map(({ id }) => id)).toEqual([second]);
});

test('a stream whose frames wait for the disk takes a bounded number of them', async () => {
  const stream = await openStream(app, token);
  app.core.store.acknowledge = () => new Promise(() => {});
  // One is being saved, 256 wait, and the next is one too many: well within the rate of frames.
  for (let id = 1; id <= 258; id += 1) stream.send(received(id));
  expect(await stream.closed).toBe(1008);
  expect(stream.frames).toEqual([]);
});
