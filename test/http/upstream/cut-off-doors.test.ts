/**
 * A link that was cut off at its doors: a barred HWID is refused at each of them, and the other
 * devices are asked to fetch again soon.
 */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { hostHash } from '../../../src/core/host-name.ts';
import type { Scope } from '../../../src/core/port/provider-key.ts';
import { hashKey, subscriptionKeyHash } from '../../../src/core/secret.ts';
import { parseTrustedProxies } from '../../../src/http/request/address.ts';
import { ACT } from '../../support/actor.ts';
import { call } from '../../support/app.ts';
import { type CutPanel, cutPanel, cutterOf } from '../../support/cut-panel.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../../support/upstream.ts';

const MY = { myPath: '/my', myUrl: 'https://my.example.com' };

let at: Fronted;
let panel: CutPanel;
let worker: ReturnType<typeof cutterOf>;
let cuts: { code: string; authKey: string };
beforeEach(async () => {
  at = await startFronted(
    undefined,
    { cutOff: true, panel: '3x-ui', panelTokenFile: '/token', defaultLimit: 5 },
    {
      ...MY,
      trustedProxies: parseTrustedProxies(['127.0.0.1']),
      gateKeyPaths: [keyPath('/sub/{key}')],
    },
  );
  shareUpstreams();
  panel = cutPanel();
  worker = cutterOf(at.app, panel);
  cuts = await keyFor('cuts');
});
afterEach(async () => {
  await worker.stop();
  await at.stop();
});

/** In the appliance both are the settings. */
const shareUpstreams = () =>
  Object.assign(at.app.core.limits, { gateUpstreams: at.app.settings.gateUpstreams });

async function keyFor(scope: Scope) {
  const { store } = at.app.core;
  const provider = await store.findProvider(at.own.code);
  const authKey = `${scope}-${'k'.repeat(32)}`.slice(0, 32);
  const terms = { name: scope, scope, untilMs: null, createdAtMs: 0, countMax: 9 };
  await store.addKey({ providerId: provider?.id ?? 0, keyHash: hashKey(authKey), ...terms }, ACT);
  return { code: at.own.code, authKey };
}

/** The link of a key, which a fetch of each phone made and proved. */
async function proved(phones = ['a', 'b', 'c'], key = KEY) {
  for (const phone of phones) expect((await at.get(`/sub/${key}`, phone)).status).toBe(200);
  return linkOf(key);
}

async function linkOf(key: string) {
  const [link] = await at.app.core.store.findLinksByKey(subscriptionKeyHash(key));
  if (link === undefined) throw new Error('there is no such link');
  // Proofs do not delay answers.
  const { providerId, id: installId } = link;
  for (let n = 0; n < 100; n++) {
    const facts = await at.app.core.store.findCutFacts(providerId, {
      installCode: null,
      installId,
    });
    if (facts?.provedBy.length) break;
    await Bun.sleep(1);
  }
  return link;
}

/** Frees a device and cuts its link off. */
async function cut(hwid: string, installId: number, by = cuts) {
  const { json, headers } = await call(at.app, '/api/delete-hwid', by, {
    install_id: installId,
    hwid,
    cut_off: 1,
  });
  return { json, state: headers.get('x-cut-off') };
}

async function listed(query: Record<string, unknown> = {}) {
  const { json } = await call(at.app, '/api/list-cuts', at.own, query as Record<string, string>);
  return json.data as Record<string, unknown>[];
}

test('apps fetch again soon until all came', async () => {
  const link = await proved();
  const hours = async (phone: string) =>
    (await at.get(`/sub/${KEY}`, phone)).headers.get('profile-update-interval');
  const before = await hours('b');
  await cut('a', link.id);
  // An app that fetches before the change comes again after it.
  expect(await hours('b')).toBe('1');
  await worker.run();
  expect(await hours('b')).toBe('1');
  const toFetch = async () => (await listed())[0]?.['to_fetch'];
  while ((await toFetch()) !== 1) await Bun.sleep(1);
  expect(await hours('b')).toBe('1');
  expect(await hours('c')).toBe('1');
  while ((await toFetch()) !== 0) await Bun.sleep(1);
  expect(await hours('b')).toBe(before);
});

/** The answers of each door to a phone. */
async function doors(hwid: string, code: string) {
  const { app, own } = at;
  const headers = { 'x-hwid': hwid };
  const query = `id=${hostHash(HOST)}&installid=${code}`;
  const install = await fetch(`${app.url}/install?${query}`, { headers });
  const gate = await fetch(`${app.url}/gate`, {
    headers: {
      ...headers,
      'x-original-uri': `/sub/${KEY}`,
      'x-original-method': 'GET',
      'x-forwarded-host': HOST,
    },
  });
  const body = JSON.stringify({
    hwid,
    install_code: code,
    domain_hash: hostHash(HOST),
    provider_code: own.code,
  });
  const register = await fetch(`${app.url}/device/register`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  const {
    free_url: _,
    limit: __,
    // Of its own, like `x-error-detail`.
    reason,
    text: ___,
    ...registered
  } = (await register.json()) as Record<string, unknown>;
  const names = ['x-hwid-max-devices-reached', 'x-hwid-limit', 'x-hwid-active'];
  return {
    install: [
      install.status,
      await install.json(),
      ...names.map((name) => install.headers.get(name)),
    ],
    gate: [gate.status, ...names.map((name) => gate.headers.get(name))],
    proxy: (await at.get(`/sub/${KEY}`, hwid)).status,
    register: registered,
    detail: install.headers.get('x-error-detail'),
    reason,
  };
}

test.each(['Copied-HWID', 'copied-hwid', 'COPIEDHWID'])(
  'at every door %s is answered as at a full link, with a reason of its own',
  async (spelling) => {
    const link = await proved(['Copied-HWID', 'b']);
    await cut('Copied-HWID', link.id);
    const barred = await doors(spelling, link.installCode);
    expect(barred.detail).toContain('cut off');
    expect(barred.proxy).toBe(404);
    const update = { id: link.id, install_limit: 1 };
    expect((await call(at.app, '/api/update-install', at.own, update)).json.rc).toBe(1);
    expect(barred.reason).toBe('barred');
    const { detail, reason, ...full } = await doors('another', link.installCode);
    expect(detail).not.toContain('cut off');
    expect(reason).toBe('link_limit_reached');
    expect(barred).toMatchObject(full);
    await at.app.core.store.saveFigures();
    const refused = await call(at.app, '/api/list-refused', at.own, { install_id: link.id });
    const ofBarred = refused.json.data.find((row: { hwid: string }) => row.hwid === spelling);
    expect(ofBarred).toMatchObject({ reason: 'barred' });
  },
);
