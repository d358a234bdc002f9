/** The first use by a key of a right that bots had not: told once, to provider and operator. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addKey } from '../../src/core/account/keys.ts';
import type { Scope } from '../../src/core/port/provider-key.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { hashKey, keyFingerprint } from '../../src/core/secret.ts';
import { toldTo } from '../store/contract/happening.ts';
import { addWebhook } from '../store/contract/webhook.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { addLink, expectOk, LINK, seedShop } from '../support/shop.ts';
import { until } from '../support/until.ts';

let app: TestApp;
let own: Credentials;
let providerId: number;
let webhooks: { own: number; operators: number };
/** How saves of first uses end, and how many there were. */
let save: 'works' | 'fails' | 'waits' = 'works';
let saveCount = 0;
const [held, letGo] = [Promise.withResolvers<void>(), () => held.resolve()];

beforeAll(async () => {
  app = await startTestApp({}, (core) => ({
    ...core,
    store: new Proxy(core.store, {
      get(store, name) {
        const method = Reflect.get(store, name);
        if (name !== 'noteFirstUse') {
          return typeof method === 'function' ? method.bind(store) : method;
        }
        return async (...given: Parameters<typeof store.noteFirstUse>) => {
          saveCount += 1;
          if (save === 'fails') throw new Error('the disk is away');
          if (save === 'waits') await held.promise;
          return store.noteFirstUse(...given);
        };
      },
    }),
  }));
  own = await seedShop(app);
  providerId = (await app.core.store.findProvider(own.code))?.id ?? 0;
  await app.core.store.updateProvider(own.code, { subscriptionFigures: 1 }, ACT);
  await addLink(app, own);
  webhooks = {
    own: await addWebhook(app.core.store, providerId, { events: ['key.first_use'] }),
    operators: await addWebhook(app.core.store, null, { events: ['key.first_use'] }),
  };
});
afterAll(async () => {
  letGo();
  await app.close();
});

async function keyFor(scope: Scope): Promise<Credentials> {
  const terms = { name: `a ${scope} bot`, scope, untilMs: null };
  const added = await addKey(app.core, providerId, terms, app.clock.nowMs());
  if (!('authKey' in added)) throw new Error(added.says);
  return { ...own, authKey: added.authKey };
}

const told = (id: number) => toldTo(app.core.store, id, app.clock.nowMs());
async function toldOf({ authKey }: Credentials, id = webhooks.own) {
  const key = keyFingerprint(hashKey(authKey));
  const all = await told(id);
  return all.filter(([, data]) => data['key'] === key).map(([, data]) => data['right']);
}

const USES = {
  cuts: (by: Credentials) => call(app, '/api/lift-bar', by, { install_code: LINK, hwid: 'x' }),
  figures: (by: Credentials) => call(app, '/api/list-install', by, { details: 1 }),
  ties: (by: Credentials) =>
    call(app, '/api/untie-keys', by, {}, { method: 'POST', body: '{"ids":[1]}' }),
} as const;

test.each(['cuts', 'figures', 'ties'] as const)('of a key for %s, once', async (scope) => {
  const by = await keyFor(scope);
  // What keys could from the beginning is no use of the right.
  await expectOk(call(app, '/api/list-install', by));
  expect(await toldOf(by)).toEqual([]);
  await USES[scope](by);
  await until('the event', async () => (await toldOf(by)).length > 0);
  const before = saveCount;
  await USES[scope](by);
  await USES[scope](by);
  expect(saveCount).toBe(before);
  expect(await toldOf(by)).toEqual([scope]);
  expect(await toldOf(by, webhooks.operators)).toEqual([scope]);
});

test('a cut-off by delete-hwid is one', async () => {
  const by = await keyFor('cuts');
  await call(app, '/api/delete-hwid', by, { install_code: LINK, hwid: 'x', cut_off: 1 });
  await until('the event', async () => (await toldOf(by)).length > 0);
});

test('not of a key that has not the right', async () => {
  const before = saveCount;
  for (const by of [own, await keyFor('links'), await keyFor('read')]) {
    for (const use of Object.values(USES)) {
      expect((await use(by)).json.reason ?? 'auth_error').toBe('auth_error');
    }
  }
  expect(saveCount).toBe(before);
});

test('no call waits for it, and what is not saved is told at the next use', async () => {
  const by = await keyFor('figures');
  save = 'waits';
  await expectOk(USES.figures(by));
  expect(await toldOf(by)).toEqual([]);
  save = 'fails';
  await expectOk(USES.figures(by));
  await until('the log', () => app.logLines.some((line) => line.includes('first_use_not_saved')));
  save = 'works';
  await expectOk(USES.figures(by));
  await until('the event', async () => (await toldOf(by)).length > 0);
  letGo();
  expect(await toldOf(by)).toEqual(['figures']);
});
