/** Tokens from the account in a file: renewed in time, and never tried on after a refusal. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Silent } from '../../../src/core/panel/api.ts';
import { lookAtApi } from '../../../src/http/upstream/panel-api.ts';
import type { PanelTokens } from '../../../src/http/upstream/panel-tokens.ts';
import { notesIn } from '../../../src/http/upstream/sign-in-notes.ts';
import { FakeClock } from '../../support/clock.ts';
import { jwtUntil, type PanelApiServer, startPanelApi, tokensOf } from '../../support/panel-api.ts';
import { macToken } from '../../support/signing-panel.ts';
import { startFronted } from '../../support/upstream.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PASSWORD = 'PLANTED-p+ss w&rd=%';

let folder: string;
let api: PanelApiServer;
let clock: FakeClock;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatepost-panel-tokens-'));
  api = startPanelApi('marzban', []);
  clock = new FakeClock();
  file = join(folder, 'account');
  write(`reader\n${PASSWORD}\n`, 1);
});
afterEach(async () => {
  await api.stop();
  rmSync(folder, { recursive: true });
});

/** Writes the account; the time tells the versions of the file apart. */
function write(text: string, version: number, mode = 0o600): void {
  writeFileSync(file, text, { mode });
  utimesSync(file, version, version);
}

/** A new process on the same data directory. */
const begin = () => tokensOf(() => null, { clock, notes: notesIn(folder) });

const source = () => ({
  host: 'sub.example.org',
  panel: 'marzban' as const,
  url: api.url,
  tokenFile: '',
  accountFile: file,
  headersFile: '',
});

/** The panel signs in whom it knows, for a time. */
function admits(lifeMs: number | null): string[] {
  const given: string[] = [];
  api.signIn = (form) => {
    if (new URLSearchParams(form).get('password') !== PASSWORD) {
      return Response.json({ detail: 'Incorrect username or password' }, { status: 401 });
    }
    const token = jwtUntil(lifeMs === null ? null : clock.nowMs() + lifeMs);
    given.push(token);
    api.tokens = new Set([token]);
    return Response.json({ access_token: token, token_type: 'bearer' });
  };
  return given;
}

const refuses = () => {
  api.signIn = () => Response.json({ detail: 'Incorrect username or password' }, { status: 401 });
};

/** Returns the token, or the code of the failure. */
const ask = (tokens: PanelTokens) =>
  tokens.of(source()).catch((fault) => {
    if (fault instanceof Silent) return fault.code;
    throw fault;
  });

describe('a token', () => {
  test('comes by one sign-in for all that ask at once, with the name and password alone', async () => {
    const given = admits(DAY_MS);
    const tokens = begin();
    const all = await Promise.all(Array.from({ length: 10 }, () => ask(tokens)));
    expect(all).toEqual(Array(10).fill(given[0]));
    const form = new URLSearchParams({ grant_type: 'password', username: 'reader' });
    form.set('password', PASSWORD);
    expect(api.signIns).toEqual([`/api/admin/token?${form}`]);
  });

  test('is renewed before it ends, and no question waits for that', async () => {
    const given = admits(DAY_MS);
    const tokens = begin();
    await ask(tokens);
    clock.advance(0.79 * DAY_MS);
    expect([await ask(tokens), given.length]).toEqual([given[0] as string, 1]);
    clock.advance(0.02 * DAY_MS);
    expect(await ask(tokens)).toBe(given[0] as string);
    while ((await ask(tokens)) === given[0]) await Bun.sleep(1);
    expect([given.length, await ask(tokens)]).toEqual([2, given[1] as string]);
  });

  test('without an end lasts until the panel refuses it', async () => {
    const given = admits(null);
    const tokens = begin();
    await ask(tokens);
    clock.advance(400 * DAY_MS);
    expect(await ask(tokens)).toBe(given[0] as string);
    expect(tokens.refused(source(), given[0] as string)).toBe(true);
    expect(await ask(tokens)).toBe(given[1] as string);
    // A panel that refuses what it has just given is not asked for more at once.
    expect(tokens.refused(source(), given[1] as string)).toBe(false);
    expect([await ask(tokens), given.length]).toEqual(['API_401', 2]);
    clock.advance(600_000);
    expect([await ask(tokens), given.length]).toEqual([given[2] as string, 3]);
  });

  test('that is over by a wrong clock is used all the same, and signs in no more often', async () => {
    const given = admits(-HOUR_MS);
    const tokens = begin();
    expect([await ask(tokens), await ask(tokens)]).toEqual([
      given[0] as string,
      given[0] as string,
    ]);
    expect(api.signIns).toHaveLength(1);
  });

  test('of a file goes out as it is, and nobody signs in', async () => {
    admits(DAY_MS);
    const tokens = tokensOf((name) => (name === '/t' ? 'of-the-file' : null), { clock });
    const ofFile = { ...source(), accountFile: '', tokenFile: '/t' };
    expect(await tokens.of(ofFile)).toBe('of-the-file');
    expect(tokens.refused(ofFile, 'of-the-file')).toBe(false);
    expect(api.signIns).toEqual([]);
  });
});

describe('a refused sign-in', () => {
  test('is the last one, for all processes and the doctor, until the file changes', async () => {
    refuses();
    let tokens = begin();
    expect(await ask(tokens)).toBe('SIGN_IN_REFUSED');
    for (const laterMs of [1_000, HOUR_MS, 40 * DAY_MS]) {
      clock.advance(laterMs);
      expect(await ask(tokens)).toBe('SIGN_IN_REFUSED');
      tokens = begin();
      expect(await ask(tokens)).toBe('SIGN_IN_REFUSED');
      const look = await lookAtApi(source(), begin(), true);
      expect(look.code).toBe('SIGN_IN_REFUSED');
    }
    expect(api.signIns).toHaveLength(1);
    const given = admits(DAY_MS);
    write(`reader\n${PASSWORD}`, 2);
    expect([await ask(tokens), api.signIns.length]).toEqual([given[0] as string, 2]);
  });

  test('leaves the old token in use, and another panel alone', async () => {
    const given = admits(DAY_MS);
    const tokens = begin();
    await ask(tokens);
    refuses();
    clock.advance(0.9 * DAY_MS);
    for (let n = 0; n < 20; n++) {
      expect(await ask(tokens)).toBe(given[0] as string);
      await Bun.sleep(1);
    }
    expect(api.signIns).toHaveLength(2);
    // So it does while the sign-in goes on.
    const waiting = Promise.withResolvers<Response>();
    api.signIn = () => waiting.promise;
    write(`reader\n${PASSWORD}`, 2);
    for (const _ of Array(3)) expect(await ask(tokens)).toBe(given[0] as string);
    waiting.resolve(new Response('', { status: 403 }));
    const elsewhere = startPanelApi('marzban', []);
    elsewhere.signIn = () => Response.json({ access_token: 'of-another' });
    expect(await tokens.of({ ...source(), url: elsewhere.url })).toBe('of-another');
    await elsewhere.stop();
  });

  test.each([400, 403, 404, 422])('may have the status %d', async (status) => {
    api.signIn = () => Response.json({}, { status });
    const tokens = begin();
    for (let n = 0; n < 3; n++) {
      expect(await ask(tokens)).toBe('SIGN_IN_REFUSED');
      clock.advance(DAY_MS);
    }
    expect(api.signIns).toHaveLength(1);
  });

  test.each([
    ['a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['no token', () => Response.json({ access_token: '' })],
  ])('is also a 200 with %s', async (_, answer) => {
    api.signIn = answer;
    expect(await ask(begin())).toBe('SIGN_IN_REFUSED');
    expect([await ask(begin()), api.signIns.length]).toEqual(['SIGN_IN_REFUSED', 1]);
  });

  test.each([302, 307, 308])(
    'is also a redirect with %d, which takes no password',
    async (status) => {
      const other = startPanelApi('marzban', []);
      other.signIn = () => Response.json({ access_token: 'of-a-thief' });
      api.signIn = () => Response.redirect(`${other.url}/api/admin/token`, status);
      const tokens = begin();
      expect([await ask(tokens), await ask(tokens)]).toEqual([
        'SIGN_IN_REFUSED',
        'SIGN_IN_REFUSED',
      ]);
      expect([other.signIns, other.asked]).toEqual([[], []]);
      await other.stop();
    },
  );
});

describe('a panel that does not answer as it should', () => {
  test.each([429, 500, 502])('with %d is asked again after ten minutes', async (status) => {
    api.signIn = () => new Response('', { status });
    const tokens = begin();
    expect(await ask(tokens)).toBe(`SIGN_IN_${status}`);
    clock.advance(599_000);
    expect([await ask(tokens), api.signIns.length]).toEqual([`SIGN_IN_${status}`, 1]);
    const given = admits(DAY_MS);
    clock.advance(1_000);
    expect(await ask(tokens)).toBe(given[0] as string);
  });

  test('that is away is asked again after a minute', async () => {
    const { url } = api;
    await api.stop();
    const tokens = begin();
    expect(await ask(tokens)).toBe('ECONNREFUSED');
    const back = startPanelApi('marzban', [], undefined, Number(new URL(url).port));
    back.signIn = () => Response.json({ access_token: 'given-again' });
    expect([await ask(tokens), back.signIns.length]).toEqual(['ECONNREFUSED', 0]);
    clock.advance(60_000);
    expect(await ask(tokens)).toBe('given-again');
    await back.stop();
  });
});

test.each([
  ['is missing', () => rmSync(file)],
  ['is open to all', () => chmodSync(file, 0o644)],
  ['holds one line', () => write('reader\n', 2)],
])('a file that %s signs nobody in', async (_, change) => {
  admits(DAY_MS);
  change();
  expect([await ask(begin()), api.signIns]).toEqual(['NO_ACCOUNT', []]);
});

test('no file of the data directory has the name or the password', async () => {
  refuses();
  await ask(begin());
  rmSync(file);
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(texts).toHaveLength(1);
  expect(texts.join('')).not.toMatch(/PLANTED|reader/);
});

test('the door asks by it, and gets another one once the panel ended it', async () => {
  const user = { id: 7, name: 'anna', key: 'k', isActive: true, createdAtMs: 1_000 };
  const panel = startPanelApi('pasarguard', [user]);
  const front = await startFronted(undefined, {
    panel: 'pasarguard',
    key: 'pasarguard',
    limits: 'panel',
    panelUrl: panel.url,
    panelAccountFile: file,
  });
  const end = () => {
    panel.tokens = new Set();
  };
  panel.signIn = () => {
    const token = jwtUntil(front.app.clock.nowMs() + DAY_MS);
    panel.tokens.add(token);
    return Response.json({ access_token: token });
  };
  const token = macToken('v3,7,1790000000');
  const fetched = async () => (await front.get(`/sub/${token}`, 'phone')).status;
  expect(await fetched()).toBe(200);
  expect([await front.links(), panel.signIns.length]).toMatchObject([[{ limit: 2 }], 1]);
  end();
  front.app.clock.advance(HOUR_MS);
  panel.asked.length = 0;
  while (panel.signIns.length < 2) {
    expect(await fetched()).toBe(200);
    await Bun.sleep(1);
  }
  expect(panel.asked.length).toBeLessThan(5);
  expect(front.app.logLines.join('')).not.toContain('PLANTED');
  await front.stop();
  await panel.stop();
});
