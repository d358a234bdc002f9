/** Frames and answers fit what the libraries of devices read, and what a device names itself. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { byteLength } from '../../src/core/json-input.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call, type TestApp } from '../support/app.ts';
import { ack, notify } from '../support/messaging.ts';
import { addLink, enter, expectOk } from '../support/shop.ts';
import { openAs, received, startWithPhone, toPhone } from '../support/stream.ts';
import { until } from '../support/until.ts';

const FRAME_BYTES = 16 * 1024;

let app: TestApp;
let own: Credentials;
let token: string;
let bearer: { authorization: string };
beforeEach(async () => {
  ({ app, own, token } = await startWithPhone());
  bearer = { authorization: `Bearer ${token}` };
});
afterEach(() => app.close());

/** Sends a notification with a body of so many bytes, of two for each letter. */
const send = (bytes: number) => notify(app, own, 'ж'.repeat(bytes / 2), toPhone);
const isDelivered = async (id: number) =>
  (await app.core.store.findDistribution(id, 1))?.distribution.status === 100;

async function sendAll(...sizes: number[]): Promise<number[]> {
  const ids: number[] = [];
  for (const bytes of sizes) ids.push(await send(bytes));
  for (const id of ids) await until('it is delivered', () => isDelivered(id));
  return ids;
}

/** Opens a stream that remembers the bytes of each frame. */
async function open(headers: Record<string, string> = {}, query = '') {
  const stream = await openAs(app, { headers: { ...bearer, ...headers }, query });
  return {
    ...stream,
    sizes: () => stream.frames.map((frame) => byteLength(JSON.stringify(frame))),
  };
}

const poll = (query: Record<string, string | number> = {}, headers: Record<string, string> = {}) =>
  call(app, '/device/inbox', null, query, { headers: { ...bearer, ...headers } });
const idsOf = ({ json }: Awaited<ReturnType<typeof poll>>) =>
  json.data.map(({ id }: { id: number }) => id);

describe('without a bound of the device', () => {
  test('a batch ends before 16 KiB, on a stream and in a poll', async () => {
    const ids = await sendAll(...Array.from({ length: 14 }, () => 2_800));
    const stream = await open();
    await until('all came', () => stream.ids().length === ids.length);
    expect(stream.ids()).toEqual(ids);
    expect(stream.frames.length).toBe(3);
    for (const bytes of stream.sizes()) expect(bytes).toBeLessThanOrEqual(FRAME_BYTES);
    const first = await poll();
    expect(byteLength(first.text)).toBeLessThanOrEqual(FRAME_BYTES);
    expect(idsOf(first)).toEqual(stream.frames[0]?.data?.map(({ id }) => id));
    await ack(app, token, received(...idsOf(first)).items);
    expect(idsOf(await poll())).toEqual(stream.frames[1]?.data?.map(({ id }) => id));
  });
});

describe('a device that names its bound', () => {
  test('gets a stub of a message that is longer, and fetches it by its id', async () => {
    const [short = 0, long = 0] = await sendAll(200, 3_000);
    const whole = await poll({ id: long });
    expect(whole.json.data).toMatchObject([{ id: long, payload: { body: 'ж'.repeat(1_500) } }]);
    const { payload: _, ...facts } = whole.json.data[0];
    const stub = { ...facts, stub: true };
    for (const [headers, query] of [
      [{ 'x-frame-max': '2048' }, ''],
      [{}, '?frame_max=2048'],
    ] as const) {
      const stream = await open(headers, query);
      await until('both came', () => stream.ids().length === 2);
      expect(stream.frames.flatMap(({ data = [] }) => data as unknown[])[1]).toEqual(stub);
      for (const bytes of stream.sizes()) expect(bytes).toBeLessThanOrEqual(2_048);
      stream.socket.close();
    }
    expect((await poll({}, { 'x-frame-max': '2048' })).json.data[1]).toEqual(stub);
    expect((await poll({ frame_max: 2_048 })).json.data[1]).toEqual(stub);
    // The stub is acknowledged as the message is.
    await ack(app, token, received(long).items);
    expect(idsOf(await poll({ frame_max: 2_048 }))).toEqual([short]);
    expect((await poll({ id: long })).json).toEqual({ rc: 1, msg: 'Ok', data: [] });
  });

  test.each([
    ['1', 1_024],
    ['999999', 65_536],
  ])('%p becomes the nearest that may be', async (named, bound) => {
    await sendAll(900, 3_000);
    const { json } = await poll({}, { 'x-frame-max': named });
    expect(json.data.some((one: object) => 'stub' in one)).toBe(bound === 1_024);
  });

  test('that is no number has none', async () => {
    await sendAll(3_000);
    expect((await poll({}, { 'x-frame-max': 'x' })).json.data[0].stub).toBeUndefined();
  });
});

describe('beside the end of a slot', () => {
  const disable = async () => {
    const { id } = await addLink(app, own);
    await enter(app, 'phone');
    await expectOk(call(app, '/api/update-install', own, { id, status: 5 }));
  };

  test('a message that does not fit into the bound comes with the next answer', async () => {
    const [id = 0] = await sendAll(780);
    await disable();
    const bound = { 'x-frame-max': '1024' };
    const first = await poll({}, bound);
    expect(first.json).toMatchObject({ data: [], ended: [{ reason: 'link_disabled' }] });
    expect(byteLength(first.text)).toBeLessThanOrEqual(1024);
    const second = await poll({}, bound);
    expect(second.json.data).toMatchObject([{ id, payload: {} }]);
    expect(second.json).not.toHaveProperty('ended');
  });
});

test('of another device no message is found by its id', async () => {
  const id = await notify(app, own, 'to all', { os: ['android'] });
  expect((await poll({ id: id + 1 })).json.data).toEqual([]);
  expect((await poll({ id: 'x' })).json).toEqual({ rc: 0, msg: 'Unknown error' });
});
