/** The operator's calls about the audit log, settings, nodes and health. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { FINDINGS } from '../../support/appliance.ts';
import type { ConsoleBrowser } from '../../support/console.ts';
import { operatorBrowser } from '../../support/operator.ts';
import { bind, HASH } from '../../support/shop.ts';

let app: TestApp;
let operator: ConsoleBrowser;
let observer: ConsoleBrowser;
beforeAll(async () => {
  app = await startTestApp();
  operator = await operatorBrowser(app);
  observer = await operatorBrowser(app, 'oskar', 'observer');
});
afterAll(() => app.close());

const ALL = {
  provider: null,
  who: null,
  group: null,
  hwid: null,
  sinceMs: null,
  untilMs: null,
  before: null,
};
const actions = async (filter: Partial<typeof ALL> | Record<string, unknown>) => {
  const { rows } = await operator.get('audit.list', { ...ALL, ...filter });
  return rows.map(({ action, provider }) => `${action} ${provider ?? '-'}`);
};

test('the log of all providers is filtered by provider, actor, kind, HWID and time', async () => {
  const one = await seedProvider(app);
  const other = await seedProvider(app);
  await bind(app, one);
  app.clock.advance(3_600_000);
  const sinceMs = app.clock.nowMs();
  const link = await call(app, '/api/add-install', one, { install_limit: '2' });
  const installid = link.json.install_code;
  await call(app, '/install', null, { id: HASH, installid, hwid: 'phone-1', os_name: 'ios' });
  expect(await actions({ provider: one.code })).toEqual([
    ...['install.add', 'domain.add', 'provider.add'].map((action) => `${action} ${one.code}`),
  ]);
  expect(await actions({ provider: one.code, who: 'provider', sinceMs })).toEqual([
    `install.add ${one.code}`,
  ]);
  expect(await actions({ group: 'providers' })).toEqual([
    `provider.add ${other.code}`,
    `provider.add ${one.code}`,
  ]);
  expect(await actions({ group: 'links', untilMs: sinceMs })).toEqual([]);
  expect(await actions({ group: 'people', provider: other.code })).toEqual([]);
  const act = { actor: app.core.actor(), atMs: app.clock.nowMs() };
  await call(app, '/install', null, { id: HASH, installid, hwid: 'phone-3', os_name: 'ios' });
  // In one commit, and so in one block.
  const { store } = app.core;
  await Promise.all(['phone-1', 'phone-3'].map((hwid) => store.forgetDevice(hwid, act)));
  expect(await actions({ hwid: 'phone-1' })).toEqual(['device.forget -']);
  expect(await actions({ hwid: 'phone-2' })).toEqual([]);
  expect(await actions({ group: 'appliance' })).toHaveLength(2);
});

test('an observer sees no addresses', async () => {
  const own = await operator.get('audit.list', { ...ALL, group: 'people' });
  expect(own.rows.some(({ from }) => from !== null)).toBe(true);
  const seen = await observer.get('audit.list', { ...ALL, group: 'people' });
  expect(seen.rows.map(({ action }) => action)).toEqual(own.rows.map(({ action }) => action));
  expect(seen.rows.filter(({ from }) => from !== null)).toEqual([]);
});

test('the head of the chain, and the last verification', async () => {
  const before = await operator.get('audit.chain', {});
  expect(before).toMatchObject({ check: null });
  expect(before.head).toStartWith(`${before.entryCount}:`);
  const after = await operator.get('audit.verify', {});
  const check = { atMs: app.clock.nowMs(), count: 3, head: '3:ab', problem: null };
  expect(after).toEqual({ ...before, check });
  expect(await observer.get('audit.chain', {})).toEqual(after);
});

test('settings come with their origin', async () => {
  const { file, rows } = await observer.get('settings.list', {});
  expect(file).toBe('/etc/gatepost/gatepost.toml');
  expect(rows[0]).toEqual({
    key: 'server.port',
    variable: 'GATEPOST_PORT',
    value: '8080',
    origin: 'default',
  });
});

test('nodes are those of the database', async () => {
  const nodes = await observer.get('nodes.list', {});
  expect(nodes).toEqual(app.database === null ? null : []);
  if (app.database === null) return;
  const { store } = app.core;
  const facts = { name: 'a', address: 'http://a', version: '1', startedAtMs: 5 };
  await store.noteNode(facts);
  expect(await observer.get('nodes.list', {})).toMatchObject([{ ...facts, isSilent: false }]);
});

test('health tells of process, data and queue; the doctor examines on demand', async () => {
  const health = await observer.get('health.read', {});
  expect(health).toMatchObject({
    process: { node: 'node-1', notReady: null, loopLateCount: 2 },
    queue: { dueCount: 0, scheduledCount: 0 },
    doctor: null,
  });
  expect(health.storage.bytes).toBeGreaterThan(0);
  expect(await operator.get('health.examine', {})).toEqual({ findings: FINDINGS });
  const after = await observer.get('health.read', {});
  expect(after.doctor).toEqual({ atMs: app.clock.nowMs(), result: FINDINGS });
});

test('a check that fails is said', async () => {
  const run = async () => null;
  const broken = await startTestApp({
    appliance: {
      ...(await import('../../support/appliance.ts')).testAppliance(),
      doctor: { last: () => null, run },
      auditCheck: { last: () => null, run },
    },
  });
  const browser = await operatorBrowser(broken);
  expect(await browser.refusal('health.examine', {})).toBe('check_failed');
  expect(await browser.refusal('audit.verify', {})).toBe('check_failed');
  await broken.close();
});
