/** HWIDs that name no device, at each door: apps without a HWID, but where one holds a slot. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { isJunkHwid } from '../../src/core/junk-hwid.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call } from '../support/app.ts';
import { expectOk } from '../support/shop.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const CODE = 'JunkHwids001';
const JUNK = [
  ...['null', 'NULL', 'undefined', 'Unknown', 'none', '0', '0000', 'aaaaaaaa', '--------0'],
  '00000000-0000-0000-0000-000000000000',
  'ffffffffffffffff',
];
const REAL = ['x'.repeat(129), 'x', '1', 'nul', 'nobody', 'aaaaaaa', 'abababab', '0x', '12345678'];

test.each(JUNK)('%s names no device', (hwid) => expect(isJunkHwid(hwid)).toBe(true));
test.each(REAL)('%s is a HWID', (hwid) => expect(isJunkHwid(hwid)).toBe(false));

let at: Fronted;
beforeEach(async () => {
  at = await startFronted(
    undefined,
    {},
    {
      trustedProxies: parseTrustedProxies(['127.0.0.1']),
      gateKeyPaths: [keyPath('/sub/{key}')],
    },
  );
  const link = { install_limit: 2, install_code: CODE, subscription_key: KEY };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
});
afterEach(() => at.stop());

type Door = (hwid: string, more?: Record<string, string>) => Promise<boolean>;
const proxy: Door = async (hwid, more) => (await at.get(`/sub/${KEY}`, hwid, more)).status === 200;
const gate: Door = async (hwid) => {
  const headers = { 'x-original-uri': `/sub/${KEY}`, 'x-forwarded-host': HOST, 'x-hwid': hwid };
  return (await fetch(`${at.app.url}/gate`, { headers })).status === 204;
};
const install: Door = async (hwid) => {
  const url = `${at.app.url}/install?id=${hostHash(HOST)}&installid=${CODE}`;
  const got = (await (await fetch(url, { headers: { 'x-hwid': hwid } })).json()) as { rc: number };
  return got.rc === 1;
};

async function hwids(): Promise<string[]> {
  const { json } = await call(at.app, '/api/list-hwid', at.own, { install_code: CODE });
  return json.data.map(({ hwid }: { hwid: string }) => hwid).sort();
}

const GATES: [string, Door][] = [
  ['the proxy', proxy],
  ['/gate', gate],
];

describe.each(GATES)('%s', (_name, door) => {
  test('refuses one that has no slot as an app without a HWID, and takes short ones', async () => {
    for (const hwid of JUNK) expect([hwid, await door(hwid)]).toEqual([hwid, false]);
    expect(await hwids()).toEqual([]);
    expect(await door('x')).toBe(true);
    expect(await hwids()).toEqual(['x']);
  });

  test('lets one that holds a slot go on until it is freed, on a full link too', async () => {
    expect(await install('null')).toBe(true);
    expect(await install('phone')).toBe(true);
    for (let n = 0; n < 2; n++) expect(await door('null')).toBe(true);
    // Another spelling is another HWID, which holds none.
    expect(await door('NULL')).toBe(false);
    expect(await hwids()).toEqual(['null', 'phone']);
    await expectOk(call(at.app, '/api/delete-hwid', at.own, { install_code: CODE, hwid: 'null' }));
    expect(await door('null')).toBe(false);
    expect(await hwids()).toEqual(['phone']);
  });

  test('counts them as one device where apps without a HWID count', async () => {
    await expectOk(call(at.app, '/api/update-install', at.own, { id: 1, without_hwid: 'count' }));
    for (const hwid of JUNK) expect([hwid, await door(hwid)]).toEqual([hwid, true]);
    expect(await hwids()).toEqual(['no-hwid-1']);
  });
});

test('a browser with such a HWID is an app', async () => {
  expect(await install('null')).toBe(true);
  expect(await proxy('null', { Accept: 'text/html' })).toBe(true);
});

test('/install and the contract take them as any other', async () => {
  const own = { install_code: CODE, hwid: 'null' };
  expect(await install('null')).toBe(true);
  expect(await install('0')).toBe(true);
  expect(await hwids()).toEqual(['0', 'null']);
  const { json } = await call(at.app, '/api/list-hwid', at.own, own);
  expect(json.data).toHaveLength(1);
  const deleted = await call(at.app, '/api/delete-hwid', at.own, own);
  expect(deleted.json).toEqual({ rc: 1, msg: 'Ok', install_count: 1 });
});

test('a new key makes no link for them', async () => {
  expect((await at.get('/sub/another-key-0001', 'null')).status).toBe(404);
  expect(await at.links()).toHaveLength(1);
});
