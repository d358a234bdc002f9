/**
 * A provider turns enforcement on while 200 devices come through all doors: its own proxy, `/gate`
 * and `/install`. From the answer on no newcomer gets in over the limit, and all that are in stay.
 */

import { afterEach, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call } from '../support/app.ts';
import { expectOk } from '../support/shop.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const CODE = 'CountOnly001';
const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
};

let at: Fronted;
afterEach(() => at.stop());

async function openDoors(enforce: boolean): Promise<void> {
  at = await startFronted(undefined, { enforce }, OPTIONS);
  const link = { install_limit: 3, install_code: CODE, subscription_key: KEY };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
}

/** The ways by which a device asks; each answers whether it was let in. */
const DOORS: Readonly<Record<string, (hwid: string) => Promise<boolean>>> = {
  proxy: async (hwid) => (await at.get(`/sub/${KEY}`, hwid)).status === 200,
  gate: async (hwid) => {
    const about = { 'x-original-uri': `/sub/${KEY}`, 'x-forwarded-host': HOST, 'x-hwid': hwid };
    return (await fetch(`${at.app.url}/gate`, { headers: about })).status === 204;
  },
  install: async (hwid) => {
    const query = { id: hostHash(HOST), installid: CODE, hwid };
    return (await call(at.app, '/install', null, query)).json.rc === 1;
  },
};
const WAYS = Object.values(DOORS);
const come = (n: number) => (WAYS[n % WAYS.length] as (hwid: string) => Promise<boolean>)(`d-${n}`);

async function hwidsIn(): Promise<string[]> {
  const { json } = await call(at.app, '/api/list-hwid', at.own, { install_code: CODE });
  return json.data.map(({ hwid }: { hwid: string }) => hwid).sort();
}

async function setPolicy(enforce: 0 | 1) {
  const { json } = await expectOk(call(at.app, '/api/policy', at.own, { enforce }));
  expect(json.enforce).toBe(enforce);
}

test('enforcement that begins among 200 devices', async () => {
  await openDoors(true);
  await setPolicy(0);
  const asked: Promise<boolean>[] = [];
  const send = (from: number, to: number) => {
    for (let n = from; n < to; n++) asked.push(come(n));
  };
  send(0, 60);
  await Promise.race(asked.slice(6));
  send(60, 80);
  const turned = setPolicy(1);
  send(80, 140);
  await turned;
  const then = await hwidsIn();
  send(140, 200);
  const letIn = (await Promise.all(asked)).flatMap((isIn, n) => (isIn ? [`d-${n}`] : []));
  expect(await hwidsIn()).toEqual(then);
  expect(letIn.sort()).toEqual(then);
  expect(letIn.filter((hwid) => Number(hwid.slice(2)) >= 140)).toEqual([]);
  const known = Number((then[0] ?? '').slice(2));
  for (const door of WAYS) expect(await door(`d-${known}`)).toBe(true);
});

test("an upstream's switch is for its own requests, below those of provider and link", async () => {
  await openDoors(false);
  const { proxy, gate, install } = DOORS as Record<string, (hwid: string) => Promise<boolean>>;
  for (const hwid of ['a', 'b', 'c', 'd', 'e']) expect(await proxy?.(hwid)).toBe(true);
  expect([await gate?.('f'), await install?.('g')]).toEqual([false, false]);
  expect([await gate?.('d'), await install?.('e')]).toEqual([true, true]);
  await setPolicy(1);
  expect(await proxy?.('h')).toBe(false);
  await expectOk(call(at.app, '/api/update-install', at.own, { id: 1, enforce: 0 }));
  for (const [n, door] of WAYS.entries()) expect(await door(`more-${n}`)).toBe(true);
  expect(await at.links()).toMatchObject([{ count: 8, limit: 3 }]);
  // A panel that sends all fields again may.
  const all = { id: 1, install_limit: 3, note: 'same limit' };
  await expectOk(call(at.app, '/api/update-install', at.own, all));
});

test('a new key of an upstream that counts makes a link that takes more than its limit', async () => {
  await openDoors(false);
  for (let n = 0; n < 5; n++) expect((await at.get('/sub/another-key', `n-${n}`)).status).toBe(200);
  expect(await at.links()).toMatchObject([{ count: 5, limit: 3 }, { count: 0 }]);
});
