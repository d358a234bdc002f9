/**
 * A link that was cut off at its doors: a barred HWID is refused at each of them, and the other
 * devices are asked to fetch again soon.
 */

import { beforeEach, expect, test } from 'bun:test';
import { hostHash } from '../../../src/core/host-name.ts';
import { call } from '../../support/app.ts';
import { type CutShop, useCutShop } from '../../support/cut-shop.ts';
import { until } from '../../support/until.ts';
import { type Fronted, HOST, KEY } from '../../support/upstream.ts';

const shop = useCutShop();
const { cut, listed, proved } = shop;
let at: Fronted;
let worker: CutShop['worker'];
beforeEach(() => {
  ({ at, worker } = shop);
});

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
  await until('one is left', async () => (await toFetch()) === 1);
  expect(await hours('b')).toBe('1');
  expect(await hours('c')).toBe('1');
  await until('none is left', async () => (await toFetch()) === 0);
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
