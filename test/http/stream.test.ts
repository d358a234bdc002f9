/** The WebSocket at /device/stream. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import type { TestApp } from '../support/app.ts';
import { openBeside } from '../support/database.ts';
import { ack, byBinding, notify, order, readable, register } from '../support/messaging.ts';
import { noStreams, openStream, received, startWithPhone, toPhone } from '../support/stream.ts';
import { until } from '../support/until.ts';

const ITEMS_RULE = 'items must be a list of 1 to 100 acknowledgements';
let app: TestApp;
let own: Credentials;
let token: string;
beforeEach(async () => {
  ({ app, own, token } = await startWithPhone());
});
afterEach(() => app.close());

const nobodyStreams = () => noStreams(app);

describe('messages', () => {
  test('come within a second of the call, as the inbox has them', async () => {
    const stream = await openStream(app, token);
    const sentMs = performance.now();
    const id = await notify(app, own, 'hello', toPhone);
    await until('it came', () => stream.ids().length === 1);
    expect(performance.now() - sentMs).toBeLessThan(1_000);
    const frames: unknown[] = stream.frames;
    expect(frames).toEqual([
      {
        rc: 1,
        msg: 'Ok',
        data: [
          {
            id,
            notification_type: 10,
            created_at: '2026-11-20 15:00:00',
            expires_at: '2026-11-21 15:00:00',
            payload: { body: 'hello', type_push: 'optional', expire_days: 1 },
          },
        ],
      },
    ]);
  });

  test('that waited come at once', async () => {
    await notify(app, own, 'first', toPhone);
    await notify(app, own, 'second', toPhone);
    await until('they wait', async () => (await readable(app, token)).length === 2);
    const stream = await openStream(app, token);
    await until('they came', () => stream.ids().length === 2);
    expect(stream.ids()).toEqual([1, 2]);
  });

  test('come once on a stream, and again on the next one until acknowledged', async () => {
    const first = await openStream(app, token);
    await notify(app, own, 'hello', toPhone);
    await until('it came', () => first.ids().length === 1);
    await notify(app, own, 'second', toPhone);
    await until('the second came', () => first.ids().length === 2);
    expect(first.ids()).toEqual([1, 2]);
    first.socket.close();
    await nobodyStreams();
    const second = await openStream(app, token);
    await until('both came again', () => second.ids().length === 2);
    second.send(received(1, 2));
    await until('it was answered', () => second.frames.some(({ data }) => data === undefined));
    expect(await readable(app, token)).toEqual([]);
  });

  test('of more than a hundred come as the first are acknowledged, in order', async () => {
    for (let n = 0; n < 130; n += 1) await notify(app, own, `n${n}`, toPhone);
    const stream = await openStream(app, token);
    await until('a hundred came', () => stream.ids().length === 100);
    stream.send(received(...stream.ids()));
    await until('the rest came', () => stream.ids().length === 130);
    expect(stream.ids()).toEqual(Array.from({ length: 130 }, (_, n) => n + 1));
  });

  test('that are large come a few at a time, and the stream holds', async () => {
    const import_data = 'x'.repeat(200_000);
    for (let n = 0; n < 8; n += 1) {
      await order(app, own, { action_type: 'import-data', import_data, ...toPhone });
    }
    await until('all are sent', async () => {
      const db = openBeside(app.dataDir);
      const row = db.query('SELECT count(*) AS sent FROM recipient WHERE state = 2').get();
      db.close();
      return (row as { sent: number }).sent === 8;
    });
    const stream = await openStream(app, token);
    const acknowledged = new Set<number>();
    await until('all came', () => {
      const fresh = stream.ids().filter((id) => !acknowledged.has(id));
      for (const id of fresh) acknowledged.add(id);
      if (fresh.length > 0) stream.send(received(...fresh));
      return acknowledged.size === 8;
    });
    expect(stream.frames.every(({ data = [] }) => data.length <= 1)).toBe(true);
    expect(stream.ids()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('acknowledged by a call are not sent again', async () => {
    const stream = await openStream(app, token);
    const first = await notify(app, own, 'hello', toPhone);
    await until('it came', () => stream.ids().length === 1);
    await ack(app, token, [{ id: first, state: 'executed' }]);
    await notify(app, own, 'second', toPhone);
    await until('the second came', () => stream.ids().length === 2);
    expect(stream.ids()).toEqual([1, 2]);
  });

  test('for another device do not come', async () => {
    const other = await register(app, byBinding('tablet', own));
    const stream = await openStream(app, token);
    await notify(app, own, 'for the tablet', { hwid: 'tablet' });
    await until('it was delivered', async () => (await readable(app, other)).length === 1);
    await notify(app, own, 'for the phone', toPhone);
    await until('its own came', () => stream.ids().length > 0);
    expect(stream.ids()).toEqual([2]);
  });
});

describe('frames', () => {
  test.each([
    ['no JSON', 'hello', ITEMS_RULE],
    ['a number', '5', ITEMS_RULE],
    ['null', 'null', ITEMS_RULE],
    ['a list', '[]', ITEMS_RULE],
    ['no items', '{}', ITEMS_RULE],
    ['items that are no list', '{"items":{}}', ITEMS_RULE],
    ['an item without an id', '{"items":[{}]}', 'each item must have the id of a message'],
    [
      'an unknown state',
      '{"items":[{"id":1,"state":"seen"}]}',
      'the state of an item must be received, opened, executed, failed',
    ],
    ['key of a prototype', '{"__proto__":{"items":[]}}', ITEMS_RULE],
  ])('that are wrong are told so, and the stream goes on: %s', async (_, text, detail) => {
    const stream = await openStream(app, token);
    stream.send(text);
    await until('it was answered', () => stream.frames.length === 1);
    expect(stream.frames).toEqual([{ rc: 0, msg: 'Unknown error', detail }]);
    await notify(app, own, 'hello', toPhone);
    await until('a message came', () => stream.ids().length === 1);
    expect(app.logLines).toEqual([]);
  });

  test('of bytes are no text, and told so', async () => {
    const stream = await openStream(app, token);
    stream.socket.send(new Uint8Array([0xff, 0x00]));
    await until('it was answered', () => stream.frames.length === 1);
    expect(stream.frames[0]?.detail).toBe(ITEMS_RULE);
  });

  test('that are too large end the stream', async () => {
    const stream = await openStream(app, token);
    stream.send('x'.repeat(64 * 1024 + 1));
    expect([1006, 1009]).toContain(await stream.closed);
    await nobodyStreams();
  });

  test('in a flood end the stream, and what was said before counts', async () => {
    const stream = await openStream(app, token);
    await notify(app, own, 'hello', toPhone);
    await until('it came', () => stream.ids().length === 1);
    // Not even a flood of bytes holds more of them in memory than may wait for the disk.
    for (let n = 0; n < 5_000; n += 1) stream.send(received(1));
    expect([1006, 1008]).toContain(await stream.closed);
    await nobodyStreams();
    expect(await readable(app, token)).toEqual([]);
  });
});
