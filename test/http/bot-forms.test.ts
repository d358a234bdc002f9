/**
 * The forms of addresses that bots hand out, with the patch of docs/bots.md: the link that was paid
 * counts the customer's phones, and the gate makes no second one. Also what happens without it.
 */

import { afterEach, expect, test } from 'bun:test';
import { call } from '../support/app.ts';
import { type Fronted, HOST, keyPath, startFronted } from '../support/upstream.ts';

const CODE = 'LinkOfAnna01';
const KEY = 'key-of-anna-0001';
const OTHER = 'key-of-boris-001';

let at: Fronted;
afterEach(() => at.stop());

const KEY_PATHS = ['/sub/{key}', '/subscription/{key}'].map(keyPath);

/** An address as a bot hands it out, the key of its patch, and whether a patch is needed. */
const FORMS: readonly (readonly [form: string, address: string, key: string])[] = [
  ['URL#Title?installid=CODE', `/sub/${KEY}#Anna?installid=${CODE}`, KEY],
  ['URL?installid=CODE', `/sub/${KEY}?installid=${CODE}`, KEY],
  ['URL?InstallID=CODE', `/sub/${KEY}?InstallID=${CODE}`, KEY],
  ['/sub/CODE', `/sub/${CODE}`, CODE],
  ['/subscription/CODE', `/subscription/${CODE}`, CODE],
  ['a key of its own', `/sub/${KEY}`, KEY],
];

const sells = async (more: Record<string, string> = {}) => {
  const query = { install_limit: 3, install_code: CODE, note: 'anna', ...more };
  expect((await call(at.app, '/api/add-install', at.own, query)).json.rc).toBe(1);
};
/** Fetches as an app does: what follows # never leaves it. */
const fetches = async (address: string, hwid: string) =>
  (await at.get(address.split('#', 1)[0] ?? '', hwid)).status;

test.each(FORMS)('%s, with the key of the patch', async (_, address, key) => {
  at = await startFronted(undefined, { keyPaths: KEY_PATHS });
  await sells({ subscription_key: key });
  const phones = ['one', 'two', 'three', 'four'];
  const got: number[] = [];
  for (const hwid of phones) got.push(await fetches(address, hwid));
  expect(got).toEqual([200, 200, 200, 404]);
  expect(await at.links()).toEqual([{ count: 3, limit: 3, note: 'anna' }]);
  // A phone to which the address came without the code counts there too.
  expect(await fetches(address.split(/[?#]/, 1)[0] ?? '', 'four')).toBe(404);
  expect(await fetches(address, 'one')).toBe(200);
});

test('a code of the provider opens no other key than that of its link', async () => {
  at = await startFronted(undefined, { keyPaths: KEY_PATHS });
  await sells({ subscription_key: KEY });
  const boris = { install_limit: 1, subscription_key: OTHER, note: 'boris' };
  await call(at.app, '/api/add-install', at.own, boris);
  expect(await fetches(`/sub/${OTHER}?installid=${CODE}`, 'one')).toBe(200);
  expect(await fetches(`/sub/${OTHER}?installid=${CODE}`, 'two')).toBe(404);
  const links = [...(await at.links())].sort((a, b) => a.note.localeCompare(b.note));
  expect(links).toEqual([
    { count: 0, limit: 3, note: 'anna' },
    { count: 1, limit: 1, note: 'boris' },
  ]);
});

test('one URL for all customers: the code alone names the link', async () => {
  at = await startFronted(undefined, { keyPaths: [] });
  await sells();
  const boris = { install_limit: 1, install_code: 'LinkOfBoris1', note: 'boris' };
  await call(at.app, '/api/add-install', at.own, boris);
  const address = (code: string) => `/all?installid=${code}`;
  expect(await fetches(address(CODE), 'one')).toBe(200);
  expect(await fetches(address('LinkOfBoris1'), 'two')).toBe(200);
  expect(await fetches(address('LinkOfBoris1'), 'three')).toBe(404);
  expect(await fetches('/all', 'three')).toBe(404);
  expect((await at.links()).map(({ count }) => count)).toEqual([1, 1]);
});

test.each([
  ['URL#Title?installid=CODE', `/sub/${KEY}#Anna?installid=${CODE}`],
  ['/sub/CODE', `/sub/${CODE}`],
  ['a key of its own', `/sub/${KEY}`],
])('%s without the patch: the gate makes a second link', async (_, address) => {
  at = await startFronted(undefined, { keyPaths: KEY_PATHS, defaultLimit: 2 });
  await sells();
  expect(await fetches(address, 'one')).toBe(200);
  const [made, paid] = await at.links();
  expect(paid).toEqual({ count: 0, limit: 3, note: 'anna' });
  expect(made).toMatchObject({ count: 1, limit: 2 });
  expect(made?.note).toStartWith(HOST);
});
