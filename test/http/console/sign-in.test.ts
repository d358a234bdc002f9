/** Who gets into the console, by which way, and how it ends. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { makeEntry } from '../../../src/core/account/sign-in.ts';
import { rotateKey } from '../../../src/core/provider.ts';
import { ACT } from '../../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { auditEntries } from '../../support/audit.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { codeAt } from '../../support/totp.ts';

// A password takes a tenth of a second of a processor.

const HOUR_MS = 3_600_000;
const PASSWORD = 'a long enough password';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(() => app.reset());
afterAll(() => app.close());

const browser = () => new ConsoleBrowser(app.url);

async function addAccount(name = 'anna'): Promise<number> {
  const grant = { providerId: null, role: 'operator' } as const;
  const draft = { name, grant, countMax: 9, createdAtMs: app.clock.nowMs(), invitation: null };
  const added = await app.core.store.addAccount(draft, ACT);
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

/** Signs a new account in by an entry. */
async function entered(name = 'anna'): Promise<ConsoleBrowser> {
  const secret = await makeEntry(app.core, await addAccount(name), app.clock.nowMs());
  const own = browser();
  await own.get('session.entry', { secret });
  return own;
}

describe('a provider with its key', () => {
  test('is an owner, until the key is rotated', async () => {
    const { code, authKey: key } = await seedProvider(app);
    const own = browser();
    expect(await own.refusal('session.key', { code, key: 'x'.repeat(32) })).toBe('sign_in_wrong');
    expect(await own.refusal('overview.read', { at: code })).toBe('signed_out');
    await own.get('session.key', { code, key });
    expect(own.setCookie).toContain('__Host-gatepost=');
    expect(own.setCookie).toContain('Path=/; Secure; HttpOnly; SameSite=Strict');
    expect(await own.get('session.me', {})).toMatchObject({
      name: code,
      isAccount: false,
      grants: [{ role: 'owner', code }],
    });
    expect(await own.get('overview.read', { at: code })).toMatchObject({ code, linkCount: 0 });
    const added = await own.get('links.add', { at: code, limit: 2, note: 'one' });
    const entry = (await auditEntries(app.core)).find(({ action }) => action === 'install.add');
    expect(entry).toMatchObject({ who: 'provider', name: code, object: { id: added.id } });
    await rotateKey(app.core, code, HOUR_MS, app.clock.nowMs());
    expect(await own.refusal('overview.read', { at: code })).toBe('signed_out');
    // The old key still opens the API for a while, and the console no more.
    expect(await own.refusal('session.key', { code, key })).toBe('sign_in_wrong');
  });

  test('does not get in with a key of a part, which opens that part of the API', async () => {
    const { code, authKey: key } = await seedProvider(app);
    const own = browser();
    await own.get('session.key', { code, key });
    const draft = { at: code, name: 'bot', scope: 'links', days: null } as const;
    const { authKey } = await own.get('keys.add', draft);
    expect(await browser().refusal('session.key', { code, key: authKey })).toBe('sign_in_wrong');
    const ask = async (path: string) => {
      const answer = await fetch(`${app.url}${path}provider_code=${code}&auth_key=${authKey}`);
      const { msg } = (await answer.json()) as { msg: string };
      return [msg, answer.headers.get('x-error-detail')];
    };
    expect(await ask('/api/list-install?')).toEqual(['Ok', null]);
    expect(await ask('/api/add-install?install_limit=2&')).toEqual(['Ok', null]);
    expect(await ask('/api/webhook-list?')).toEqual([
      'Auth error',
      "auth_key is for 'links': this call needs the main key",
    ]);
    // That was no guess: nothing is counted, and nothing is late.
    expect(app.server.limited().auth_failures).toBe(0);
  });
});

describe('an entry', () => {
  test('is good once, and for ten minutes', async () => {
    const id = await addAccount();
    const secret = await makeEntry(app.core, id, app.clock.nowMs());
    const late = await makeEntry(app.core, id, app.clock.nowMs());
    await browser().get('session.entry', { secret });
    expect(await browser().refusal('session.entry', { secret })).toBe('sign_in_wrong');
    app.clock.set(app.clock.nowMs() + 600_000);
    expect(await browser().refusal('session.entry', { secret: late })).toBe('sign_in_wrong');
  });
});

describe('a password', () => {
  test('gets in, with a code of the app that is good once, or a recovery code', async () => {
    const own = await entered();
    expect(await own.refusal('account.password', { password: 'short' })).toBe('malformed');
    await own.get('account.password', { password: PASSWORD });
    const typed = { name: 'Anna', password: PASSWORD, code: '' };
    await browser().get('session.password', typed);
    const wrong = { ...typed, password: `${PASSWORD}!` };
    expect(await browser().refusal('session.password', wrong)).toBe('sign_in_wrong');
    const unknown = { ...typed, name: 'boris' };
    expect(await browser().refusal('session.password', unknown)).toBe('sign_in_wrong');

    const { uri } = await own.get('account.totp-begin', {});
    const code = codeAt(uri, app.clock.nowMs());
    expect(await own.refusal('account.totp-confirm', { code: '000000' })).toBe('code_wrong');
    const { recovery } = await own.get('account.totp-confirm', { code });
    expect(recovery).toHaveLength(10);
    expect(await browser().refusal('session.password', typed)).toBe('code_needed');
    expect(await browser().refusal('session.password', { ...typed, code })).toBe('code_wrong');
    app.clock.set(app.clock.nowMs() + 30_000);
    const next = codeAt(uri, app.clock.nowMs());
    await browser().get('session.password', { ...typed, code: next });
    const spare = { ...typed, code: recovery[0] ?? '' };
    await browser().get('session.password', spare);
    expect(await browser().refusal('session.password', spare)).toBe('code_wrong');
  });

  test('wrong codes are few in a minute, even of a caller that knows the password', async () => {
    const own = await entered('carla');
    await own.get('account.password', { password: PASSWORD });
    const { uri } = await own.get('account.totp-begin', {});
    await own.get('account.totp-confirm', { code: codeAt(uri, app.clock.nowMs()) });
    const typed = { name: 'carla', password: PASSWORD, code: '000000' };
    const said: (string | undefined)[] = [];
    for (let n = 0; n < 6; n++) said.push(await browser().refusal('session.password', typed));
    expect(said.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'code_wrong'));
    expect(said[5]).toBe('too_many_requests');
    app.clock.set(app.clock.nowMs() + 60_000);
    const together = Array.from({ length: 9 }, () => browser().refusal('session.password', typed));
    const wrong = (await Promise.all(together)).filter((one) => one === 'code_wrong');
    expect(wrong.length).toBeLessThanOrEqual(5);
  });

  test('right codes do not count as wrong ones', async () => {
    const own = await entered('dora');
    await own.get('account.password', { password: PASSWORD });
    const { uri } = await own.get('account.totp-begin', {});
    const { recovery } = await own.get('account.totp-confirm', {
      code: codeAt(uri, app.clock.nowMs()),
    });
    for (const code of recovery.slice(0, 6)) {
      await browser().get('session.password', { name: 'dora', password: PASSWORD, code });
    }
  });
});

describe('an invitation', () => {
  test('is one of a hundred of a place; the operator has a reserve at each', async () => {
    const { code: at, authKey: key } = await seedProvider(app);
    const other = await seedProvider(app);
    const [owner, another] = [browser(), browser()];
    await owner.get('session.key', { code: at, key });
    await another.get('session.key', { code: other.code, key: other.authKey });
    const invite = (own: ConsoleBrowser, place = at) =>
      own.refusal('staff.invite', { at: place, role: 'reader' });
    for (let n = 0; n < 100; n++) {
      // Deeds about staff are 60 a minute.
      if (n === 50) app.clock.set(app.clock.nowMs() + 60_000);
      expect(await invite(owner)).toBeUndefined();
    }
    expect(await invite(owner)).toBe('one_time_limit_reached');
    expect(await invite(another, other.code)).toBeUndefined();
    const operator = await entered('olga');
    for (let n = 0; n < 20; n++) expect(await invite(operator)).toBeUndefined();
    expect(await invite(operator)).toBe('one_time_limit_reached');
    await operator.get('accounts.invite', { role: 'observer' });
    app.clock.set(app.clock.nowMs() + 600_000);
    expect(await invite(owner)).toBeUndefined();
  });

  test('makes an account with its role, once', async () => {
    const { code, authKey: key } = await seedProvider(app);
    const owner = browser();
    await owner.get('session.key', { code, key });
    const { secret } = await owner.get('staff.invite', { at: code, role: 'reader' });
    const reader = browser();
    expect(await reader.refusal('session.invited', { secret, name: '!' })).toBe('malformed');
    await reader.get('session.invited', { secret, name: 'Rita' });
    expect(await browser().refusal('session.invited', { secret, name: 'sven' })).toBe(
      'sign_in_wrong',
    );
    await reader.get('links.list', {
      at: code,
      filter: { isFull: false, search: null, status: null },
      beyondId: null,
      countMax: 50,
      isOldest: false,
    });
    const draft = { at: code, limit: 1, note: '' };
    expect(await reader.refusal('links.add', draft)).toBe('no_right');
    const [rita] = await owner.get('staff.list', { at: code });
    expect(rita).toMatchObject({ name: 'rita', role: 'reader' });
    const change = { at: code, id: rita?.id ?? 0, role: 'sender' } as const;
    await owner.get('staff.change-role', change);
    const added = await reader.get('links.add', draft);
    const entry = (await auditEntries(app.core)).findLast(({ action }) => action === 'install.add');
    expect(entry).toMatchObject({ who: 'account', name: 'rita', provider: code });
    expect(entry?.object).toMatchObject({ id: added.id });
    await owner.get('staff.remove', { at: code, id: rita?.id ?? 0 });
    expect(await reader.refusal('links.add', draft)).toBe('signed_out');
  });
});

describe('a session', () => {
  test('ends after 12 hours without use, and after 30 days', async () => {
    const own = await entered();
    for (let hour = 0; hour < 30 * 24 - 11; hour += 11) {
      expect(await own.get('session.me', {})).toMatchObject({ name: 'anna' });
      app.clock.set(app.clock.nowMs() + 11 * HOUR_MS);
    }
    // Used less than 12 hours before its end.
    expect(await own.get('session.me', {})).toMatchObject({ name: 'anna' });
    app.clock.set(app.clock.nowMs() + 11 * HOUR_MS);
    expect(await own.get('session.me', {})).toBeNull();
    const idle = await entered('boris');
    app.clock.set(app.clock.nowMs() + 12 * HOUR_MS);
    expect(await idle.get('session.me', {})).toBeNull();
  });

  test('is listed and ended by its owner; a stolen cookie is of no use then', async () => {
    const own = await entered();
    const stolen = browser();
    stolen.cookie = own.cookie;
    expect(await stolen.get('session.list', {})).toMatchObject([{ isThis: true, method: 'link' }]);
    await own.get('session.leave', {});
    expect(own.setCookie).toContain('Max-Age=0');
    expect(await stolen.refusal('session.list', {})).toBe('signed_out');
  });

  test('is a new one at each sign-in: a planted cookie stays nothing', async () => {
    const { code, authKey: key } = await seedProvider(app);
    const own = browser();
    own.cookie = `__Host-gatepost=${'a'.repeat(43)}`;
    const planted = own.cookie;
    await own.get('session.key', { code, key });
    expect(own.cookie).not.toBe(planted);
    const other = browser();
    other.cookie = planted;
    expect(await other.get('session.me', {})).toBeNull();
  });

  test('an old sign-in changes no way of signing in', async () => {
    const own = await entered();
    app.clock.set(app.clock.nowMs() + 600_000);
    // The link that signed it in is used up, and it has no other way.
    const stale = await own.refusal('account.password', { password: PASSWORD });
    expect(stale).toBe('link_too_old');
    expect(await own.refusal('account.passkey-begin', {})).toBe('link_too_old');
    expect(await own.refusal('account.totp-remove', {})).toBe('link_too_old');
    expect(await own.get('session.me', {})).toMatchObject({ hasWayIn: false });
  });

  test('an old sign-in with a password asks for another sign-in', async () => {
    const own = await entered();
    await own.get('account.password', { password: PASSWORD });
    expect(await own.get('session.me', {})).toMatchObject({ hasWayIn: true });
    app.clock.set(app.clock.nowMs() + 600_000);
    const password = { password: `${PASSWORD}!` };
    expect(await own.refusal('account.password', password)).toBe('sign_in_afresh');
    expect(await own.refusal('account.totp-remove', {})).toBe('sign_in_afresh');
  });
});
