/**
 * The calls of the contract of a provider with reminders, byte for byte those of one without. A
 * round takes an id of the appliance, as the send of another provider does; nothing else shows it.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { makeReminder } from '../../src/jobs/remind.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';

const HASH = 'a'.repeat(64);
const CODE = 'LinkCode0001';
const DAY_MS = 86_400_000;
const OWN = { code: 'Provide1', authKey: 'own-key_own-key_own-key_own-key_' };
const OTHER = { code: 'Foreign2', authKey: 'other-key_other-key_other-key_12' };

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ rides: { level: 'on', hours: 48 } });
});
afterAll(() => app.close());
beforeEach(() => app.reset());

type Query = Record<string, string | number>;
type Step = readonly [path: string, query: Query, body?: object];

const push = (more: object) => ({
  PushNotificationForm: { body: 'text', type_push: 'optional', expire_days: 3 },
  ...more,
});

const BEFORE: readonly Step[] = [
  ['/api/add-install', { install_limit: 2, install_code: CODE, note: 'Anna' }],
  ['/api/add-domain', { domain_hash: HASH, domain_name: 'sub.example.com' }],
  ['/install', { id: HASH, installid: CODE, hwid: 'phone-1', device_model: 'Pixel 9' }],
  ['/remote/list', {}],
];
/** The round, or the send of another provider, has the id 1. */
const AFTER: readonly Step[] = [
  ['/remote/list', {}],
  ['/remote/list', { id: 1 }],
  ['/remote/list', { before_id: 9 }],
  ['/remote/cancel', { id: 1 }],
  ['/remote/notification', {}, push({ hwid: 'phone-1', replaces: 1 })],
  ['/remote/notification', {}, push({ os: ['android'] })],
  ['/remote/notification', {}, push({ os: ['android'] })],
  ['/remote/notification', {}, push({ hwid: 'phone-1' })],
  ['/remote/command', {}, { action_type: 'update-subscription', hwid: 'phone-1' }],
  ['/remote/list', {}],
  ['/api/list-install', {}],
  ['/api/list-hwid', { install_code: CODE }],
  ['/api/list-domain', {}],
  ['/api/update-install', { id: 1, install_limit: 3 }],
  ['/install', { id: HASH, installid: CODE, hwid: 'phone-1' }],
  ['/provider', { id: 'Provide1', hwid: 'phone-1', domain_hash: HASH }],
  ['/api/delete-hwid', { install_code: CODE, hwid: 'phone-1' }],
  ['/api/delete-domain', { id: 1 }],
  ['/api/remove-install', { id: 1 }],
  ['/remote/list', {}],
];

async function play(steps: readonly Step[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const [path, query, body] of steps) {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const by = path === '/install' || path === '/provider' ? null : OWN;
    const { headers, status, text } = await call(app, path, by, query, init);
    const named = [...headers].filter(([name]) => name !== 'date').sort();
    answers.push([`${path} ${JSON.stringify(query)}`, status, Object.fromEntries(named), text]);
    await app.deliver();
  }
  return answers;
}

/** Plays all steps; `between` takes the first id of a message. */
async function whole(between: () => Promise<void>): Promise<unknown[]> {
  for (const credentials of [OWN, OTHER]) await seedProvider(app, credentials);
  const before = await play(BEFORE);
  await between();
  return [...before, ...(await play(AFTER))];
}

async function remind(): Promise<void> {
  const { core, clock, log } = app;
  const id = (await core.store.findProvider(OWN.code))?.id ?? 0;
  const texts = { en: 'Your subscription ends in {days_left}.' };
  const own = { kind: 'before_end', amount: 72, texts, pushText: 'neutral', enabled: 1 } as const;
  const nowMs = clock.nowMs();
  await core.store.addReminder({ ...own, providerId: id, createdAtMs: nowMs, countMax: 10 }, ACT);
  const read = { endsAtMs: nowMs + 2 * DAY_MS, totalBytes: null, usedBytes: null };
  await core.store.keepSubscriptionFigures(1, read, 'proxy', nowMs);
  await makeReminder({ core, clock, log, reader: null })(new AbortController().signal);
  const [round] = await core.store.listRounds(id, { beforeId: null, countMax: 9 });
  expect(round).toMatchObject({ id: 1, recipientCount: 1 });
}

async function sendByOther(): Promise<void> {
  const link = { install_limit: 2, install_code: 'LinkCode0002' };
  await call(app, '/api/add-install', OTHER, link);
  await call(app, '/api/add-domain', OTHER, { domain_hash: HASH, domain_name: 'x' });
  await call(app, '/install', null, { id: HASH, installid: 'LinkCode0002', hwid: 'phone-2' });
  const init = { method: 'POST', body: JSON.stringify(push({ hwid: 'phone-2' })) };
  const { json } = await call(app, '/remote/notification', OTHER, {}, init);
  expect(json.id).toBe(1);
  await app.deliver();
}

test('a round shows in no call of the contract', async () => {
  const without = await whole(sendByOther);
  await app.reset();
  expect(await whole(remind)).toEqual(without);
});
