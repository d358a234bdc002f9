/** A world for the pages of the console: a provider with a fortnight behind it. No name is real. */

import { invite, makeEntry } from '../../src/core/account/sign-in.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { ACT } from './actor.ts';
import { call, seedProvider, type TestApp } from './app.ts';
import { ConsoleBrowser } from './console.ts';
import { ack, byBinding, inbox, notify, register } from './messaging.ts';
import { bind, HASH } from './shop.ts';

const DAY_MS = 86_400_000;
const DAYS = 14;
const MODELS = [
  ...(['Pixel 9', 'Galaxy S25', 'iPhone 17', 'iPad Air', 'Redmi Note 15'] as const),
  ...(['MacBook Air', 'ThinkPad X1', 'Galaxy A56', 'iPhone 16'] as const),
];
const SYSTEMS = [
  'android',
  'android',
  'ios',
  'ios',
  'android',
  'macos',
  'windows',
  'android',
  'ios',
];
const NOTES = ['Order', 'Family', 'Office', 'Trial', 'Annual'];

/** What a provider, a device or a panel says; tests put other texts there. */
export interface Words {
  note(n: number): string;
  model(n: number): string;
  title: string;
  body: string;
  /** Names of bindings, keys and of the provider. */
  name: string;
}

const WORDS: Words = {
  note: (n) => `${NOTES[n % NOTES.length]} ${1_041 + n}`,
  model: (n) => MODELS[n % MODELS.length] ?? '',
  title: 'New servers in Frankfurt',
  body: 'Pull down to refresh: <b>three new locations</b> are on your list.',
  name: 'Northwind',
};

export interface World {
  own: Credentials;
  /** The ids of a link with devices, and of a message with receipts. */
  linkId: number;
  messageId: number;
  /** The first entry of an operator. */
  secret: string;
}

/** Makes the world, with three links of each day; the clock moves by these days. */
export async function makeWorld(app: TestApp, words: Words = WORDS, days = DAYS): Promise<World> {
  const own = await seedProvider(app, { name: words.name });
  await bind(app, own);
  await call(app, '/api/add-domain', own, {
    domain_hash: 'b'.repeat(64),
    domain_name: words.name,
  });
  let linkId = 0;
  for (let day = 0; day < days; day++) {
    for (let n = 0; n < 3; n++)
      linkId = (await addBusyLink(app, own, words, day * 3 + n)) ?? linkId;
    await app.core.store.saveFigures();
    if (day < days - 1) app.clock.advance(DAY_MS);
  }
  const messageId = await sendMessages(app, own, words);
  const secret = await addPeople(app, own, words);
  await app.core.store.saveFigures();
  return { own, linkId, messageId, secret };
}

/** Adds a link and lets devices knock; returns its id if it has several. */
async function addBusyLink(
  app: TestApp,
  own: Credentials,
  words: Words,
  n: number,
): Promise<number | null> {
  const limit = 1 + ((n * 7) % 5);
  const note = words.note(n);
  const { json } = await call(app, '/api/add-install', own, { install_limit: limit, note });
  const count = (n * 5) % 7;
  for (let device = 0; device < count; device++) {
    const kind = (n + device) % SYSTEMS.length;
    await call(app, '/install', null, {
      id: HASH,
      installid: json.install_code,
      hwid: `device-${n}-${device}`,
      os_name: SYSTEMS[kind] ?? '',
      os_version: `${12 + (kind % 5)}`,
      app_version: '3.4.1',
      device_model: words.model(n + device),
    });
  }
  if (n % 11 === 5) {
    await call(app, '/api/update-install', own, { id: json.id, status: 5 });
  }
  return count > 1 && limit > 2 ? json.id : null;
}

async function sendMessages(app: TestApp, own: Credentials, words: Words): Promise<number> {
  const hwids = Array.from({ length: 8 }, (_, n) => `desk-${n}`);
  const tokens: string[] = [];
  for (const [n, hwid] of hwids.entries()) {
    const facts = { os_name: n % 2 === 0 ? 'android' : 'ios', device_model: words.model(n) };
    await call(app, '/provider', null, { id: own.code, domain_hash: HASH, hwid, ...facts });
    tokens.push(await register(app, { ...byBinding(hwid, own), locale: 'en' }));
  }
  const id = await notify(app, own, words.body, { os: ['android', 'ios'] }, { title: words.title });
  await app.deliver();
  for (const [n, token] of tokens.slice(0, 6).entries()) {
    const { json } = await inbox(app, token);
    const state = n < 4 ? 'opened' : 'received';
    const items = (json.data as { id: number }[]).map((one) => ({ id: one.id, state }));
    await ack(app, token, items);
  }
  app.clock.advance(600_000);
  await notify(app, own, words.body, { hwid: hwids.slice(0, 3).join(',') }, { title: words.title });
  return id;
}

/** Adds staff, keys and a webhook; returns the first entry of an operator. */
async function addPeople(app: TestApp, own: Credentials, words: Words): Promise<string> {
  const owner = new ConsoleBrowser(app.url);
  const { code: at, authKey: key } = own;
  await owner.get('session.key', { code: at, key });
  const nowMs = app.clock.nowMs();
  const providerId = (await app.core.store.findProvider(at))?.id ?? 0;
  for (const [name, role] of [
    ['front-desk', 'support'],
    ['newsletter', 'sender'],
  ] as const) {
    const secret = await invite(app.core, { providerId, role, isOperators: false }, nowMs);
    if (typeof secret !== 'string') throw new Error(secret.says);
    await new ConsoleBrowser(app.url).get('session.invited', { secret, name });
  }
  await owner.get('keys.add', { at, name: words.name, scope: 'read', days: 90 });
  await owner.get('keys.add', { at, name: `${words.name} 2`, scope: 'links', days: null });
  const hook = { url: 'https://hooks.example.com/gatepost', events: 'link.full' };
  const { json } = await call(app, '/api/webhook-add', own, hook);
  if (json.rc !== 1) throw new Error(json.msg);
  const draft = { name: 'operator', grant: { providerId: null, role: 'operator' as const } };
  const added = await app.core.store.addAccount(
    { ...draft, countMax: 9, createdAtMs: nowMs, invitation: null },
    ACT,
  );
  if (typeof added === 'string') throw new Error(added);
  return makeEntry(app.core, added.id, nowMs);
}
