/** The operator's calls about upstreams of the gate: checked, kept, in force at once. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { makeLog } from '../../../src/base/log.ts';
import type { Given } from '../../../src/call/table.ts';
import { readUpstream } from '../../../src/config/upstreams.ts';
import { DAY_MS } from '../../../src/core/calendar.ts';
import { LiveUpstreams } from '../../../src/parts/live-upstreams.ts';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { auditEntries } from '../../support/audit.ts';
import type { ConsoleBrowser } from '../../support/console.ts';
import { operatorBrowser } from '../../support/operator.ts';

const KEY_PATHS = Array.from({ length: 16 }, (_, n) => `/${n}/{key}`);
const FILE_HOST = 'file.example.com';
let app: TestApp;
let operator: ConsoleBrowser;
let panel: Bun.Server<undefined>;
beforeAll(async () => {
  app = await startTestApp();
  operator = await operatorBrowser(app);
  panel = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      new URL(url).pathname === '/sub/known'
        ? new Response('servers')
        : new Response('', { status: 404 }),
  });
});
afterAll(async () => {
  await panel.stop(true);
  await app.close();
});

type Upstream = Given<'upstreams.check'>;
const given = (keys: Upstream['keys'], more = ''): Upstream => ({
  keys: {
    host: 'Sub.Example.com',
    url: `http://127.0.0.1:${panel.port}`,
    default_limit: 1,
    ...keys,
  },
  more,
});
const put = (upstream: Upstream, isNew = true) =>
  operator.call('upstreams.put', { ...upstream, isNew });

/** Fetches a subscription as an app does; returns the status. */
const fetchBy = async (hwid: string, host = 'sub.example.com') =>
  (await fetch(`${app.url}/sub/known`, { headers: { host, 'x-hwid': hwid } })).status;

test('one is checked, kept, in force at once, changed and removed', async () => {
  const { code: provider } = await seedProvider(app);
  expect(await fetchBy('one')).toBe(404);
  const found = await operator.get('upstreams.check', given({ provider }));
  expect(found).toMatchObject({
    certificate: 'covered',
    binding: 'not_bound',
    certificateEndsAtMs: app.clock.nowMs() + DAY_MS,
    panel: { state: 'answers', detail: '404 to HEAD /, 404 to GET /sub/{key}' },
    toml: `[[gate.upstream]]\nhost = "sub.example.com"\nurl = "http://127.0.0.1:${panel.port}"\nprovider = "${provider}"\ndefault_limit = 1\n`,
  });
  expect(await put(given({ provider }))).toMatchObject({ ok: 'ok' });
  expect(await operator.get('upstreams.check', given({ provider }))).toMatchObject({
    binding: 'active',
  });
  expect(await fetchBy('one')).toBe(200);
  expect(await fetchBy('two')).toBe(404);
  expect(await put(given({ provider }))).toMatchObject({ refused: 'upstream_exists' });
  const more = 'refused_status = 403\nenforce = true';
  expect(await put(given({ provider }, more), false)).toMatchObject({ ok: 'ok' });
  expect(await fetchBy('two')).toBe(403);
  const { kept, own } = await operator.get('upstreams.list', {});
  expect(own).toEqual([]);
  expect(kept).toMatchObject([
    {
      host: 'sub.example.com',
      provider,
      isInForce: true,
      updatedBy: 'olga',
      keys: { refused_status: 403, enforce: true, default_limit: 1 },
    },
  ]);
  expect(await operator.get('upstreams.remove', { host: 'sub.example.com' })).toBe('ok');
  expect(await fetchBy('one')).toBe(404);
  expect(await operator.call('upstreams.remove', { host: 'sub.example.com' })).toMatchObject({
    refused: 'upstream_not_found',
  });
  const deeds = (await auditEntries(app.core)).filter(({ action }) => /^upstream/.test(action));
  expect(deeds.map(({ action, name }) => `${action} ${name}`)).toEqual([
    ...['upstream.add olga', 'upstream.update olga', 'upstream.remove olga'],
  ]);
});

test('what the configuration would refuse is refused with its words', async () => {
  const { code: provider } = await seedProvider(app);
  const refusals: [Upstream, string][] = [
    [given({}), 'provider is missing'],
    [given({ provider, default_limit: 101 }), 'default_limit:'],
    [given({ provider, url: 'ftp://x' }), 'url:'],
    [given({ provider, host: 'a b' }), 'host:'],
    [given({ provider, colour: 'red' }), 'there is no such key'],
    [given({ provider }, 'ride = '), 'the lines are not key = value'],
    [given({ provider }, '[a]\nb = 1'), 'there is no such key'],
    [given({ provider }, 'provider_id_file = "/etc/shadow"'), 'only the configuration names files'],
    [given({ provider }, 'panel_headers_file = "/e"'), 'only the configuration names files'],
    [given({ provider }, 'panel_account_file = "/e"'), 'only the configuration names files'],
    [given({ provider }, 'key_secret_file = "/etc/shadow"'), 'only the configuration names files'],
    [given({ provider }, 'cut_off = true'), 'only the configuration lets a panel change'],
    [given({ provider }, 'panel_admin = "a"'), 'only the configuration lets a panel change'],
    [given({ provider, key: 'x-ui' }), 'key:'],
    [given({ provider }, 'key_path = ["/sub/ü"]'), 'key_path:'],
  ];
  for (const [upstream, detail] of refusals) {
    for (const answer of [await operator.call('upstreams.check', upstream), await put(upstream)]) {
      expect(answer).toMatchObject({
        refused: 'malformed',
        detail: expect.stringContaining(detail),
      });
    }
    app.clock.advance(61_000);
  }
  expect(await put(given({ provider: 'Nobody12' }))).toMatchObject({
    refused: 'provider_not_found',
  });
  expect(await put(given({ provider }), false)).toMatchObject({ refused: 'upstream_not_found' });
});

test('a panel that does not answer, our own address and a wrong path are found', async () => {
  const { code: provider } = await seedProvider(app);
  const look = async (keys: Upstream['keys']) => {
    app.clock.advance(61_000);
    return (await operator.get('upstreams.check', given({ provider, ...keys }))).panel.state;
  };
  expect(await look({ url: 'http://127.0.0.1:9' })).toBe('silent');
  expect(await look({ url: 'http://127.0.0.1:1' })).toBe('own_address');
  const all = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('any') });
  expect(await look({ url: `http://127.0.0.1:${all.port}` })).toBe('answers_any_key');
  await all.stop(true);
});

test('one check of a session runs at a time, and each ends though the panel is silent', async () => {
  app.clock.advance(61_000);
  const { code: provider } = await seedProvider(app);
  const released = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let count = 0;
  const slow = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch({ method }) {
      if (method === 'HEAD') return new Response('', { status: 404 });
      count += 1;
      // The templates are asked together: not each in a time of its own.
      if (count === KEY_PATHS.length) asked.resolve();
      await released.promise;
      return new Response('', { status: 404 });
    },
  });
  const upstream = given({
    provider,
    key_path: KEY_PATHS,
    url: `http://127.0.0.1:${slow.port}`,
  });
  const first = operator.get('upstreams.check', upstream);
  await asked.promise;
  expect(await operator.call('upstreams.check', upstream)).toMatchObject({
    refused: 'too_many_requests',
  });
  const other = await operatorBrowser(app, 'otto');
  const beside = other.get('upstreams.check', given({ provider }));
  expect(await beside).toMatchObject({ panel: { state: 'answers' } });
  released.resolve();
  expect(await first).toMatchObject({ panel: { state: 'answers' } });
  expect(await operator.get('upstreams.check', upstream)).toMatchObject({
    binding: 'not_bound',
  });
  await slow.stop(true);
});

test('checks are as many a minute as tests of a webhook', async () => {
  app.clock.advance(61_000);
  const { code: provider } = await seedProvider(app);
  const says = [];
  for (let n = 0; n < 7; n++) {
    says.push((await operator.call('upstreams.check', given({ provider }))).refused ?? 'ok');
  }
  expect(says.slice(5)).toEqual(['ok', 'too_many_requests']);
});

test('a host of the file stays as it is there; one that cannot be read is left out', async () => {
  const { code: provider } = await seedProvider(app);
  const { store } = app.core;
  const act = { actor: app.core.actor(), atMs: app.clock.nowMs() };
  const keys = {
    host: FILE_HOST,
    url: `http://127.0.0.1:${panel.port}`,
    provider,
    default_limit: 1,
  };
  await store.addUpstream('odd.example.com', { host: 'odd.example.com', later: true }, 9, act);
  await store.addUpstream(FILE_HOST, keys, 9, act);
  const settings = { ...app.settings };
  const log: string[] = [];
  const upstreams = new LiveUpstreams({
    core: app.core,
    clock: app.clock,
    settings: Object.assign(settings, { host: '', port: 1 }),
    log: makeLog({ logFormat: 'json', logLevel: 'info' }, app.clock.nowMs, (line) =>
      log.push(line),
    ),
    own: () => ({
      upstreams: [readUpstream({ ...keys, default_limit: 7 })],
      text: JSON.stringify([{ ...keys, default_limit: 7 }]),
    }),
    certifiedNames: () => null,
    certificateExpiresAtMs: () => null,
  });
  await upstreams.refresh();
  expect(settings.gateUpstreams.map(({ host, defaultLimit }) => [host, defaultLimit])).toEqual([
    [FILE_HOST, 7],
  ]);
  expect(await upstreams.list()).toMatchObject({
    own: [{ host: FILE_HOST }],
    kept: [
      { host: FILE_HOST, isInForce: false },
      { host: 'odd.example.com', isInForce: false },
    ],
  });
  const now = app.clock.nowMs();
  expect(await upstreams.put(app.core, { keys, more: '' }, true, now)).toMatchObject({
    says: 'upstream_in_file',
  });
  expect(log.filter((line) => line.includes('upstream_not_read'))).toHaveLength(1);
  // Nothing changed: nothing is put in force anew.
  const before = settings.gateUpstreams;
  await upstreams.refresh();
  expect(settings.gateUpstreams).toBe(before);
  await store.removeUpstream(FILE_HOST, act);
  await store.removeUpstream('odd.example.com', act);
});
