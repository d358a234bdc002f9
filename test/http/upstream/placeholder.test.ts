/** Refusals as subscriptions: each app reads the reason as the name of its one server. */

import { describe, expect, test } from 'bun:test';
import { placeholderFor } from '../../../src/http/upstream/placeholder.ts';
import { announced, REFUSED_APPS } from '../../support/refused-apps.ts';
import { type Fronted, KEY, useFronted } from '../../support/upstream.ts';

const front = useFronted();

/** Starts a panel with one link that is full. */
async function frontFull(placeholder: boolean): Promise<Fronted> {
  const fronted = await front(undefined, { defaultLimit: 1, placeholder });
  expect((await fronted.get(`/sub/${KEY}`, 'first')).status).toBe(200);
  return fronted;
}

async function refused(
  at: Fronted,
  { sendsHwid, userAgent }: { sendsHwid: boolean; userAgent: string },
  more: Record<string, string> = {},
) {
  const headers = { 'User-Agent': userAgent, 'Accept-Language': 'ru', ...more };
  const got = await at.get(`/sub/${KEY}`, sendsHwid ? 'second' : null, headers);
  const body = Buffer.from(got.body, 'latin1').toString();
  return { status: got.status, headers: new Headers([...got.headers]), body };
}

const FULL = 'Достигнут лимит устройств. Чтобы заменить устройство, напишите в поддержку.';
const NO_HWID =
  'Приложение не передаёт идентификатор устройства (HWID). Включите его в настройках приложения или возьмите другое приложение.';

test.each(REFUSED_APPS.map((app) => [app.name, app] as const))(
  'the user of %s reads the reason',
  async (_name, app) => {
    const at = await frontFull(true);
    const answer = await refused(at, app);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-hwid-active')).toBe('true');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.has('x-hwid-limit')).toBe(app.sendsHwid);
    const ofItsOwn = app.name === 'Prizrak-Box for Android' ? 'notice of its own: full' : null;
    expect(app.reads(answer)).toContain(ofItsOwn ?? (app.sendsHwid ? FULL : NO_HWID));
    expect(answer.body.includes('127.0.0.1') || atob(answer.body).includes('127.0.0.1:1')).toBe(
      true,
    );
    expect(at.panel.calls).toHaveLength(1);
  },
);

test.each(REFUSED_APPS.map((app) => [app.name, app] as const))(
  'without the setting the user of %s reads what the app makes of a status',
  async (_name, app) => {
    const at = await frontFull(false);
    const answer = await refused(at, app);
    expect([answer.status, announced(answer.headers)]).toEqual([
      404,
      app.sendsHwid ? FULL : NO_HWID,
    ]);
    const isRead = app.reads(answer).includes(FULL);
    expect(isRead).toBe(/^(?:Throne|Clod Clash)/.test(app.name));
  },
);

test('a browser reads a text with the status', async () => {
  const at = await frontFull(true);
  const browser = { sendsHwid: false, userAgent: 'Mozilla/5.0' };
  const answer = await refused(at, browser, { Accept: 'text/html,*/*' });
  expect([answer.status, answer.body]).toEqual([404, `${NO_HWID}\n`]);
});

describe('a text of any characters is the name of the server, as it is', () => {
  const TEXTS = [
    'DIRECT',
    'a "quoted" \\ text: {with} [marks], #tag & %41',
    "- it's `odd` | > ? ! @ *",
    '&quot;}, {name: other, type: direct&quot;',
    'next\u2028line\u0085and\u00a0\ufeffothers',
    'эмодзи 🚫, فارسی, 中文',
  ];

  test.each(TEXTS)('%p', (text) => {
    for (const { userAgent, reads } of REFUSED_APPS) {
      const made = placeholderFor(new Headers({ 'user-agent': userAgent }), '/sub/key', text);
      const answer = { status: 200, headers: new Headers(), body: made?.body ?? '' };
      expect(reads(answer)).toBe(`⛔ ${text}`);
      // Some readers of YAML end a line at these.
      expect(answer.body).not.toMatch(/[\u0085\u2028\u2029\ufeff]/);
    }
  });

  test('half a character is a sign that stands for it', () => {
    for (const { userAgent, reads } of REFUSED_APPS) {
      const made = placeholderFor(
        new Headers({ 'user-agent': userAgent }),
        '/sub/key',
        'half \ud83d',
      );
      const answer = { status: 200, headers: new Headers(), body: made?.body ?? '' };
      expect(reads(answer)).toBe('⛔ half \ufffd');
    }
  });
});

test.each([
  ['/sub/KEY/clash', 'text/yaml'],
  ['/sub/KEY/clash-meta', 'text/yaml'],
  ['/sub/KEY/clash_meta', 'text/yaml'],
  ['/CL/KEY/clash/meta/all.yml', 'text/yaml'],
  ['/CL/KEY/clashmeta/', 'text/yaml'],
  ['/clash/KEY', 'text/yaml'],
  ['/sub/KEY/sing-box', 'application/json'],
  ['/sub/KEY/sing_box', 'application/json'],
  ['/CL/KEY/singbox.json', 'application/json'],
  ['/CL/KEY/full-singbox.json', 'application/json'],
  ['/sub/KEY/v2ray', 'text/plain'],
  ['/sub/clashing', 'text/plain'],
  ['/sub/KEY', 'text/plain'],
])('where the app says nothing, the route decides: %s', (path, type) => {
  const typeFor = (userAgent: string) =>
    placeholderFor(new Headers({ 'user-agent': userAgent }), path, 'text')?.type.split(';', 1)[0];
  expect(typeFor('okhttp/4.12')).toBe(type);
  expect(typeFor('mihomo/1.19')).toBe('text/yaml');
  expect(typeFor('sing-box 1.12')).toBe('application/json');
});

test('all traffic of a refused device goes to the placeholder, so that none is unprotected', () => {
  const bodyFor = (app: string) =>
    placeholderFor(new Headers({ 'user-agent': app }), '/', 'Full')?.body ?? '';
  const { inbounds, outbounds, route } = JSON.parse(bodyFor('SFA/1.12 sing-box'));
  expect(inbounds).toMatchObject([{ type: 'tun', auto_route: true, strict_route: true }]);
  expect(route).toEqual({ final: outbounds[0].tag, auto_detect_interface: true });
  expect(outbounds[0].outbounds).toEqual([outbounds[1].tag]);
  expect(bodyFor('clash.meta')).toMatch(/^mode: rule\n[\s\S]*\nrules:\n {2}- MATCH,/);
});
