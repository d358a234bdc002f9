/** The WebSocket at /device/stream. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { SENT } from '../../src/core/message/status.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { STREAM_BUDGET } from '../../src/http/stream/device-stream.ts';
import type { TestApp } from '../support/app.ts';
import { besideOf } from '../support/beside.ts';
import { ack, byBinding, notify, order, readable, register } from '../support/messaging.ts';
import { noStreams, openStream, received, startWithPhone, toPhone } from '../support/stream.ts';
import { until } from '../support/until.ts';

const NO_OBJECT = 'the frame must be a JSON object in UTF-8';
const TOO_FAST = 'more frames or bytes in a second than a device needs';
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
  test('come by the call itself, as the inbox has them', async () => {
    const stream = await openStream(app, token);
    // No bell rings here once a second: what is not told by a signal never comes.
    const id = await notify(app, own, 'hello', toPhone);
    await until('it came', () => stream.ids().length === 1);
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
    const db = besideOf(app);
    const sent = db.query('SELECT * FROM recipient WHERE state = 2');
    await until('all are sent', () => sent.all().length === 8);
    db.close();
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
    ['no JSON', 'hello', NO_OBJECT],
    ['a number', '5', NO_OBJECT],
    ['null', 'null', NO_OBJECT],
    ['a list', '[]', NO_OBJECT],
    ['brackets', '['.repeat(64 * 1024), 'the frame must not nest deeper than 32 levels'],
    [
      'a hundred thousand values',
      `{"items":[${'0,'.repeat(30_000)}0]}`,
      'the frame must not hold more than 2000 values',
    ],
    ['no items', '{}', ITEMS_RULE],
    ['items that are no list', '{"items":{}}', ITEMS_RULE],
    ['an item without an id', '{"items":[{}]}', 'each item must have the id of a message'],
    [
      'an unknown state',
      '{"items":[{"id":1,"state":"seen"}]}',
      'the state of an item must be received, opened, executed, failed',
    ],
    ['key of a prototype', '{"__proto__":{"items":[]}}', ITEMS_RULE],
  ])('that are wrong are told so, and end the stream: %s', async (_, text, detail) => {
    const stream = await openStream(app, token);
    stream.send(text);
    expect(await stream.closed).toBe(1007);
    expect(stream.reason()).toBe(detail);
    expect(stream.frames).toEqual([{ rc: 0, msg: 'Unknown error', detail }]);
    expect(app.logLines).toEqual([]);
    await nobodyStreams();
  });

  test('of bytes are no text, and told so', async () => {
    const stream = await openStream(app, token);
    stream.socket.send(new Uint8Array([0xff, 0x00]));
    expect(await stream.closed).toBe(1007);
    expect(stream.reason()).toBe('the frame must be text');
  });

  test('that are too large end the stream', async () => {
    const stream = await openStream(app, token);
    stream.send('x'.repeat(64 * 1024 + 1));
    expect([1006, 1009]).toContain(await stream.closed);
    await nobodyStreams();
  });

  test('behind one that is wrong are not read', async () => {
    const stream = await openStream(app, token);
    const acknowledge = app.core.store.acknowledge.bind(app.core.store);
    app.core.store.acknowledge = () => {
      throw new Error('a frame was read');
    };
    stream.send('[');
    stream.send(received(1));
    stream.send('[');
    expect(await stream.closed).toBe(1007);
    expect(stream.frames).toHaveLength(1);
    expect(app.logLines).toEqual([]);
    app.core.store.acknowledge = acknowledge;
  });

  test('are taken as many as a device needs, and one more ends the stream', async () => {
    const stream = await openStream(app, token);
    const answered = () => stream.frames.length;
    const send = async (count: number) => {
      const before = answered();
      for (let n = 0; n < count; n += 1) {
        stream.send(received(1));
        // No more at a time than may wait for the disk.
        if (n % 100 === 99) await until('some are answered', () => answered() > before + n - 99);
      }
      await until('all are answered', () => answered() === before + count);
    };
    await send(STREAM_BUDGET.framesAtOnce);
    app.clock.advance(1_000);
    await send(STREAM_BUDGET.framesPerSecond);
    stream.send(received(1));
    expect(await stream.closed).toBe(1008);
    expect(stream.reason()).toBe(TOO_FAST);
  });

  test('may have as many bytes as a device needs', async () => {
    const stream = await openStream(app, token);
    const half = JSON.stringify(received(1)).padEnd(32 * 1024);
    const { bytesAtOnce, bytesPerSecond } = STREAM_BUDGET;
    for (let bytes = 0; bytes < bytesAtOnce; bytes += half.length) stream.send(half);
    await until('all are answered', () => stream.frames.length === bytesAtOnce / half.length);
    app.clock.advance(1_000);
    for (let bytes = 0; bytes < bytesPerSecond; bytes += half.length) stream.send(half);
    stream.send(received(1));
    expect(await stream.closed).toBe(1008);
    expect(stream.reason()).toBe(TOO_FAST);
  });

  test.each(['ping', 'pong'] as const)('of control count too: %s', async (kind) => {
    const stream = await openStream(app, token);
    const socket = stream.socket as unknown as Record<typeof kind, () => void>;
    for (let n = 0; n <= STREAM_BUDGET.framesAtOnce; n += 1) socket[kind]();
    expect(await stream.closed).toBe(1008);
  });

  test('that acknowledge what is not on the wire cost no look at the inbox', async () => {
    for (let n = 0; n < 101; n += 1) await notify(app, own, `n${n}`, toPhone);
    await until('all wait', async () => {
      const last = await app.core.store.findDistribution(101, 1);
      return last?.distribution.status === SENT;
    });
    const stream = await openStream(app, token);
    await until('a hundred came', () => stream.ids().length === 100);
    const listInbox = app.core.store.listInbox.bind(app.core.store);
    let looks = 0;
    app.core.store.listInbox = (...asked) => {
      looks += 1;
      return listInbox(...asked);
    };
    stream.send(received(999_999));
    await until('it is answered', () => stream.frames.length === 2);
    expect(looks).toBe(0);
    stream.send(received(1));
    await until('the last came', () => stream.ids().length === 101);
    expect(looks).toBe(1);
  });

  test('that come together are acknowledged together, a hundred items at a time', async () => {
    const stream = await openStream(app, token);
    const acknowledge = app.core.store.acknowledge.bind(app.core.store);
    const steps: number[] = [];
    app.core.store.acknowledge = async (device, items, nowMs) => {
      steps.push(items.length);
      // As long as a write takes: what changes nothing is answered without one.
      await nextTurn();
      return acknowledge(device, items, nowMs);
    };
    for (let n = 0; n < 250; n += 1) stream.send(received(n));
    await until('all are answered', () => stream.frames.length === 250);
    expect(steps.reduce((sum, count) => sum + count)).toBe(250);
    expect(Math.max(...steps)).toBeLessThanOrEqual(100);
    expect(steps.length).toBeLessThan(250);
  });

  test('in a flood end the stream, and what was said before counts', async () => {
    const stream = await openStream(app, token);
    await notify(app, own, 'hello', toPhone);
    await until('it came', () => stream.ids().length === 1);
    // Not even a flood of bytes holds more of them in memory than may wait for the disk.
    for (let n = 0; n < 5_000; n += 1) stream.send(received(1));
    expect([1006, 1008]).toContain(await stream.closed);
    await nobodyStreams();
    // What was said is still on its way to the disk when the stream is gone.
    await until('it is acknowledged', async () => (await readable(app, token)).length === 0);
  });
});
