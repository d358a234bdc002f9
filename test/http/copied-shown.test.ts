/** What each surface shows of phones that send one HWID, beside a recount of the rows. */

import { Statement } from 'bun:sqlite';
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/core/calendar.ts';
import { forgetDevice } from '../../src/core/device.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { PHONE_KEPT_MS, PHONES_MAX } from '../../src/core/phones.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { forgetPrivate, prune } from '../../src/jobs/keep.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { auditEntries } from '../support/audit.ts';
import { type Beside, besideOf } from '../support/beside.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { STORE } from '../support/place.ts';
import { expectOk } from '../support/shop.ts';

const HASH = hostHash('sub.example.com');
const DAYS = { ledgerDays: 90, distributionDays: 365, deviceDays: 180 };

type Headers = Record<string, string>;
const phone = (os: string, model: string): Headers => ({
  'x-device-os': os,
  'x-device-model': model,
  'user-agent': 'Happ/3.2.1 (private; SM-S921B)',
});
const PIXEL = phone('Android', 'Pixel 9');
const IPHONE = phone('iOS', 'iPhone17,1');

let app: TestApp;
let db: Beside;
let own: Credentials;
let code: string;
let id: number;
beforeAll(async () => {
  app = await startTestApp();
  db = besideOf(app);
});
afterAll(async () => {
  await db.close();
  await app.close();
});
beforeEach(async () => {
  await app.reset();
  own = await seedProvider(app);
  await expectOk(call(app, '/api/add-domain', own, { domain_hash: HASH }));
  const added = await expectOk(call(app, '/api/add-install', own, { install_limit: 3 }));
  ({ install_code: code, id } = added.json);
});

const fetchAs = (headers: Headers, hwid = 'x') => {
  app.clock.advance(HOUR_MS);
  const init = { headers: { ...headers, 'x-hwid': hwid } };
  return call(app, '/install', null, { id: HASH, installid: code }, init);
};

/** Two phones take turns with one HWID. */
async function copied(hwid = 'x', rounds = 2): Promise<void> {
  for (let n = 0; n < rounds; n++) {
    await fetchAs(PIXEL, hwid);
    await fetchAs(IPHONE, hwid);
  }
}

interface Row {
  number: number;
  family: string;
  state: string;
  first_seen_at_ms: number;
  last_seen_at_ms: number;
}

/** The stored phones, by number. */
const rows = () =>
  db
    .query<Row, []>(
      'SELECT number, family, state, first_seen_at_ms, last_seen_at_ms FROM slot_phone ORDER BY number',
    )
    .all()
    .map(({ first_seen_at_ms: firstSeenAtMs, last_seen_at_ms: lastSeenAtMs, ...row }) => ({
      ...row,
      firstSeenAtMs: Number(firstSeenAtMs),
      lastSeenAtMs: Number(lastSeenAtMs),
    }));

const hwids = async (more: Record<string, string | number> = {}) =>
  (await expectOk(call(app, '/api/list-hwid', own, { install_code: code, ...more }))).json.data;

async function consoleOf(): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: own.code, key: own.authKey });
  return browser;
}

const wire = (atMs: number) =>
  new Date(atMs + 3 * HOUR_MS).toISOString().slice(0, 19).replace('T', ' ');

test('list-hwid and the console show the phones as they are stored, the contract none', async () => {
  await copied();
  const stored = rows();
  expect(stored.map(({ family, state }) => `${family} ${state}`)).toEqual([
    'android first',
    'ios certain',
  ]);
  const [plain] = await hwids();
  expect(Object.keys(plain)).toEqual(['hwid', 'date', 'device_name']);
  const [detailed] = await hwids({ details: 1 });
  expect(detailed.phones).toEqual(
    stored.map((row) => ({
      number: row.number,
      state: row.state,
      system: row.family,
      app: 'Happ',
      // The model of the one that came last.
      device_name: row.number === 2 ? 'iPhone17,1' : '',
      first_seen: wire(row.firstSeenAtMs),
      last_seen: wire(row.lastSeenAtMs),
    })),
  );
  const browser = await consoleOf();
  const shown = await browser.get('links.show', { at: own.code, id });
  expect(shown.devices[0]?.phones).toMatchObject(stored);
  expect(JSON.stringify(shown)).not.toContain('modelHash');
  const filter = { search: null, status: null, isFull: false, isCopied: true };
  const page = { filter, isOldest: false, beyondId: null, countMax: 9 };
  const { rows: links } = await browser.get('links.list', { at: own.code, ...page });
  expect(links.map((link) => [link.id, link.isCopied])).toEqual([[id, true]]);
  expect((await browser.get('overview.read', { at: own.code })).copiedCount).toBe(1);
  await expectOk(call(app, '/api/add-install', own, { install_limit: 3 }));
  const listed = await expectOk(call(app, '/api/list-install', own, { copied: 1 }));
  expect(listed.json.data.map((link: { id: number }) => link.id)).toEqual([id]);
});

test('one person: no event, no refusal, an entry in the audit log, and the filter is empty', async () => {
  await expectOk(call(app, '/api/update-install', own, { id, copied_hwid: 'refuse' }));
  await copied();
  expect((await fetchAs(IPHONE)).json.rc).toBe(0);
  const ignore = () => call(app, '/api/ignore-copies', own, { install_id: id, hwid: 'x' });
  expect((await expectOk(ignore())).json).toMatchObject({ ignored: true });
  expect((await expectOk(ignore())).json).toMatchObject({ ignored: false });
  expect((await fetchAs(IPHONE)).json.rc).toBe(1);
  expect((await hwids({ details: 1 }))[0].phones.map(({ state }: Row) => state)).toEqual([
    'first',
    'ignored',
  ]);
  const listed = await expectOk(call(app, '/api/list-install', own, { copied: 1 }));
  expect(listed.json.data).toEqual([]);
  const entries = await auditEntries(app.core);
  const found = entries.filter(({ action }) => action === 'hwid.ignore-copies');
  expect(found).toMatchObject([{ object: { install_id: id, phones: 1 } }]);
  expect(JSON.stringify(found)).not.toContain('"x"');
  const wrong = await call(app, '/api/ignore-copies', own, { install_id: id + 9, hwid: 'x' });
  expect(wrong.json).toEqual({ rc: 0, msg: 'Install code error' });
});

test('a slot of its own says whose HWID it is', async () => {
  await expectOk(call(app, '/api/update-install', own, { id, copied_hwid: 'count' }));
  await copied('x', 3);
  const shown = await (await consoleOf()).get('links.show', { at: own.code, id });
  const sent = shown.devices.map(({ hwid, sentHwid }) => [hwid, sentHwid]).sort();
  expect(sent).toEqual([
    ['x', null],
    ['x~2', 'x'],
  ]);
  expect(shown.devices.map(({ wasHwid }) => wasHwid)).toEqual([null, null]);
  const x = (await hwids({ details: 1 })).find(({ hwid }: { hwid: string }) => hwid === 'x');
  expect(x.phones.map(({ own_hwid: name }: { own_hwid?: string }) => name)).toEqual([
    undefined,
    'x~2',
  ]);
});

test('an export has no slot that a phone has beside its HWID', async () => {
  await expectOk(call(app, '/api/update-install', own, { id, copied_hwid: 'count' }));
  await copied('x', 3);
  expect(await hwids()).toHaveLength(2);
  const records = await Array.fromAsync(app.core.store.exportProvider(own.code));
  const slots = records.flatMap((one) => (one.kind === 'install' ? one.install.slots : []));
  expect(slots.map(({ hwid }) => hwid)).toEqual(['x']);
});

test('forgetting a HWID forgets its phones, those with a slot too', async () => {
  await expectOk(call(app, '/api/update-install', own, { id, copied_hwid: 'count' }));
  await copied('x', 3);
  expect(await forgetDevice(app.core, 'x', app.clock.nowMs())).toBe('ok');
  expect(rows()).toEqual([]);
  expect(await hwids()).toEqual([]);
  expect(await app.core.store.findDevice('x~2')).toBeNull();
});

test('phones go 30 days after their last sight, and with their link', async () => {
  await copied();
  app.clock.advance(PHONE_KEPT_MS - DAY_MS);
  await prune(app.core, DAYS, app.clock.nowMs());
  expect(rows()).toHaveLength(2);
  app.clock.advance(2 * DAY_MS);
  await prune(app.core, DAYS, app.clock.nowMs());
  expect(rows()).toEqual([]);
  await copied();
  expect(rows()).toHaveLength(2);
  await expectOk(call(app, '/api/remove-install', own, { id }));
  expect(rows()).toEqual([]);
});

test('privacy.keep = "less" stores no phone and no model, and empties what is there', async () => {
  await copied();
  const texts = () =>
    db
      .query<{ name: string; agent: string }, []>(
        'SELECT device_name AS name, user_agent AS agent FROM device_provider',
      )
      .all();
  expect(texts()).toEqual([{ name: 'iPhone17,1', agent: PIXEL['user-agent'] ?? '' }]);
  Object.assign(app.core.limits, { privacyKeep: 'less' });
  await forgetPrivate(app.core);
  expect(rows()).toEqual([]);
  expect(texts()).toEqual([{ name: '', agent: 'Happ/3.2.1' }]);
  await copied('x', 3);
  await copied('y');
  expect(rows()).toEqual([]);
  expect([...new Set(texts().map(({ name, agent }) => `${name} ${agent}`))]).toEqual([
    ' Happ/3.2.1',
  ]);
  for (let n = 0; n < 4; n++) await fetchAs(PIXEL, `full-${n}`);
  await app.core.store.saveFigures();
  const refused = await expectOk(call(app, '/api/list-refused', own, { install_id: id }));
  expect(refused.json.data.length).toBeGreaterThan(0);
  expect(JSON.stringify(refused.json)).not.toContain('Pixel');
  Object.assign(app.core.limits, { privacyKeep: 'usual' });
});

test('eight phones of a HWID are shown at most', async () => {
  for (let n = 0; n < 30; n++) {
    app.clock.advance(DAY_MS / 3);
    await fetchAs(phone('Android', `SM-${100 + n}`));
    if (n % 3 === 0) await fetchAs(IPHONE);
  }
  const [{ phones }] = await hwids({ details: 1 });
  expect(phones.length).toBeLessThanOrEqual(PHONES_MAX);
  expect(phones).toHaveLength(rows().length);
});

/** Counts the statements that a work reads by, and their rows. */
async function reads(work: () => Promise<unknown>) {
  let statements = 0;
  let rows = 0;
  const { all, get } = Statement.prototype;
  Statement.prototype.all = function (this: Statement, ...values: never[]) {
    const found = all.apply(this, values);
    statements += 1;
    rows += found.length;
    return found;
  };
  Statement.prototype.get = function (this: Statement, ...values: never[]) {
    statements += 1;
    return get.apply(this, values);
  };
  try {
    await work();
  } finally {
    Object.assign(Statement.prototype, { all, get });
  }
  return { statements, rows };
}

test.skipIf(STORE === 'postgres')(
  'a hundred slots with eight phones each are read by as many statements as one',
  async () => {
    let browser = await consoleOf();
    const show = () => browser.get('links.show', { at: own.code, id });
    await expectOk(call(app, '/api/update-install', own, { id, install_limit: 100 }));
    const fill = async (from: number, to: number) => {
      for (let n = from; n < to; n++) await fetchAs(PIXEL, `device-${n}`);
      db.query(
        `INSERT INTO slot_phone (install_id, device_id, number, door, family, app, model_hash,
         state, first_seen_at_ms, last_seen_at_ms)
       SELECT s.install_id, s.device_id, n.value, 'install', 'android', 'Happ', 'ab' || n.value,
         CASE n.value WHEN 1 THEN 'first' ELSE 'certain' END, 1, ?1
       FROM install_device s, json_each('[1,2,3,4,5,6,7,8]') n WHERE true
       ON CONFLICT DO NOTHING`,
      ).run(app.clock.nowMs());
      db.query('UPDATE install SET has_phones = 1').run();
    };
    await fill(0, 1);
    await show();
    const one = await reads(show);
    await fill(1, 100);
    // The session before ended meanwhile.
    browser = await consoleOf();
    await show();
    let shown: Awaited<ReturnType<typeof show>> | null = null;
    const hundred = await reads(async () => {
      shown = await show();
    });
    expect(JSON.stringify(shown).match(/"certain"/g)).toHaveLength(700);
    expect(hundred.statements).toBe(one.statements);
    // The slots, their phones, and what is kept of devices and ends: each once.
    expect(hundred.rows - one.rows).toBeLessThanOrEqual(99 * (1 + PHONES_MAX + 3));
    const listed = await reads(() => hwids({ details: 1 }));
    expect(listed.statements).toBeLessThanOrEqual(hundred.statements);
    expect(
      (await hwids({ details: 1 })).every(
        ({ phones }: { phones: unknown[] }) => phones.length === PHONES_MAX,
      ),
    ).toBe(true);
  },
);
