/** What the page of users shows of each place: names, days, pages, and when one may be freed. */

import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/calendar.ts';
import { sharedHwid } from '../../src/core/formats.ts';
import type { MyPlace, OpenedMy } from '../../src/core/my.ts';
import { MY_TEXTS } from '../../src/http/my/texts.ts';
import { linkView, PLACES_EACH, type Said } from '../../src/http/my/view.ts';

/** An hour after midnight: what was seen two hours ago was seen yesterday. */
const NOW_MS = Date.UTC(2026, 10, 20, 1);

const place = (more: Partial<MyPlace> = {}): MyPlace =>
  ({
    reference: 'ref',
    hwid: 'phone',
    deviceName: 'Pixel 9',
    os: 'android',
    osVersion: '15',
    lastSeenAtMs: NOW_MS,
    isThis: false,
    ...more,
  }) as MyPlace;

const pageOf = (places: readonly MyPlace[], more: object = {}, link: object = {}): OpenedMy =>
  ({
    places,
    waiting: null,
    freeFromMs: NOW_MS,
    figures: null,
    ...more,
    link: {
      installCode: 'CodeOfLink01',
      myName: null,
      myColor: null,
      supportUrl: null,
      deviceCount: places.length,
      installLimit: 30,
      coolDownHours: 24,
      ...link,
    },
  }) as unknown as OpenedMy;

function view(page: OpenedMy, { from = 0, said = null as Said | null, hasNews = false } = {}) {
  const of = { language: 'en', path: '/my', nowMs: NOW_MS } as const;
  return linkView(page, of, { from, said, hasNews }).text;
}

/** The texts of the places, without their forms. */
const shown = (html: string) =>
  [...html.matchAll(/<li><div>([\s\S]*?)<\/div>/g)].map(([, text = '']) =>
    text
      .replace(/<[^>]+>/g, '')
      .replace(/\s+/g, ' ')
      .trim(),
  );

test.each([
  ['now', NOW_MS, 'today'],
  ['two hours ago, before midnight', NOW_MS - 2 * HOUR_MS, 'yesterday'],
  ['59 days ago', NOW_MS - 59 * DAY_MS, '59 days ago'],
  ['60 days ago', NOW_MS - 60 * DAY_MS, '2 months ago'],
  ['tomorrow, by another clock', NOW_MS + DAY_MS, 'yesterday'],
])('a device that was seen %s', (_, lastSeenAtMs, text) => {
  expect(shown(view(pageOf([place({ lastSeenAtMs })])))).toEqual([expect.stringContaining(text)]);
});

test('a device is called by its model, else its system; apps without a HWID by what they are', () => {
  const places = [
    place(),
    place({ deviceName: 'm'.repeat(33) }),
    place({ deviceName: 'm'.repeat(32), os: 'ios', osVersion: '' }),
    place({ deviceName: '', os: 'ios', osVersion: '26' }),
    place({ deviceName: '', os: '', osVersion: '' }),
    place({ hwid: sharedHwid(7), isThis: true }),
  ];
  const [model, long, fits, system, none, shared] = shown(view(pageOf(places)));
  expect(model).toStartWith('Pixel 9 Android 15 · ');
  expect(long).toStartWith(`${'m'.repeat(31)}… Android`);
  expect(fits).toStartWith(`${'m'.repeat(32)} iOS · `);
  expect(system).toStartWith('iOS iOS 26 · ');
  expect(none).not.toContain('·');
  expect(shared).not.toContain('Pixel');
  expect([model, shared].map((text) => /this one/.test(text ?? ''))).toEqual([false, true]);
});

test('long lists turn, and no place is left out', () => {
  const places = Array.from({ length: 2 * PLACES_EACH + 1 }, (_, n) =>
    place({ deviceName: `model ${n}`, reference: `ref-${n}` }),
  );
  const links = (from: number) =>
    [
      ...view(pageOf(places), { from }).matchAll(
        /href="\/my\?link=CodeOfLink01&(?:amp;|#38;)?from=(\d+)"/g,
      ),
    ].map(([, first]) => Number(first));
  expect(links(0)).toEqual([PLACES_EACH]);
  expect(links(PLACES_EACH)).toEqual([0, 2 * PLACES_EACH]);
  expect(links(2 * PLACES_EACH)).toEqual([PLACES_EACH]);
  const all = [0, 1, 2].flatMap((page) =>
    shown(view(pageOf(places), { from: page * PLACES_EACH })),
  );
  expect(all.map((text) => /model \d+/.exec(text)?.[0])).toEqual(
    places.map(({ deviceName }) => deviceName),
  );
  const few = view(pageOf(places.slice(0, PLACES_EACH)));
  expect(few).not.toContain('from=');
});

test.each([
  ['at once', 0, true, null],
  ['in half an hour', 30 * MINUTE_MS, false, 'in 30 minutes'],
  ['in 90 minutes', 90 * MINUTE_MS, false, 'in 2 hours'],
  ['in an hour', HOUR_MS, false, 'in 1 hour'],
])('a place may be freed %s', (_, afterMs, may, text) => {
  const html = view(pageOf([place()], { freeFromMs: NOW_MS + afterMs }));
  expect(html.includes('name="free" value="ref"')).toBe(may);
  if (text !== null) expect(html).toContain(text);
});

test('the head says whose page it is, and how many places are taken', () => {
  const own = view(pageOf([place()], {}, { myName: 'Northwind', installLimit: 3 }));
  expect(own).toContain('<title>Northwind</title>');
  expect(own).toContain('Devices: 1 of 3');
  expect(view(pageOf([place()]))).not.toContain('<title></title>');
});

test('the ways on are shown where there are any', () => {
  const html = view(pageOf([]));
  expect(html).not.toContain('<ul>');
  expect(html).not.toContain('class="link card"');
  const ways = view(pageOf([], {}, { supportUrl: 'https://help.example.org/' }), { hasNews: true });
  expect(ways).toContain('href="https://help.example.org/"');
  expect(ways).toContain('href="/my/news?link=CodeOfLink01"');
});

const WAITING = { deviceName: 'Galaxy S25', os: 'android' };
const FULL = { installLimit: 1 };

test('who waits is named until something was done, or there is room again', () => {
  const waits = { waiting: WAITING };
  expect(view(pageOf([place()], waits, FULL))).toContain('Galaxy S25');
  const done = view(pageOf([place()], waits, FULL), { said: 'freed' });
  expect(done).not.toContain('Galaxy S25');
  expect(done).toContain('role="status"');
  expect(view(pageOf([place()], waits, { installLimit: 2 }))).not.toContain('Galaxy S25');
});

test.each(['en', 'ru', 'fa', 'zh'] as const)(
  'who waits is pointed at a button in %s only where there is one',
  (language) => {
    const of = { language, path: '/my', nowMs: NOW_MS };
    const pageAt = (freeFromMs: number) => {
      const page = pageOf([place()], { waiting: WAITING, freeFromMs }, FULL);
      const { text } = linkView(page, of, { from: 0, said: null, hasNews: false });
      return { text, said: /role="status"><bdi>([^<]*)/.exec(text)?.[1] ?? '' };
    };
    const texts = MY_TEXTS[language];
    const now = pageAt(NOW_MS);
    expect(now.text).toContain(`>${texts.free}</summary>`);
    expect(now.said).toBe(texts.waiting('Galaxy S25'));
    const later = pageAt(NOW_MS + 24 * HOUR_MS);
    expect(later.text).not.toContain('<summary');
    const inADay = new Intl.RelativeTimeFormat(language).format(24, 'hour');
    expect(later.said).toBe(texts.waitingLater('Galaxy S25', inADay));
    expect(later.said).toContain(SUPPORT[language]);
  },
);

const SUPPORT = { en: 'contact support', ru: 'напишите в поддержку', fa: 'پشتیبانی', zh: '客服' };
