/**
 * An answer about one key stops no question about others, unless it speaks of the panel: for each
 * panel, each reader of its API, and each kind of answer.
 */

import { afterEach, expect, test } from 'bun:test';
import { makeLog } from '../../../src/base/log.ts';
import { settingsBy } from '../../../src/core/panel/api.ts';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { PANELS, type PanelKind } from '../../../src/core/panel/kind.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { makeFollowers, type PanelFollowers } from '../../../src/http/upstream/panel-followers.ts';
import { sourceOf } from '../../../src/http/upstream/panel-source.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { ACT } from '../../support/actor.ts';
import { seedProvider, startTestApp } from '../../support/app.ts';
import {
  API_TOKEN,
  type ApiUser,
  keyOf,
  type PanelApiServer,
  startPanelApi,
  tokensOf,
} from '../../support/panel-api.ts';
import { upstreamTo } from '../../support/upstream.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const userOf = (id: number, name: string): ApiUser => ({
  id,
  name,
  key: `0000001${id}-aaaa-4bbb-8ccc-d00000000000`,
  isActive: false,
  createdAtMs: 1_700_000_000_000,
});
const ANNA = userOf(7, 'anna');
const BORIS = userOf(8, 'boris');

/** Links of two users that an import disabled, and their panel. */
async function open(panel: PanelKind) {
  const api = startPanelApi(panel, [ANNA, BORIS]);
  closers.push(() => api.stop());
  const app = await startTestApp();
  closers.push(() => app.close());
  const own = await seedProvider(app);
  const provider = await app.core.store.findProvider(own.code);
  const providerId = provider?.id ?? 0;
  for (const user of [ANNA, BORIS]) {
    const link = {
      id: null,
      installCode: user.name.padStart(12, '0'),
      installLimit: 9,
      status: 5,
      note: '',
      createdAtMs: 1,
      panelUser: `${panel}:${user.id}`,
      slots: [],
      terms: { ...NO_TERMS, subscriptionKeyHash: subscriptionKeyHash(keyOf(panel, user)) },
    };
    await app.core.store.importLink(
      ...[providerId, link, { installCountMax: 100, updates: false }, ACT],
    );
  }
  const isSigned = panel === 'marzban' || panel === 'pasarguard';
  const upstream = upstreamTo(api.url, own.code, {
    limits: 'panel',
    panel,
    panelUrl: api.url,
    panelTokenFile: '/token',
    ...(isSigned && { key: panel }),
  });
  const { core, clock } = app;
  /** The followers of a process that has asked nothing yet, and the lines of its log. */
  const begin = () => {
    const lines: string[] = [];
    const log = makeLog(
      { logFormat: 'json', logLevel: 'info' },
      () => 0,
      (line) => lines.push(line),
    );
    const followers = makeFollowers({ core, clock, log, tokens: tokensOf(() => API_TOKEN) });
    return { followers, lines, providerId, upstream };
  };
  return { api, clock, begin };
}

type World = { followers: PanelFollowers; upstream: Upstream; providerId: number };

/** The readers of an API: each asks about a key. */
const READERS: Readonly<Record<string, (world: World, key: string) => Promise<unknown>>> = {
  limits: ({ followers, upstream }, key) => followers.limits.follow(upstream, key),
  users: ({ followers, upstream, providerId }, key) => {
    const source = sourceOf(upstream);
    return source === null ? Promise.resolve() : followers.users.comesBack(source, providerId, key);
  },
  entry: ({ followers, upstream, providerId }, key) => {
    const source = sourceOf(upstream);
    if (source === null) return Promise.resolve();
    return followers.entry.admits(source, providerId, { key, token: null });
  },
};

const status = (code: number) => () => Response.json({ detail: 'odd' }, { status: code });

/** Answers that one key causes. */
const OF_KEY: Readonly<Record<string, NonNullable<PanelApiServer['odd']>>> = {
  ...Object.fromEntries([400, 404, 405, 409, 414, 422].map((code) => [code, status(code)])),
  'a redirect': () => Response.redirect('http://127.0.0.1:1/', 302),
  'a page': () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
  'another form': () => Response.json([1]),
  'half a text': () => new Response('{"response":{"status":'),
  '2 MB': () => Response.json({ response: 'x'.repeat(2_000_000) }),
  '2 MB without a length': () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (let n = 0; n < 32; n++) controller.enqueue(new Uint8Array(64 * 1024));
          controller.close();
        },
      }),
    ),
};

/** Answers that speak of the panel. */
const OF_PANEL: Record<string, NonNullable<PanelApiServer['odd']>> = Object.fromEntries(
  [401, 403, 429, 500, 502, 503].map((code) => [code, status(code)]),
);

/** What panels said of a user of another admin; Hiddify also answers 403 to a wrong token. */
const FORBIDDEN: Partial<Record<PanelKind, string>> = {
  marzban: "You're not allowed",
  hiddify: "You don't have permission to access this user",
};
for (const text of [...Object.values(FORBIDDEN), 'Unathorized']) {
  const body = text === FORBIDDEN.marzban ? { detail: text } : { detail: {}, message: text };
  OF_PANEL[text] = () => Response.json(body, { status: 403 });
}

const CASES = PANELS.flatMap((panel) =>
  Object.entries(READERS).map(([name, read]) => [panel, name, read] as const),
);

test.each(CASES)('%s, %s: an answer about Anna, and questions about Boris', async (...of) => {
  const [panel, , read] = of;
  const { api, clock, begin } = await open(panel);
  const [anna, boris] = [keyOf(panel, ANNA), keyOf(panel, BORIS)];
  for (const [name, odd] of Object.entries({ ...OF_KEY, ...OF_PANEL })) {
    const world = begin();
    const isAsked = async (key: string) => {
      const before = api.asked.length;
      await read(world, key);
      return api.asked.length > before;
    };
    api.odd = odd;
    const first = await isAsked(anna);
    api.odd = null;
    const again = await isAsked(anna);
    const others = await isAsked(boris);
    clock.advance(MINUTE_MS);
    const later = await isAsked(boris);
    clock.advance(HOUR_MS);
    const last = await isAsked(anna);
    const logged = world.lines.filter((line) => line.includes('panel_api_failed')).length;
    const isOfKey = Object.hasOwn(OF_KEY, name) || name === FORBIDDEN[panel];
    // The state of a user holds for a minute, other answers for an hour.
    const isOld = !isOfKey || read === READERS['users'];
    expect({ name, first, again, others, later, last, logged }).toEqual({
      name,
      first: true,
      again: false,
      others: isOfKey,
      later: isOld,
      last: true,
      logged: 1,
    });
  }
});

test('a name of dots is put in the path of no API', () => {
  const paths = (['marzban/', 'pasarguard/name/', ''] as const).flatMap((before, at) =>
    ['.', '..', '../admin', 'a/../b', '..\\a', 'a/..'].map((name) => {
      const panel = (['marzban', 'pasarguard', 'remnawave'] as const)[at] ?? 'marzban';
      return PANEL_TRAITS[panel].api.userPath(before + name);
    }),
  );
  expect(paths).toEqual(paths.map(() => null));
  const { userPath } = PANEL_TRAITS.marzban.api;
  expect(userPath('marzban/a..b')).toBe('/api/user/a..b');
  expect(userPath('marzban/...')).toBe('/api/user/...');
  expect(PANEL_TRAITS['3x-ui'].api.userPath('..')).toContain('?search=..&');
  expect(PANEL_TRAITS.hiddify.api.userPath('..')).toBeNull();
});

test('a squad of dots is asked about at no path', async () => {
  const asked: string[] = [];
  const settings = async (path: string) => asked.push(path);
  const { limitOf } = PANEL_TRAITS.remnawave.api;
  await expect(limitOf({ externalSquadUuid: '..' }, settingsBy(settings))).rejects.toThrow(
    'API_ANSWER',
  );
  expect(asked).toEqual([]);
});
