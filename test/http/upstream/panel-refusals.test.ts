/** Refusals as panels give them, and encrypted subscriptions, which pass untouched. */

import { expect, test } from 'bun:test';
import type { PanelKind } from '../../../src/core/panel/kind.ts';
import { answer } from '../../support/panel.ts';
import { KEY, useFronted } from '../../support/upstream.ts';

const front = useFronted();

const HWID_HEADERS = ['x-hwid-active', 'x-hwid-not-supported', 'x-hwid-limit'];
const NAMES = [...HWID_HEADERS, 'x-hwid-max-devices-reached'];

/** Asks as a device; returns status, body, and the headers of HWIDs that are there. */
async function refused(panel: PanelKind, hwid: string | null) {
  const fronted = await front(undefined, { defaultLimit: 1, panel, refusedAs: 'panel' });
  expect((await fronted.get(`/sub/${KEY}`, 'first')).status).toBe(200);
  const { status, body, headers } = await fronted.get(`/sub/${KEY}`, hwid);
  return { status, body, headers, said: NAMES.filter((name) => headers.get(name) === 'true') };
}

const NO_HWID = ['x-hwid-active', 'x-hwid-not-supported'];
const FULL = ['x-hwid-active', 'x-hwid-limit', 'x-hwid-max-devices-reached'];

test('remnawave: 200 with a server that is named with the reason', async () => {
  const full = await refused('remnawave', 'second');
  expect(full).toMatchObject({ status: 200, said: FULL });
  expect(atob(full.body)).toStartWith('vless://');
  expect(full.headers.get('announce')).toStartWith('base64:');
  const bare = await refused('remnawave', null);
  expect(bare).toMatchObject({ status: 200, said: [...NO_HWID, 'x-hwid-limit'] });
});

test('3x-ui: 404 and headers alone', async () => {
  expect(await refused('3x-ui', 'second')).toMatchObject({ status: 404, body: '', said: FULL });
  expect(await refused('3x-ui', null)).toMatchObject({ status: 404, body: '', said: NO_HWID });
});

test('pasarguard: 403 and its detail', async () => {
  const full = await refused('pasarguard', 'second');
  expect(full).toMatchObject({ status: 403, body: '{"detail":"Device limit reached"}' });
  expect(full.headers.get('content-type')).toBe('application/json');
  const bare = await refused('pasarguard', null);
  expect(bare).toMatchObject({ status: 403, body: '{"detail":"HWID header required"}' });
});

test('an encrypted subscription passes untouched: its tag, its key, its bytes', async () => {
  // AES-128-GCM: every byte may come.
  const cipher = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const asked: string[] = [];
  const fronted = await front(async ({ send, target }) => {
    asked.push(target);
    const headers = { 'encrypt-tag': 'q83vEjRWeJCrze8SNFZ4kA==' };
    await send(answer(200, cipher, { ...headers, 'content-type': 'application/octet-stream' }));
  });
  const got = await fronted.get(`/sub/${KEY}?key=ID%2B7`, 'first');
  expect(asked).toEqual([`/sub/${KEY}?key=ID%2B7`]);
  expect(got.headers.get('encrypt-tag')).toBe('q83vEjRWeJCrze8SNFZ4kA==');
  expect(Buffer.from(got.body, 'latin1').equals(Buffer.from(cipher))).toBe(true);
});
