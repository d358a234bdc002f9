/** What an attacker tries at the console: each of it changes nothing. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { CallName } from '../../../src/call/table.ts';
import { RECORDS } from '../../../src/call/table.ts';
import { makeEntry } from '../../../src/core/account/sign-in.ts';
import { endpoints } from '../../../src/http/endpoints/index.ts';
import { ACT } from '../../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { until } from '../../support/until.ts';

// A password takes a tenth of a second of a processor.

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ authFailuresPerMinuteMax: 5 });
});
afterAll(() => app.close());

let code: string;
let key: string;
let owner: ConsoleBrowser;
let testCount = 0;
beforeEach(async () => {
  await app.reset();
  // Each test has a minute of its own.
  testCount += 1;
  app.clock.advance(testCount * 3_600_000);
  ({ code, authKey: key } = await seedProvider(app));
  owner = new ConsoleBrowser(app.url);
  await owner.get('session.key', { code, key });
});

async function addAccount(name: string): Promise<number> {
  const grant = { providerId: null, role: 'operator' } as const;
  const draft = { name, grant, countMax: 9, createdAtMs: app.clock.nowMs(), invitation: null };
  const added = await app.core.store.addAccount(draft, ACT);
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

/** What a request to a call answers, as any page or program may send it. */
async function raw(name: CallName, init: RequestInit): Promise<unknown> {
  const answer = await fetch(`${app.url}/console/call/${name}`, init);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  return ((await answer.json()) as { refused?: string }).refused;
}

describe('a page of another site', () => {
  const FOREIGN: Record<string, string>[] = [
    {},
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: 'http://localhost' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: 'OWN' },
    { 'sec-fetch-site': 'none', origin: 'OWN' },
    { referer: 'OWN' },
  ];
  const BODIES = ['application/json', 'text/plain', 'application/x-www-form-urlencoded'];

  test.each(RECORDS.map(([name]) => name))('makes no call %s', async (name) => {
    const body = JSON.stringify({ at: code });
    const cookie = owner.cookie;
    for (const [n, given] of FOREIGN.entries()) {
      const own = Object.entries(given).map(([header, value]) => [
        header,
        value.replace('OWN', app.url),
      ]);
      const type = BODIES[n % BODIES.length] ?? '';
      const headers = { cookie, 'content-type': type, ...Object.fromEntries(own) };
      expect(await raw(name, { method: 'POST', headers, body })).toBe('other_origin');
    }
    // A link or an image can only GET.
    const headers = { cookie, origin: app.url };
    expect(await raw(name, { headers })).toBe('wrong_method');
  });

  test('may not ask for permission either', async () => {
    const asked = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const answer = await fetch(`${app.url}/console/call/links.add`, {
      method: 'OPTIONS',
      headers: asked,
    });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a link for one use', () => {
  test('lets one of two in that come at once', async () => {
    const secret = await makeEntry(app.core, await addAccount('anna'), app.clock.nowMs());
    const both = await Promise.all(
      [1, 2, 3].map(() => new ConsoleBrowser(app.url).refusal('session.entry', { secret })),
    );
    expect(both.filter((says) => says === undefined)).toHaveLength(1);
    expect(both.filter((says) => says === 'sign_in_wrong')).toHaveLength(2);
  });

  test('makes one account of two that are invited by it at once', async () => {
    const { secret } = await owner.get('staff.invite', { at: code, role: 'reader' });
    const both = await Promise.all(
      ['anna', 'boris', 'clara'].map((name) =>
        new ConsoleBrowser(app.url).refusal('session.invited', { secret, name }),
      ),
    );
    expect(both.filter((says) => says === undefined)).toHaveLength(1);
    expect(await owner.get('staff.list', { at: code })).toHaveLength(1);
  });

  test('of one kind is none of the other', async () => {
    const { secret } = await owner.get('staff.invite', { at: code, role: 'owner' });
    const one = new ConsoleBrowser(app.url);
    expect(await one.refusal('session.entry', { secret })).toBe('sign_in_wrong');
    const entry = await makeEntry(app.core, await addAccount('anna'), app.clock.nowMs());
    const given = { secret: entry, name: 'boris' };
    expect(await one.refusal('session.invited', given)).toBe('sign_in_wrong');
    // Neither was used up by that.
    await one.get('session.invited', { secret, name: 'boris' });
    await new ConsoleBrowser(app.url).get('session.entry', { secret: entry });
  });
});

describe('a guesser', () => {
  test('waits for each answer beyond the limit, and a right key is let in meanwhile', async () => {
    const guesser = new ConsoleBrowser(app.url);
    const guess = (n: number) =>
      guesser.refusal('session.key', { code, key: `${n}`.padStart(32, 'x') });
    for (let n = 0; n < 5; n++) expect(await guess(n)).toBe('sign_in_wrong');
    let isAnswered = false;
    const late = guess(6).then(() => {
      isAnswered = true;
    });
    await until('the answer is late', () => app.clock.sleeperCount > 0);
    expect(isAnswered).toBe(false);
    await new ConsoleBrowser(app.url).get('session.key', { code, key });
    app.clock.advance(1_000);
    await late;
    expect(app.server.limited().auth_failures).toBeGreaterThan(0);
  });

  test('learns from no answer whether a name or a code is there', async () => {
    await addAccount('anna');
    const guesser = new ConsoleBrowser(app.url);
    const typed = { password: 'a long enough password', code: '' };
    const answers = [
      await guesser.call('session.password', { ...typed, name: 'anna' }),
      await guesser.call('session.password', { ...typed, name: 'nobody' }),
      await guesser.call('session.key', { code, key: 'x'.repeat(32) }),
      await guesser.call('session.key', { code: 'Unknown1', key: 'x'.repeat(32) }),
    ];
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });
});

describe('a cookie', () => {
  test('that was planted is no session, before the sign-in and after it', async () => {
    const planted = `__Host-gatepost=${'a'.repeat(43)}`;
    const victim = new ConsoleBrowser(app.url);
    victim.cookie = planted;
    await victim.get('session.key', { code, key });
    expect(victim.cookie).not.toBe(planted);
    const attacker = new ConsoleBrowser(app.url);
    attacker.cookie = planted;
    expect(await attacker.refusal('links.list', { at: code } as never)).toBe('signed_out');
    // Two of them are ambiguous: neither is taken.
    attacker.cookie = `${planted}; ${victim.cookie}`;
    expect(await attacker.refusal('links.list', { at: code } as never)).toBe('signed_out');
    expect(victim.setCookie).toMatch(/Path=\/; Secure; HttpOnly; SameSite=Strict$/);
  });

  test('that was stolen is nothing once its owner has left', async () => {
    const thief = new ConsoleBrowser(app.url);
    thief.cookie = owner.cookie;
    await thief.get('overview.read', { at: code });
    await owner.get('session.leave', {});
    for (const [name] of RECORDS.filter(([, { kind }]) => kind !== 'open')) {
      expect(await thief.refusal(name, { at: code } as never)).toBe('signed_out');
    }
    expect(
      (
        await fetch(`${app.url}/console/stream?at=${code}`, {
          headers: { cookie: thief.cookie },
        })
      ).status,
    ).toBe(401);
  });

  test('opens no call of the API, also to a page of the own site', async () => {
    const headers = { cookie: owner.cookie, origin: app.url, 'sec-fetch-site': 'same-origin' };
    const paths = endpoints.filter(({ audience }) => audience === 'provider');
    expect(paths.length).toBeGreaterThan(20);
    for (const { method, path } of paths) {
      const body = method === 'POST' ? JSON.stringify({ provider_code: code }) : null;
      const at = `${app.url}${path}?provider_code=${code}`;
      const answer = await fetch(at, { method, headers, body });
      expect([path, ((await answer.json()) as { msg: string }).msg]).toEqual([path, 'Auth error']);
      app.clock.advance(60_000);
    }
  });
});
