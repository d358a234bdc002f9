/** A customer of each panel ends, is refused by it, pays, and is let in at the next fetch. */

import { afterEach, expect, test } from 'bun:test';
import { hostHash } from '../../../src/core/host-name.ts';
import { PANELS, type PanelKind } from '../../../src/core/panel/kind.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import {
  type FollowingApp,
  type SomeUser,
  someUser,
  startFollowing,
} from '../../support/followed-panel.ts';
import { PANEL_HEADERS, SUBSCRIPTION } from '../../support/panel.ts';
import { API_TOKEN } from '../../support/panel-api.ts';
import { bind } from '../../support/shop.ts';
import { digestToken, macToken, SECRET } from '../../support/signing-panel.ts';
import { exchange, HOST } from '../../support/upstream.ts';

const DAY_MS = 86_400_000;
const END_MS = Date.UTC(2027, 0, 1);

let following: FollowingApp | null = null;
afterEach(async () => {
  await following?.stop();
  following = null;
});

const EMPTY: readonly PanelKind[] = ['marzban', 'pasarguard'];

/** The answer about a subscription; at the end it is empty, or a 404. */
function subscriptionOf(kind: PanelKind, { state }: SomeUser): Response {
  const headers = Object.fromEntries(
    Object.entries(PANEL_HEADERS).filter(([name]) => name !== 'Content-Disposition'),
  );
  if (state === 'active') return new Response(SUBSCRIPTION, { headers });
  return EMPTY.includes(kind) ? new Response('', { headers }) : new Response('', { status: 404 });
}

function pathOf(kind: PanelKind, { id, key, name }: SomeUser): string {
  if (kind === 'marzban') return `/sub/${digestToken(`${name},1790000000`)}`;
  return `/sub/${kind === 'pasarguard' ? macToken(`v3,${id},1790000000`) : key}`;
}

async function start(kind: PanelKind, more: Partial<Upstream>) {
  const signing = EMPTY.includes(kind) ? { keySecretFile: '/secret' } : {};
  const secretOf = (file: string) => (file === '/secret' ? SECRET : API_TOKEN);
  following = await startFollowing(kind, [someUser(1)], { ...signing, ...more }, { secretOf });
  const { app, own, panel } = following;
  await bind(app, own, hostHash(HOST));
  const path = pathOf(kind, someUser(1));
  panel.odd = (asked) =>
    asked.startsWith('/sub/') && asked === path
      ? subscriptionOf(kind, panel.users[0] as SomeUser)
      : asked.startsWith('/sub/')
        ? new Response('', { status: 404 })
        : null;
  const port = Number(new URL(app.url).port);
  const get = async () => {
    const { body, headers, status } = await exchange(port, 'GET', path, { 'x-hwid': 'phone' });
    const announced = headers.get('announce') ?? '';
    const text = Buffer.from(announced.replace('base64:', ''), 'base64').toString();
    return { status, body, text, state: headers.get('x-subscription-state') };
  };
  const become = (state: SomeUser['state'], endsAtMs: number) => {
    panel.users[0] = someUser(1, { state, endsAtMs });
  };
  return { ...following, get, become };
}

const LET_IN = { status: 200, body: SUBSCRIPTION, text: '', state: undefined };

test.each([...PANELS])('%s, with follow', async (kind) => {
  const on = await start(kind, {});
  await on.pass();
  expect(await on.get()).toEqual(LET_IN);
  on.become('expired', END_MS);
  await on.pass(43 * DAY_MS);
  const refused = { status: EMPTY.includes(kind) ? 200 : 404, body: '', state: 'expired' };
  const text = 'This subscription ended on January 1, 2027. Renew it to connect again.';
  expect(await on.get()).toEqual({ ...refused, text });
  const link = await on.link(someUser(1));
  expect(link).toMatchObject({ status: 10, deviceCount: 1 });
  on.become('active', END_MS + 60 * DAY_MS);
  // No pass has seen it yet: the panel decides.
  expect(await on.get()).toEqual(LET_IN);
  await on.pass();
  expect(await on.get()).toEqual(LET_IN);
  expect(await on.link(someUser(1))).toEqual(link);
});

test.each([...PANELS])('%s, without follow', async (kind) => {
  const on = await start(kind, { followMs: 0 });
  expect(await on.get()).toEqual(LET_IN);
  on.become('expired', END_MS);
  on.app.clock.advance(43 * DAY_MS);
  const refused = { status: EMPTY.includes(kind) ? 200 : 404, body: '', text: '' };
  expect(await on.get()).toEqual({ ...refused, state: undefined });
  on.become('active', END_MS + 60 * DAY_MS);
  expect(await on.get()).toEqual(LET_IN);
});
