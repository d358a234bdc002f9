/** The calls of apps as older documents have them: other paths, and more in headers. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { type Newcomer, newcomer } from '../support/door.ts';
import { rawRequest } from '../support/raw.ts';
import { HASH } from '../support/shop.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';

let app: TestApp;
let own: Newcomer['own'];
let code: string;
let hwid: string;
let install: Newcomer['install'];
let checkIn: Newcomer['checkIn'];
let known: Newcomer['known'];
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  ({ own, code, hwid, install, checkIn, known } = await newcomer(app));
});

describe('as older apps call', () => {
  const paths = (name: string) => [`/api/${name}`, `//api//${name}`, `/api/${name}/`];

  test.each([...paths('install'), '/install'])('%s lets a device in', async (path) => {
    const headers = {
      'x-hwid': hwid,
      'x-domain-hash': HASH,
      'x-device-info': 'os=Android; osVersion=15; model=Pixel',
    };
    const reply = await call(app, path, null, { installid: code }, { headers });
    const link = { provider_id: own.code, status: 10, install_limit: 3, install_count: 1 };
    expect(reply.json).toEqual({ rc: 1, msg: 'Ok', ...link });
    expect(reply.headers.get('x-hwid-active')).toBe('true');
    expect(await known()).toMatchObject({ os: 'android', osVersion: '15', deviceName: 'Pixel' });
  });

  test.each([...paths('provider'), '/provider'])('%s knows a device', async (path) => {
    const headers = { 'x-hwid': hwid, 'x-domain-hash': HASH };
    const ask = () => call(app, path, null, { id: own.code }, { headers });
    expect((await ask()).text).toBe('{"rc":1,"msg":"Ok","status":"extended"}');
    const before = await takeSnapshot(app);
    await ask();
    expect(difference(before, await takeSnapshot(app))).toEqual([]);
  });

  test('what comes under /api is refused with HTTP 200, rc and msg', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
      for (const path of ['/api/install', '/api/provider', '/api//install', '/api/providers']) {
        const reply = await rawRequest(app, method, path, ['content-length: 0']);
        expect([reply.status, reply.headers.get('content-type')]).toEqual([
          200,
          'application/json',
        ]);
        if (method !== 'HEAD') expect(JSON.parse(reply.text).rc).toBe(0);
      }
    }
    expect(await known()).toBeUndefined();
  });

  test('the hash of the query goes before that of the header', async () => {
    const wrong = { 'x-domain-hash': 'b'.repeat(64) };
    expect((await install({ hwid }, wrong)).json.rc).toBe(1);
    expect((await install({ hwid, id: '' }, wrong)).json.msg).toBe('Install not found');
    expect((await install({ hwid, id: '' }, { 'x-domain-hash': HASH })).json.rc).toBe(1);
    const twice = `id=${HASH}&id=${HASH}&installid=${code}&hwid=${hwid}`;
    const reply = await rawRequest(app, 'GET', `/install?${twice}`, [`x-domain-hash: ${HASH}`]);
    expect(JSON.parse(reply.text).msg).toBe('Install not found');
    expect((await checkIn({ hwid, domain_hash: 'c'.repeat(64) }, wrong)).json.status).toBe(
      'extended',
    );
  });

  test('facts of their own go before those of the legacy header', async () => {
    const info = JSON.stringify({ hwid: `${hwid}-other`, os: 'iOS', model: 'iPhone', app: 'A/1' });
    await install({ hwid, os_name: 'Android' }, { 'x-device-info': info, 'user-agent': '' });
    expect(await known()).toMatchObject({ os: 'android', deviceName: 'iPhone', userAgent: 'A/1' });
    expect(await app.core.store.findDevice(`${hwid}-other`)).toBeNull();
  });

  test('the HWID may be among them, and is judged like any other', async () => {
    const told = (info: string) => install({}, { 'x-device-info': info });
    expect((await told('hwid=a b; os=iOS')).json.msg).toBe('HWID is required');
    expect((await told('os=iOS')).json.msg).toBe('HWID is required');
    expect((await told(`{"hwid":"${hwid}"}`)).json.rc).toBe(1);
    expect(await known()).toBeDefined();
  });

  test('a long header says nothing, and what is in it is cut like any other fact', async () => {
    const long = (model: string) => ({ 'x-device-info': `os=iOS; model=${model}` });
    expect((await install({ hwid }, long('x'.repeat(2_100)))).json.rc).toBe(1);
    expect(await known()).toMatchObject({ os: '', deviceName: '' });
    await install({ hwid }, long('x'.repeat(1_000)));
    expect(await known()).toMatchObject({ os: 'ios', deviceName: 'x'.repeat(128) });
  });
});
