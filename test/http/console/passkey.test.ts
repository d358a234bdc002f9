/** Passkeys: what their challenges are good for, and that no caller takes them from others. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { makeEntry } from '../../../src/core/account/sign-in.ts';
import { ACT } from '../../support/actor.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { SoftPasskey } from '../../support/passkey.ts';

// The library of passkeys takes long to load on a busy machine.

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(() => app.reset());
afterAll(() => app.close());

const browser = () => new ConsoleBrowser(app.url);

/** A browser that an entry let in to a new account. */
async function entered(name: string): Promise<ConsoleBrowser> {
  const grant = { providerId: null, role: 'operator' } as const;
  const draft = { name, grant, countMax: 9, createdAtMs: app.clock.nowMs(), invitation: null };
  const added = await app.core.store.addAccount(draft, ACT);
  if (typeof added === 'string') throw new Error(added);
  const own = browser();
  const secret = await makeEntry(app.core, added.id, app.clock.nowMs());
  await own.get('session.entry', { secret });
  return own;
}

async function withPasskey(name: string): Promise<SoftPasskey> {
  const passkey = new SoftPasskey(app.url);
  await passkey.addTo(await entered(name));
  return passkey;
}

const challenge = async () => (await browser().get('session.passkey-challenge', {})).challenge;

test('a passkey signs in, with each challenge once', async () => {
  const passkey = await withPasskey('anna');
  const response = passkey.shown(await challenge());
  const own = browser();
  await own.get('session.passkey', { response });
  expect(await own.get('session.me', {})).toMatchObject({ name: 'anna', method: 'passkey' });
  // It can sign in again, so an old sign-in asks for that.
  expect(await own.get('session.me', {})).toMatchObject({ hasPassword: false, hasWayIn: true });
  expect(await browser().refusal('session.passkey', { response })).toBe('sign_in_wrong');
  await browser().get('session.passkey', { response: passkey.shown(await challenge()) });
});

test('of several answers with one challenge at a time one signs in', async () => {
  const passkey = await withPasskey('anna');
  const response = passkey.shown(await challenge());
  const tries = Array.from({ length: 5 }, () => browser().refusal('session.passkey', { response }));
  const said = await Promise.all(tries);
  expect(said.filter((one) => one === undefined)).toHaveLength(1);
});

test('strangers who ask for challenges take none from others', async () => {
  const passkey = await withPasskey('anna');
  const early = await challenge();
  for (let n = 0; n < 30; n++) {
    await Promise.all(Array.from({ length: 10 }, challenge));
  }
  await browser().get('session.passkey', { response: passkey.shown(early) });
  await browser().get('session.passkey', { response: passkey.shown(await challenge()) });
});

test('a challenge is over after five minutes', async () => {
  const passkey = await withPasskey('anna');
  const [early, late] = [await challenge(), await challenge()];
  app.clock.set(app.clock.nowMs() + 299_999);
  await browser().get('session.passkey', { response: passkey.shown(early) });
  app.clock.set(app.clock.nowMs() + 1);
  expect(await browser().refusal('session.passkey', { response: passkey.shown(late) })).toBe(
    'sign_in_wrong',
  );
});

test('a challenge of a clock that was ahead is over', async () => {
  const passkey = await withPasskey('anna');
  const nowMs = app.clock.nowMs();
  app.clock.set(nowMs + 86_400_000);
  const ahead = await challenge();
  app.clock.set(nowMs);
  const response = passkey.shown(ahead);
  expect(await browser().refusal('session.passkey', { response })).toBe('sign_in_wrong');
});

test('a challenge that was made up, or for another purpose, is none', async () => {
  const own = await entered('anna');
  const passkey = new SoftPasskey(app.url);
  await passkey.addTo(own);
  const { challenge: ofAnna } = await own.get('account.passkey-begin', {});
  const good = await challenge();
  const altered = `${good.startsWith('A') ? 'B' : 'A'}${good.slice(1)}`;
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(40))).toString('base64url');
  for (const wrong of [ofAnna, altered, random, good.slice(0, -1), `${good}A`, '']) {
    const response = passkey.shown(wrong);
    expect(await browser().refusal('session.passkey', { response })).toBe('sign_in_wrong');
  }
  const other = await entered('boris');
  for (const wrong of [ofAnna, good]) {
    const response = new SoftPasskey(app.url).made(wrong);
    const added = await other.refusal('account.passkey-add', { name: 'key', response });
    expect(added).toBe('passkey_wrong');
  }
});

test('an account uses up a hundred challenges in five minutes, and takes none from others', async () => {
  const [passkey, other] = [await withPasskey('anna'), await withPasskey('boris')];
  // Its own first one was that of adding it.
  for (let n = 0; n < 99; n++) {
    await browser().get('session.passkey', { response: passkey.shown(await challenge()) });
  }
  const response = passkey.shown(await challenge());
  expect(await browser().refusal('session.passkey', { response })).toBe('sign_in_wrong');
  await browser().get('session.passkey', { response: other.shown(await challenge()) });
  app.clock.set(app.clock.nowMs() + 300_000);
  await browser().get('session.passkey', { response: passkey.shown(await challenge()) });
});
