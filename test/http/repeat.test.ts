/** Calls that are repeated with a key: done once, with one answer, whatever has changed since. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ANSWER_KEPT_MS } from '../../src/core/idempotency.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { prune } from '../../src/jobs/keep.ts';
import { call, type Reply, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';

const REPEATED = 'an earlier call with this idempotency_key had this answer';
const REUSED = 'idempotency_key came with another call or other parameters in the last 24 hours';
const RULE = 'idempotency_key must be 1 to 64 visible ASCII characters';
const HASH = 'a'.repeat(64);
const CODE = 'LinkCode0001';
const ADD = '/api/add-install';
const COMMAND = '/remote/command';
const NOTIFICATION = '/remote/notification';

let app: TestApp;
let own: Credentials;
beforeEach(async () => {
  app = await startTestApp();
  own = await seedProvider(app);
});
afterEach(() => app.close());

type Query = Record<string, string | number>;

/** GETs, or POSTs a body. */
function ask(path: string, query: Query, body?: object): Promise<Reply> {
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  return call(app, path, own, query, init);
}

const detailOf = ({ headers }: Reply) => headers.get('x-error-detail');

/** Expects a call to have the answer of an earlier one, and to change nothing. */
async function expectRepeat(first: Reply, repeat: () => Promise<Reply>): Promise<void> {
  const before = await takeSnapshot(app);
  const reply = await repeat();
  expect([reply.text, detailOf(reply)]).toEqual([first.text, REPEATED]);
  expect(difference(before, await takeSnapshot(app))).toEqual([]);
}

/** Expects a call to be refused, and to change nothing. */
async function expectRefusal(detail: string, refused: () => Promise<Reply>): Promise<void> {
  const before = await takeSnapshot(app);
  const reply = await refused();
  expect([reply.text, detailOf(reply)]).toEqual(['{"rc":0,"msg":"Unknown error"}', detail]);
  expect(difference(before, await takeSnapshot(app))).toEqual([]);
}

async function aPhone(): Promise<void> {
  await ask('/api/add-domain', { domain_hash: HASH });
  await ask(ADD, { install_limit: 1, install_code: CODE });
  const phone = { id: HASH, installid: CODE, hwid: 'phone', os_name: 'Android' };
  expect((await call(app, '/install', null, phone)).json.rc).toBe(1);
}

const toAndroid = { action_type: 'update-subscription', os: ['android'] };
const inOtherOrder = { os: ['android'], action_type: 'update-subscription' };
const form = { body: 'Hello', type_push: 'optional', expire_days: 1 };

test('a link with a drawn code is made once', async () => {
  const order = { install_limit: 2, note: 'Anna', idempotency_key: 'order~1' };
  const first = await ask(ADD, order);
  expect(first.json).toMatchObject({ rc: 1, id: 1 });
  expect(detailOf(first)).toBeNull();
  await expectRepeat(first, () => ask(ADD, order));
  // In another order, and with what counts as absent.
  await expectRepeat(first, () => ask(ADD, { install_code: '', ...order, note: 'Anna' }));
  expect((await ask(ADD, { ...order, idempotency_key: 'order~2' })).json).toMatchObject({ id: 2 });
});

test('the answer is that of then, although the link has changed', async () => {
  const order = { install_limit: 2, install_code: CODE, idempotency_key: 'k' };
  const first = await ask(ADD, order);
  await ask('/api/update-install', { id: 1, install_limit: 9, status: 5 });
  await expectRepeat(first, () => ask(ADD, order));
});

test.each([
  ['another limit', { install_limit: 3 }],
  ['a note', { note: 'Boris' }],
  ['a code', { install_code: CODE }],
  ['a term', { when_full: 'refuse' }],
])('a key with other parameters is refused: %s', async (_, more) => {
  const order = { install_limit: 2, idempotency_key: 'k' };
  await ask(ADD, order);
  await expectRefusal(REUSED, () => ask(ADD, { ...order, ...(more as Query) }));
});

test('a refusal is not kept', async () => {
  const order = { install_limit: 0, idempotency_key: 'k' };
  expect((await ask(ADD, order)).json.msg).toBe('Install limit error');
  expect((await ask(ADD, { ...order, install_limit: 1 })).json).toMatchObject({ rc: 1 });
});

test.each(['', 'a'.repeat(64), '!~"#'])('a key may be %p', async (key) => {
  expect((await ask(ADD, { install_limit: 1, idempotency_key: key })).json.rc).toBe(1);
});

test.each(['a'.repeat(65), 'a b', 'ключ', 'a\r\nb'])('a key may not be %p', async (key) => {
  await expectRefusal(RULE, () => ask(ADD, { install_limit: 1, idempotency_key: key }));
  await aPhone();
  await expectRefusal(RULE, () => ask(COMMAND, {}, { ...toAndroid, idempotency_key: key }));
});

test('a command is sent once: the key stands in the query, in the body, or in both', async () => {
  await aPhone();
  const keyed = { idempotency_key: 'k' };
  const first = await ask(COMMAND, keyed, toAndroid);
  expect(first.json).toMatchObject({ rc: 1, id: 1 });
  await expectRepeat(first, () => ask(COMMAND, {}, { ...toAndroid, ...keyed }));
  await expectRepeat(first, () => ask(COMMAND, keyed, { ...inOtherOrder, ...keyed }));
  await expectRepeat(first, () => ask(COMMAND, keyed, { ...toAndroid, hwid: null }));
  await expectRefusal(REUSED, () => ask(COMMAND, keyed, { ...toAndroid, os: ['ios'] }));
  const twice = 'idempotency_key was given twice with different values';
  await expectRefusal(twice, () => ask(COMMAND, keyed, { ...toAndroid, idempotency_key: 'l' }));
  await expectRefusal(RULE, () => ask(COMMAND, {}, { ...toAndroid, idempotency_key: 5 }));
  expect((await ask(COMMAND, { idempotency_key: 'l' }, toAndroid)).json).toMatchObject({ id: 2 });
});

test('a notification is repeated when another may not be sent, and its time has passed', async () => {
  await aPhone();
  const planned = { ...form, send_date: '2026-11-20', send_time: '15:01' };
  const body = { PushNotificationForm: planned, os: ['android'] };
  const first = await ask(NOTIFICATION, { idempotency_key: 'k' }, body);
  expect(first.json).toMatchObject({ rc: 1, id: 1 });
  await expectRepeat(first, () => ask(NOTIFICATION, { idempotency_key: 'k' }, body));
  expect((await ask(NOTIFICATION, { idempotency_key: 'l' }, body)).json.msg).toStartWith('You can');
  app.clock.advance(3 * 60_000);
  await app.deliver();
  await ask('/api/delete-hwid', { install_code: CODE, hwid: 'phone' });
  await expectRepeat(first, () => ask(NOTIFICATION, { idempotency_key: 'k' }, body));
});

test('a key belongs to one call', async () => {
  await aPhone();
  const keyed = { idempotency_key: 'k' };
  await ask(COMMAND, keyed, toAndroid);
  await expectRefusal(REUSED, () => ask(ADD, { install_limit: 1, ...keyed }));
  const body = { PushNotificationForm: form, os: ['android'] };
  await expectRefusal(REUSED, () => ask(NOTIFICATION, keyed, body));
});

test('a provider has its own keys, and one that was suspended gets no answer', async () => {
  const order = { install_limit: 1, idempotency_key: 'k' };
  await ask(ADD, order);
  own = await seedProvider(app);
  expect((await ask(ADD, order)).json).toMatchObject({ rc: 1, id: 2 });
  own = { ...own, authKey: 'x'.repeat(32) };
  expect((await ask(ADD, order)).json.msg).toBe('Auth error');
});

test('answers are kept for a day, and pruned then', async () => {
  const order = { install_limit: 1, idempotency_key: 'k' };
  const kept = async () =>
    [...(await takeSnapshot(app)).keys()].filter((key) => key.startsWith('idempotent_call')).length;
  const settings = { ledgerDays: 1, distributionDays: 1, deviceDays: 1 };
  const first = await ask(ADD, order);
  app.clock.advance(ANSWER_KEPT_MS - 1);
  await prune(app.core, settings, app.clock.nowMs());
  await expectRepeat(first, () => ask(ADD, order));
  app.clock.advance(1);
  expect((await ask(ADD, order)).json).toMatchObject({ rc: 1, id: 2 });
  expect(await kept()).toBe(1);
  app.clock.advance(ANSWER_KEPT_MS);
  await prune(app.core, settings, app.clock.nowMs());
  expect(await kept()).toBe(0);
});

test('of repeats at once one does it, and all have its answer', async () => {
  await aPhone();
  const orders = ['a', 'b'].flatMap((idempotency_key) =>
    Array.from({ length: 10 }, () => ask(ADD, { install_limit: 1, idempotency_key })),
  );
  const links = new Set((await Promise.all(orders)).map(({ text }) => text));
  const sends = Array.from({ length: 10 }, () => ask(COMMAND, { idempotency_key: 'c' }, toAndroid));
  const ids = new Set((await Promise.all(sends)).map(({ text }) => text));
  expect([links.size, [...ids]]).toEqual([2, ['{"rc":1,"msg":"Ok","id":1}']]);
  expect((await ask('/api/list-install', {})).json.data).toHaveLength(3);
  expect((await ask('/remote/list', {})).json.data).toHaveLength(1);
  // One was accepted.
  expect(await app.metrics.text()).toContain('gatepost_distributions_total{event="accepted"} 1\n');
});
