/** Strangers who guess at an account, and the browsers in which it signed in before. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { resetAccount } from '../../../src/core/account/operator.ts';
import { makeEntry, signInByPassword } from '../../../src/core/account/sign-in.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { makeGuessBounds } from '../../../src/http/console/guess-bounds.ts';
import { ACT } from '../../support/actor.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { SoftPasskey } from '../../support/passkey.ts';
import { codeAt } from '../../support/totp.ts';

const DAY_MS = 86_400_000;
const PASSWORD = 'a long enough password';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(() => app.reset());
afterAll(() => app.close());

/** A person with a password and a second factor. */
interface Person {
  name: string;
  accountId: number;
  /** The browser of the first entry. */
  first: ConsoleBrowser;
  /** Returns an unused recovery code. */
  code(): string;
}

let count = 0;

/** Adds a person with a new name: limits by name last longer than a test. */
async function addPerson(): Promise<Person> {
  count += 1;
  const name = `anna-${count}`;
  const nowMs = app.clock.nowMs();
  const draft = { name, grant: { providerId: null, role: 'operator' as const } };
  const more = { countMax: 9, createdAtMs: nowMs, invitation: null };
  const added = await app.core.store.addAccount({ ...draft, ...more }, ACT);
  if (typeof added === 'string') throw new Error(added);
  const first = new ConsoleBrowser(app.url);
  await first.get('session.entry', { secret: await makeEntry(app.core, added.id, nowMs) });
  await first.get('account.password', { password: PASSWORD });
  const { uri } = await first.get('account.totp-begin', {});
  const codes = await first.get('account.totp-confirm', { code: codeAt(uri, nowMs) });
  const left = [...codes.recovery];
  return { name, accountId: added.id, first, code: () => left.pop() ?? '' };
}

/** Signs in by password; returns what a refusal says. */
const signIn = ({ name }: Person, browser: ConsoleBrowser, code: string) =>
  browser.refusal('session.password', { name, password: PASSWORD, code });

/** A browser with the mark of the person, and nothing else. */
async function marked(person: Person): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(app.url);
  expect(await signIn(person, browser, person.code())).toBeUndefined();
  browser.cookie = '';
  return browser;
}

/** Uses up the wrong codes that strangers have in a minute. */
async function shutOut(person: Person): Promise<void> {
  const stranger = new ConsoleBrowser(app.url);
  for (let n = 0; n < 5; n++) await signIn(person, stranger, '000000');
  expect(await signIn(person, stranger, person.code())).toBe('too_many_requests');
}

describe('while strangers try codes with the right password', () => {
  test('a browser of before signs in, and so does a passkey', async () => {
    const person = await addPerson();
    const passkey = new SoftPasskey(app.url);
    await passkey.addTo(person.first);
    const browser = await marked(person);
    await shutOut(person);
    expect(await signIn(person, browser, person.code())).toBeUndefined();
    const { challenge } = await browser.get('session.passkey-challenge', {});
    await browser.get('session.passkey', { response: passkey.shown(challenge) });
  });

  test('the mark is void after ten wrong tries, and good again after a sign-in', async () => {
    const person = await addPerson();
    const browser = await marked(person);
    app.clock.advance(1);
    const other = await marked(person);
    await shutOut(person);
    for (let n = 0; n < 10; n++) expect(await signIn(person, browser, '000000')).toBe('code_wrong');
    expect(await signIn(person, browser, person.code())).toBe('too_many_requests');
    // It is that of one browser.
    expect(await signIn(person, other, person.code())).toBeUndefined();
    app.clock.advance(60_000);
    expect(await signIn(person, browser, person.code())).toBeUndefined();
    await shutOut(person);
    expect(await signIn(person, browser, person.code())).toBeUndefined();
  });

  test('the mark of another account, an altered and an old one open nothing', async () => {
    const [anna, boris] = [await addPerson(), await addPerson()];
    const [good, foreign] = [await marked(anna), await marked(boris)];
    const [name = '', mark = ''] = good.mark.split('=');
    const [until = '', mac = ''] = mark.split('.');
    const earlier = (Number.parseInt(until, 36) - 1).toString(36);
    const wrong = [
      foreign.mark,
      `${name}=${earlier}.${mac}`,
      `${name}=${until}.${'A'.repeat(43)}`,
      `${name}=${until}`,
      `${name}=`,
      `${good.mark}; ${good.mark}`,
    ];
    await shutOut(anna);
    for (const one of wrong) {
      const browser = new ConsoleBrowser(app.url);
      browser.mark = one;
      expect(await signIn(anna, browser, '000000')).toBe('too_many_requests');
    }
    expect(await signIn(anna, good, '000000')).toBe('code_wrong');
    app.clock.set(app.clock.nowMs() + 30 * DAY_MS);
    await shutOut(anna);
    expect(await signIn(anna, good, '000000')).toBe('too_many_requests');
    // The clock came back: one made meanwhile is good for longer than any.
    const ahead = await marked(boris);
    app.clock.set(app.clock.nowMs() - DAY_MS);
    await shutOut(boris);
    expect(await signIn(boris, ahead, '000000')).toBe('too_many_requests');
  });

  const CHANGES: [what: string, change: (person: Person) => Promise<unknown>][] = [
    ['a new password', ({ first }) => first.get('account.password', { password: PASSWORD })],
    ['a passkey', ({ first }) => new SoftPasskey(app.url).addTo(first)],
  ];
  test.each(CHANGES)('%s makes the mark void', async (_, change) => {
    const person = await addPerson();
    const browser = await marked(person);
    await change(person);
    await shutOut(person);
    expect(await signIn(person, browser, '000000')).toBe('too_many_requests');
  });
});

describe('the mark', () => {
  test('is made by a full sign-in alone, and says only that there was one', async () => {
    const person = await addPerson();
    expect(person.first.mark).toBe('');
    const browser = new ConsoleBrowser(app.url);
    expect(await signIn(person, browser, '')).toBe('code_needed');
    expect(await signIn(person, browser, '000000')).toBe('code_wrong');
    expect(browser.mark).toBe('');
    const answer = await fetch(`${app.url}/console/call/session.password`, {
      method: 'POST',
      headers: { origin: app.url, 'content-type': 'application/json' },
      body: JSON.stringify({ name: person.name, password: PASSWORD, code: person.code() }),
    });
    const cookie = answer.headers.getSetCookie().find((one) => one.includes('-known='));
    const [value, ...rules] = cookie?.split('; ') ?? [];
    expect(value).toMatch(/^__Host-gatepost-known=[0-9a-z]{8}\.[-_A-Za-z0-9]{43}$/);
    const expected = ['Max-Age=2592000', 'Path=/', 'Secure', 'HttpOnly', 'SameSite=Strict'];
    expect(rules).toEqual(expected);
  });

  test('is no session, and void after a reset by the operator', async () => {
    const person = await addPerson();
    const browser = await marked(person);
    expect(await browser.get('session.me', {})).toBeNull();
    expect(await resetAccount(app.core, person.name, app.clock.nowMs())).toBeString();
    const secret = await makeEntry(app.core, person.accountId, app.clock.nowMs());
    const first = new ConsoleBrowser(app.url);
    await first.get('session.entry', { secret });
    await first.get('account.password', { password: PASSWORD });
    const { isKnown, tries } = recording();
    const from = { client: '192.0.2.1', agent: '' };
    const mark = browser.mark.split('=')[1] ?? '';
    const typed = { name: person.name, password: 'wrong', code: '', mark };
    await signInByPassword(app.core, tries, from, typed, app.clock.nowMs());
    expect(isKnown).toEqual([false]);
  });
});

/** Bounds whose passwords are all wrong at once; `isKnown` has who came by which lane. */
function recording() {
  const isKnown: boolean[] = [];
  const verify = async (of: { isKnown: boolean }) => {
    isKnown.push(of.isKnown);
    return false;
  };
  return { isKnown, tries: makeGuessBounds({ verify, hash: async () => '' }) };
}

test('a thousand wrong tries an hour end those of strangers at this account alone', async () => {
  const person = await addPerson();
  const { mark } = await marked(person);
  const { tries } = recording();
  const nowMs = app.clock.nowMs();
  const attempt = async (n: number, of: { name: string; mark?: string }, atMs = nowMs) => {
    const from = { client: `203.0.${n >> 8}.${n & 255}`, agent: '' };
    const typed = { password: 'wrong', code: '', mark: null, ...of };
    const said = await signInByPassword(app.core, tries, from, typed, atMs);
    return isRefused(said) ? said.says : 'ok';
  };
  for (const name of [person.name, 'nobody']) {
    for (let n = 0; n < 1_000; n++) {
      if ((await attempt(n, { name })) !== 'sign_in_wrong') throw new Error(`${n} of ${name}`);
    }
    // An unknown name gets the same answers.
    expect(await attempt(1_000, { name })).toBe('too_many_requests');
    expect(await attempt(1_000, { name: ` ${name.toUpperCase()}` })).toBe('too_many_requests');
  }
  expect(await attempt(1_000, { name: 'boris' })).toBe('sign_in_wrong');
  const own = { name: person.name, mark: mark.split('=')[1] ?? '' };
  expect(await attempt(1_000, own)).toBe('sign_in_wrong');
  const later = (ms: number) => attempt(1_000, { name: person.name }, nowMs + ms);
  expect(await later(3_599_999)).toBe('too_many_requests');
  expect(await later(3_600_000)).toBe('sign_in_wrong');
});
