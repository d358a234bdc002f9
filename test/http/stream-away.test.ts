/** Streams while the database does not serve: they stay open, and catch up when it is back. */

import { expect, test } from 'bun:test';
import { StoreAway, StoreBusy, WriteFailed } from '../../src/core/port/store.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { Faults } from '../support/faults.ts';
import { byBinding, notify, register } from '../support/messaging.ts';
import { seedShop } from '../support/shop.ts';
import { noStreams, openStream, received, toPhone } from '../support/stream.ts';
import { until } from '../support/until.ts';

const BUSY = new WriteFailed('not saved', { cause: new StoreBusy('process 1 holds its lock') });

/** An appliance whose store gives way, a phone with its stream, and a message that came. */
async function start() {
  const faults = new Faults();
  const app = await startTestApp({ hasWorker: true }, faults.wrap);
  const own = await seedShop(app);
  const token = await register(app, byBinding('phone', own));
  const stream = await openStream(app, token);
  await notify(app, own, 'hello', toPhone);
  await until('it came', () => stream.ids().length === 1);
  return { app, own, faults, stream };
}

/** Moves the clock until something is there. */
const within = (app: TestApp, what: string, isThere: () => boolean) =>
  until(what, () => {
    if (isThere()) return true;
    app.clock.advance(250);
    return false;
  });

test('an acknowledgement is saved as soon as the database serves again', async () => {
  const { app, faults, stream } = await start();
  faults.arm('acknowledge', BUSY);
  stream.send(received(1));
  await within(app, 'a repetition', () => faults.count > 1);
  expect(stream.frames).toHaveLength(1);
  faults.disarm();
  await within(app, 'the answer', () => stream.frames.length === 2);
  expect(stream.frames[1]).toEqual({ rc: 1, msg: 'Ok' });
  expect((await app.core.store.findDistribution(1, 1))?.totals.received).toBe(1);
  await app.close();
});

test('after 30 s the stream ends, so that the device comes back', async () => {
  const { app, faults, stream } = await start();
  faults.arm('acknowledge', BUSY);
  stream.send(received(1));
  const sentMs = app.clock.nowMs();
  await within(app, 'the end', () => stream.socket.readyState === WebSocket.CLOSED);
  expect(app.clock.nowMs() - sentMs).toBeGreaterThanOrEqual(30_000);
  expect(await stream.closed).toBe(1011);
  expect(stream.reason()).toBe('the database is busy: try again in a moment');
  await app.close();
});

test('a stream whose look failed looks later, unless it has closed', async () => {
  const { app, own, faults, stream } = await start();
  const gone = await openStream(app, await register(app, byBinding('other', own)));
  faults.arm('glanceInboxes', new StoreAway('it does not answer'));
  await notify(app, own, 'late', toPhone);
  await notify(app, own, 'late', { hwid: 'other' });
  await until('the look failed', () => faults.count > 0);
  gone.socket.close();
  await until('one is left', () => app.server.streamCount() === 1);
  faults.disarm();
  await within(app, 'the message', () => stream.ids().length === 2);
  stream.socket.close();
  await noStreams(app);
  await app.close();
});
