/** Messages in the apps that people have, by Gatepost in front of their panel. */

import { afterEach, describe, expect, test } from 'bun:test';
import { HOUR_MS } from '../../../src/core/calendar.ts';
import { encodeText } from '../../../src/core/ride/text.ts';
import { answer, PANEL_HEADERS, type PanelCall, SUBSCRIPTION } from '../../support/panel.ts';
import {
  block,
  frontRiding,
  type Language,
  LINK_URL,
  ofApp,
  ride,
  seen,
  TEXTS,
} from '../../support/rides.ts';
import { LINKED_APPS, NOTHING, RIDING_APPS, SHOWING_APPS } from '../../support/riding-apps.ts';
import { exchange, type Fronted, type Got, KEY } from '../../support/upstream.ts';

let fronted: Fronted | null = null;
afterEach(async () => {
  await fronted?.stop();
  fronted = null;
});

async function front(...from: Parameters<typeof frontRiding>): Promise<Fronted> {
  fronted = await frontRiding(...from);
  return fronted;
}

const PATH = `/sub/${KEY}`;
/** A panel with a header or a status of its own. */
const panelWith =
  (headers: Record<string, string>, status = 200) =>
  ({ send }: PanelCall) =>
    send(answer(status, status === 304 ? '' : SUBSCRIPTION, { ...PANEL_HEADERS, ...headers }));
/** The header that the panel was asked with last. */
const asked = ({ panel }: Fronted, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(panel.calls.at(-1)?.head ?? '')?.[1]?.trim() ?? null;
const textOf = (got: Got) =>
  Buffer.from(got.headers.get('announce')?.replace('base64:', '') ?? '', 'base64').toString();

describe('a notification', () => {
  test('is what each app shows, in the language of its user, also to one that is new', async () => {
    const at = await front(undefined, { defaultLimit: 100 });
    await ride(at.app, at.own);
    const languages: [Language, string][] = [
      ...([
        ['ru', 'RU'],
        ['fa', 'fa-IR'],
        ['zh', 'CN'],
        ['en', 'de'],
      ] as [Language, string][]),
    ];
    for (const { name, shows } of RIDING_APPS) {
      for (const [language, tag] of languages) {
        const got = await at.get(PATH, `${name} ${tag}`.replaceAll(' ', '-'), ofApp(name, tag));
        expect([name, got.status, got.body]).toEqual([name, 200, SUBSCRIPTION]);
        if (shows(new Headers()) === null) continue;
        expect([name, seen(name, got)]).toEqual([
          name,
          {
            ...NOTHING,
            announcement: SHOWING_APPS.includes(name) ? TEXTS[language] : null,
            link: LINKED_APPS.includes(name) ? LINK_URL : null,
          },
        ]);
      }
    }
  });

  test('adds its headers and those of caches, and changes no other and no byte', async () => {
    const at = await front();
    const before = await at.get(PATH, 'a', ofApp('INCY'));
    await ride(at.app, at.own);
    const got = await at.get(PATH, 'a', ofApp('INCY'));
    expect(got.body).toBe(before.body);
    const without = ({ headers }: Got) =>
      [...headers].filter(([name]) => !['announce', 'announce-url', 'date'].includes(name));
    expect(without(got)).toEqual(without(before));
  });

  test('is kept from caches, also before it rides, where messages may ride', async () => {
    const at = await front();
    const cachedBy = ({ headers }: Got) => [headers.get('vary'), headers.get('cache-control')];
    const varying = 'x-hwid, accept-language, x-device-locale, user-agent';
    expect(cachedBy(await at.get(PATH, 'a'))).toEqual([varying, 'private, no-cache']);
    await at.stop();
    const off = await front(undefined, { ride: 'off' });
    expect(cachedBy(await off.get(PATH, 'a'))).toEqual(['x-hwid', 'private']);
  });

  test('is absent after its end, and until then no condition reaches the panel', async () => {
    const at = await front();
    const conditions = { 'If-None-Match': '"a"', 'If-Range': '"a"', Range: 'bytes=0-1' };
    const get = () => at.get(PATH, 'a', { ...ofApp('INCY'), ...conditions });
    const heard = () => Object.keys(conditions).map((name) => asked(at, name));
    // A device without a slot, then one with.
    await get();
    expect(heard()).toEqual([null, null, null]);
    await get();
    expect(heard()).toEqual(Object.values(conditions));
    await ride(at.app, at.own);
    expect([textOf(await get()), heard()]).toEqual([TEXTS.en, [null, null, null]]);
    at.app.clock.advance(24 * HOUR_MS - 1);
    expect([textOf(await get()), heard()]).toEqual([TEXTS.en, [null, null, null]]);
    // As long as it rode, the app must hear that it is over.
    at.app.clock.advance(1);
    const over = await get();
    expect([over.headers.has('announce'), heard()]).toEqual([false, [null, null, null]]);
    at.app.clock.advance(24 * HOUR_MS);
    const after = await get();
    expect([after.headers.has('announce'), heard()]).toEqual([false, Object.values(conditions)]);
  });

  test('ends with its block, and gives way to a newer one', async () => {
    const at = await front();
    await ride(at.app, at.own, { body: 'first', title: '', locales: {} });
    const show = async () => seen('FlClashX', await at.get(PATH, 'a', ofApp('FlClashX')));
    expect((await show()).announcement).toBe('first');
    const second = await ride(at.app, at.own, { body: 'second', title: '', locales: {} });
    expect((await show()).announcement).toBe('second');
    await block(at.app, second);
    expect((await show()).announcement).toBeNull();
  });

  test('of 300 characters is cut at a word within 200', async () => {
    const at = await front();
    await ride(at.app, at.own, { title: '', body: 'слово '.repeat(50), locales: {} });
    const { announcement } = seen('Happ', await at.get(PATH, 'a', ofApp('Happ')));
    expect(announcement).toBe(`${'слово '.repeat(33).trim()}…`);
  });

  test.each([
    ['message', TEXTS.en],
    ['panel', 'from the panel'],
    ['both', `${TEXTS.en}\nfrom the panel`],
  ] as const)('beside that of a panel, announce = %p: %p', async (announce, text) => {
    const theirs = {
      Announce: encodeText('from the panel'),
      'Announce-Url': 'https://panel.example/',
    };
    const at = await front(panelWith(theirs), { announce });
    expect(textOf(await at.get(PATH, 'a', ofApp('INCY')))).toBe('from the panel');
    await ride(at.app, at.own);
    const got = await at.get(PATH, 'a', ofApp('INCY'));
    expect(textOf(got)).toBe(text);
    const link = announce === 'panel' ? 'https://panel.example/' : LINK_URL;
    expect(got.headers.get('announce-url')).toBe(link);
    await ride(at.app, at.own, { link_for_open: undefined });
    const bare = await at.get(PATH, 'a', ofApp('INCY'));
    const kept = announce === 'message' ? null : 'https://panel.example/';
    expect(bare.headers.get('announce-url') ?? null).toBe(kept);
  });

  test('rides to a system that is neither iOS nor Android only if the provider says so', async () => {
    const at = await front();
    await ride(at.app, at.own);
    for (const os of ['windows', 'macOS', '']) {
      const got = await at.get(PATH, `on-${os}`, ofApp('Koala Clash', null, os));
      expect([os, got.headers.has('announce')]).toEqual([os, false]);
    }
  });

  test('rides for all, also where the upstream lets no message ride: then for none', async () => {
    const at = await front(undefined, { ride: 'off' });
    await ride(at.app, at.own);
    await at.get(PATH, 'a', ofApp('INCY'));
    const got = await at.get(PATH, 'a', { ...ofApp('INCY'), 'If-None-Match': '"a"' });
    expect([got.headers.has('announce'), asked(at, 'If-None-Match')]).toEqual([false, '"a"']);
  });
});

describe('nothing rides on', () => {
  test.each([301, 304, 400, 404, 500])('an answer of %p', async (status) => {
    let now = 200;
    const at = await front((call) => panelWith({ Announce: 'theirs' }, now)(call));
    await at.get(PATH, 'a', ofApp('INCY'));
    await ride(at.app, at.own);
    now = status;
    const got = await at.get(PATH, 'a', ofApp('INCY'));
    expect([got.status, got.headers.get('announce')]).toEqual([status, 'theirs']);
  });

  test.each([
    ['x-hwid-max-devices-reached', false],
    ['x-hwid-not-supported', false],
    ['x-hwid-limit', false],
  ])('a refusal of the panel by %p', async (name) => {
    const at = await front(panelWith({ [name]: 'true', Announce: 'theirs' }));
    await ride(at.app, at.own);
    expect((await at.get(PATH, 'a', ofApp('INCY'))).headers.get('announce')).toBe('theirs');
  });

  test('HEAD, a page for a browser, a file of the page, and a refusal', async () => {
    const page = { 'Content-Type': 'text/html', Announce: 'theirs' };
    const at = await front(panelWith(page), {
      browsers: 'pass',
      otherPaths: 'pass',
      defaultLimit: 1,
    });
    await at.get(PATH, 'a', ofApp('INCY'));
    await ride(at.app, at.own);
    const { port } = new URL(at.app.url);
    const asked = { 'x-hwid': 'a', ...ofApp('INCY') };
    const head = await exchange(Number(port), 'HEAD', PATH, asked);
    expect([head.status, head.headers.get('announce')]).toEqual([200, 'theirs']);
    const agent = { 'User-Agent': 'Mozilla/5.0', Accept: 'text/html' };
    expect((await at.get(PATH, null, agent)).headers.get('announce')).toBe('theirs');
    expect((await at.get('/other', 'a', ofApp('INCY'))).headers.get('announce')).toBe('theirs');
    const full = await at.get(PATH, 'b', ofApp('INCY'));
    expect([full.status, textOf(full).includes('Device limit')]).toEqual([404, true]);
  });
});
