/** What the API and the console show of figures, beside a recount of the rows; and to whom. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addKey } from '../../src/core/account/keys.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/calendar.ts';
import type { Scope } from '../../src/core/port/provider-key.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { type Beside, besideOf } from '../support/beside.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { operatorBrowser } from '../support/operator.ts';
import { addLink, bind, enter, expectOk } from '../support/shop.ts';

const LINKS = 30;

let app: TestApp;
let db: Beside;
let own: Credentials;
let ofFigures: Credentials;
let owner: ConsoleBrowser;
let nowMs: number;

const codeOf = (n: number) => `Figures${String(n).padStart(5, '0')}`;

beforeAll(async () => {
  app = await startTestApp();
  db = besideOf(app);
  own = await seedProvider(app, { plan: 'enterprise' });
  ofFigures = { ...own, authKey: await keyFor('figures') };
  const since = { ...ACT, atMs: app.clock.nowMs() - 40 * DAY_MS };
  await app.core.store.updateProvider(own.code, { subscriptionFigures: 1 }, since);
  await bind(app, own);
  nowMs = app.clock.nowMs();
  for (let n = 0; n < LINKS; n++) {
    const { id } = await addLink(app, own, codeOf(n), 2);
    await enter(app, `phone-${n}`, codeOf(n));
    if (n % 5 === 0) continue;
    const figures = {
      endsAtMs: n % 7 === 0 ? null : nowMs + (n - 14.5) * DAY_MS,
      totalBytes: n % 3 === 0 ? null : 1_000,
      usedBytes: n * 40,
    };
    await app.core.store.keepSubscriptionFigures(id, figures, 'proxy', nowMs - n * HOUR_MS);
  }
  owner = await operatorBrowser(app);
});
afterAll(async () => {
  await db.close();
  await app.close();
});

async function keyFor(scope: Scope): Promise<string> {
  const provider = await app.core.store.findProvider(own.code);
  const terms = { name: scope, scope, untilMs: null };
  const added = await addKey(app.core, provider?.id ?? 0, terms, app.clock.nowMs());
  if (!('authKey' in added)) throw new Error(added.says);
  return added.authKey;
}

interface Row {
  code: string;
  ends: number | null;
  total: number | null;
  used: number | null;
  readAt: number;
}

/** Counts the rows beside the server; `matches` is the rule of a filter in other words. */
const stored = (matches: (row: Row) => boolean = () => true): Row[] =>
  db
    .query<Record<string, unknown>, []>(
      `SELECT i.install_code AS code, f.ends_at_ms AS ends, f.total_bytes AS total,
         f.used_bytes AS used, f.read_at_ms AS "readAt"
       FROM install i JOIN subscription_figures f ON f.install_id = i.id ORDER BY i.id DESC`,
    )
    .all()
    .map((row) => ({
      code: String(row['code']),
      ends: row['ends'] === null ? null : Number(row['ends']),
      total: row['total'] === null ? null : Number(row['total']),
      used: row['used'] === null ? null : Number(row['used']),
      readAt: Number(row['readAt']),
    }))
    .filter(matches);

const wire = (atMs: number) =>
  new Date(atMs + 3 * HOUR_MS).toISOString().slice(0, 19).replace('T', ' ');
const list = (query: Record<string, string | number>, by = ofFigures) =>
  call(app, '/api/list-install', by, query);

const endsIn = (days: number) => (row: Row) =>
  row.ends !== null && row.ends >= nowMs && row.ends < nowMs + days * DAY_MS;
const hasEnded = (row: Row) => row.ends !== null && row.ends < nowMs;
const usedOver = (percent: number) => (row: Row) =>
  row.total !== null && row.used !== null && (100 * row.used) / row.total >= percent;

const FILTERS = [
  [{ ends_in_days: 3 }, () => endsIn(3)],
  [{ ends_in_days: 10 }, () => endsIn(10)],
  [{ ended: 1 }, () => hasEnded],
  [{ traffic_over: 90 }, () => usedOver(90)],
] as const;

test.each(FILTERS)(
  'list-install %p and a message to them count what the rows say',
  async (query, of) => {
    const codes = stored(of()).map(({ code }) => code);
    expect(codes.length).toBeGreaterThan(0);
    const listed = await expectOk(list({ ...query, details: 1 }));
    expect(listed.json.data.map((one: { install_code: string }) => one.install_code)).toEqual(
      codes,
    );
    const body = { PushNotificationForm: { body: 'x', type_push: 'optional', expire_days: 3 } };
    app.clock.advance(60_000);
    const init = { method: 'POST', body: JSON.stringify({ ...body, ...query }) };
    const sent = await expectOk(call(app, '/remote/notification', ofFigures, {}, init));
    expect(sent.headers.get('x-reach')).toStartWith(`recipients=${codes.length};`);
    const { json } = await expectOk(call(app, '/remote/list', own, { id: sent.json.id }));
    expect(json.data[0]).toMatchObject({ target_os: null, target_hwid: '' });
  },
);

test('details have the figures of each link; without them the answer is that of the contract', async () => {
  const { json } = await expectOk(list({ details: 1 }));
  expect(json.data).toHaveLength(LINKS);
  const known = new Map(stored().map((row) => [row.code, row]));
  for (const link of json.data) {
    const row = known.get(link.install_code);
    expect(link.subscription).toEqual(
      row === undefined
        ? null
        : {
            ends_at: row.ends === null ? null : wire(row.ends),
            total_bytes: row.total,
            used_bytes: row.used,
            read_at: wire(row.readAt),
          },
    );
  }
  const plain = await expectOk(list({}, own));
  expect(plain.json.data.some((link: object) => 'subscription' in link)).toBe(false);
});

test('the key of a bot and any other scope read no figures, by no parameter', async () => {
  const keys = [
    own,
    { ...own, authKey: await keyFor('send') },
    { ...own, authKey: await keyFor('read') },
  ];
  for (const by of keys) {
    for (const query of [{ details: 1 }, { ended: 1 }, { ends_in_days: 1 }, { traffic_over: 1 }]) {
      const refused = await list(query, by);
      expect(refused.json.data).toBeUndefined();
      expect(refused.headers.get('x-error-detail')).toContain("needs a key for 'figures'");
    }
  }
  const body = {
    PushNotificationForm: { body: 'x', type_push: 'optional', expire_days: 3 },
    ended: 1,
  };
  const init = { method: 'POST', body: JSON.stringify(body) };
  const refused = await call(app, '/remote/notification', own, {}, init);
  expect(refused.headers.get('x-error-detail')).toContain("needs a key for 'figures'");
});

const ALL = { search: null, status: null, isFull: false } as const;
const PAGE = { isOldest: false, beyondId: null, countMax: 1_000 } as const;

test('the console lists, writes, shows and finds what the rows say', async () => {
  const at = own.code;
  const filter = { ...ALL, endsFromMs: nowMs, endsBeforeMs: nowMs + 10 * DAY_MS };
  const wanted = stored(endsIn(10));
  const listed = await owner.get('links.list', { at, filter, ...PAGE });
  expect(listed.figures).toBe('shown');
  expect(listed.rows.map(({ code, figures }) => [code, figures?.endsAtMs])).toEqual(
    wanted.map(({ code, ends }) => [code, ends]),
  );
  const { text } = await owner.get('links.csv', { at, filter, beyondId: null });
  const [head = '', ...lines] = text.trim().split('\r\n');
  expect(head).toEndWith('ends_at,total_bytes,used_bytes,read_at');
  expect(lines.map((line) => line.split(',').slice(-4))).toEqual(
    wanted.map(({ ends, total, used, readAt }) => [
      new Date(ends ?? 0).toISOString(),
      String(total ?? ''),
      String(used ?? ''),
      new Date(readAt).toISOString(),
    ]),
  );
  const { mistakes } = await owner.get('links.csv-read', { at, text });
  expect(mistakes).toEqual([]);
  const [first] = listed.rows;
  const shown = await owner.get('links.show', { at, id: first?.id ?? 0 });
  expect(shown.figures).toMatchObject({ endsAtMs: wanted[0]?.ends, usedBytes: wanted[0]?.used });
  const search = { os: null, appVersion: null, language: null, link: null, domainId: null };
  const seen = { seenSinceMs: null, unseenSinceMs: null };
  const figures = { endsFromMs: nowMs, endsBeforeMs: nowMs + 10 * DAY_MS };
  const found = await owner.get('send.find', { at, search: { ...search, ...seen, figures } });
  expect(found.count).toBe(wanted.length);
  const body = { PushNotificationForm: { body: 'x', type_push: 'optional', expire_days: 3 } };
  const away = { endsFromMs: 0, endsBeforeMs: 10 * DAY_MS };
  const segment = { ...search, ...seen, figures: away };
  const checked = await owner.get('send.check', { at, kind: 'push', body, segment });
  expect(checked.count?.recipients).toBe(wanted.length);
});

test('a session by the key of a bot sees no figures in the console', async () => {
  const at = own.code;
  const byKey = new ConsoleBrowser(app.url);
  await byKey.get('session.key', { code: at, key: own.authKey });
  const listed = await byKey.get('links.list', { at, filter: ALL, ...PAGE });
  expect(listed.figures).toBe('no_account');
  expect(listed.rows.filter(({ figures }) => figures !== null)).toEqual([]);
  const id = listed.rows[0]?.id ?? 0;
  expect((await byKey.get('links.show', { at, id })).figures).toBeNull();
  expect((await byKey.get('links.csv', { at, filter: ALL, beyondId: null })).text).not.toContain(
    'ends_at',
  );
  const filter = { ...ALL, endsBeforeMs: nowMs };
  expect(await byKey.refusal('links.list', { at, filter, ...PAGE })).toBe('no_account');
  expect(await byKey.refusal('links.csv', { at, filter, beyondId: null })).toBe('no_account');
  const text = '{days_left} left, {traffic_used} used';
  const body = { body: text, type_push: 'optional', expire_days: 3 };
  const preview = (by: ConsoleBrowser) =>
    by.get('send.preview', { at, body: { PushNotificationForm: body, fill: 1 } });
  const texts = { en: text };
  for (const { examples } of [
    await preview(byKey),
    await byKey.get('reminders.preview', { at, texts }),
  ]) {
    expect(examples.map((one) => one.id)).toEqual([LINKS, LINKS - 1, LINKS - 2]);
    expect(JSON.stringify(examples)).toContain('– left, – used');
  }
  const { examples } = await preview(owner);
  expect(JSON.stringify(examples)).toMatch(/2 days left, \d+ byte/);
  const change = null;
  expect(await byKey.refusal('links.bulk-preview', { at, filter, change })).toBe('no_account');
  const search = { os: null, appVersion: null, language: null, link: null, domainId: null };
  const segment = {
    ...search,
    seenSinceMs: null,
    unseenSinceMs: null,
    figures: { usedPercent: 1 },
  };
  const sending = { at, segment, body: { PushNotificationForm: { body: 'x' } } };
  const checking = { ...sending, kind: 'push' } as const;
  expect(await byKey.refusal('send.check', checking)).toBe('no_account');
  expect(await byKey.refusal('send.notification', sending)).toBe('no_account');
  const given = { at, name: 'k', scope: 'figures', days: null } as const;
  expect(await byKey.refusal('keys.add', given)).toBe('no_account');
});

test('where nothing is kept, filters say so, and no answer has figures', async () => {
  const other = await seedProvider(app, { plan: 'enterprise' });
  const kept = own;
  own = other;
  const by = { ...other, authKey: await keyFor('figures') };
  own = kept;
  for (const query of [{ details: 1 }, { ended: 1 }, { unread_days: 30 }]) {
    const refused = await list(query, by);
    expect(refused.headers.get('x-error-detail')).toContain('no figures of subscriptions are kept');
  }
  const listed = await owner.get('links.list', { at: other.code, filter: ALL, ...PAGE });
  expect(listed.figures).toBe('not_kept');
});

test.each([
  { ends_in_days: 0 },
  { ends_in_days: 366 },
  { ended: 2 },
  { traffic_over: 101 },
  { traffic_over: '90%' },
  { unread_days: -1 },
  { ended: 1, ends_in_days: 3 },
])('list-install refuses %p', async (query) => {
  expect((await list(query as never)).json.data).toBeUndefined();
});
