/** The limit of new links of an address: only a link that was made counts against it. */

import { expect, test } from 'bun:test';
import { tryRegister } from '../../support/messaging.ts';
import { behaveWell, type PanelCall } from '../../support/panel.ts';
import { type Fronted, KEY, useFronted } from '../../support/upstream.ts';

const front = useFronted();

/** Registers a device for messages from the same address, which the same limit is for. */
const register = async (at: Fronted, hwid: string) =>
  (await tryRegister(at.app, { hwid })).json.msg;

test('a phone with a key of a full provider shuts out nobody behind its address', async () => {
  const limits = { registrationsPerMinuteMax: 2, bounds: { linksPerProviderMax: 1 } };
  const at = await front(undefined, {}, limits);
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
  for (let count = 0; count < 20; count++) {
    expect((await at.get('/sub/of-the-full-one', 'b')).status).toBe(404);
  }
  expect([await register(at, 'x'), await register(at, 'y')]).toEqual(['Ok', 'Too many requests']);
});

test('devices that come together with a new key count once', async () => {
  const asked: PanelCall[] = [];
  const at = await front(
    async (question) => {
      // All are asked about before any is answered.
      if (asked.push(question) === 3) for (const each of asked) await behaveWell(each);
    },
    {},
    { registrationsPerMinuteMax: 3 },
  );
  const got = await Promise.all(['a', 'b', 'c'].map((hwid) => at.get(`/sub/${KEY}`, hwid)));
  expect(got.map(({ status }) => status)).toEqual([200, 200, 200]);
  const others = [await register(at, 'x'), await register(at, 'y'), await register(at, 'z')];
  expect(others).toEqual(['Ok', 'Ok', 'Too many requests']);
});

test('a fault of the store does not count', async () => {
  const at = await front(undefined, {}, { registrationsPerMinuteMax: 1 });
  const { store } = at.app.core;
  const { addLinkWithSlot } = store;
  store.addLinkWithSlot = async () => {
    throw new Error('planted fault');
  };
  at.app.expectFault('planted fault');
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(500);
  store.addLinkWithSlot = addLinkWithSlot;
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
  expect((await at.get('/sub/another-key', 'a')).status).toBe(429);
});
