/**
 * Another process holds the database against writers: each door says that it is busy, reads and
 * known devices are served, streams stay open, and no fault is logged.
 */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { holdDatabase } from '../support/held-database.ts';
import { byBinding, notify, register, tryRegister } from '../support/messaging.ts';
import { addLink, bind, HASH } from '../support/shop.ts';
import { openStream, received } from '../support/stream.ts';
import { until } from '../support/until.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const BUSY = 'the database is busy: try again in a moment';

let at: Fronted;
beforeEach(async () => {
  at = await startFronted(
    undefined,
    { defaultLimit: 2 },
    {
      hasWorker: true,
      trustedProxies: parseTrustedProxies(['127.0.0.1']),
      gateKeyPaths: [keyPath('/sub/{key}')],
    },
  );
  await at.app.core.store.updateProvider(at.own.code, { my: 1, myName: 'Shop' }, ACT);
});
afterEach(() => at.stop());

const gate = (hwid: string) =>
  fetch(`${at.app.url}/gate`, {
    headers: { 'x-original-uri': `/sub/${KEY}`, 'x-forwarded-host': HOST, 'x-hwid': hwid },
  });

test('every door, while another process holds it', async () => {
  const { app, own } = at;
  await bind(app, own, HASH);
  const { code } = await addLink(app, own, null, 3);
  const knock = (hwid: string) =>
    call(app, '/install', null, { id: HASH, installid: code, hwid, os_name: 'android' });
  await knock('old');
  expect((await at.get(`/sub/${KEY}`, 'old')).status).toBe(200);
  const token = await register(app, byBinding('phone', own));
  const stream = await openStream(app, token);
  await notify(app, own, 'hello', { hwid: 'phone' });
  await until('it came', () => stream.ids().length === 1);
  const my = `${app.url}/my`;
  const page = await (await fetch(`${my}?link=${code}`)).text();
  const free = /name="free" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const held = await holdDatabase(app);
  stream.send(received(1));
  const post = (fields: Record<string, string>) =>
    fetch(my, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  const served = await Promise.all([
    ...[call(app, '/api/list-install', own), fetch(`${my}?link=${code}`)],
    ...[gate('old'), at.get(`/sub/${KEY}`, 'old')],
  ]);
  expect(served.map(({ status }) => status)).toEqual([200, 200, 204, 200]);
  const refusals = Promise.all([
    call(app, '/api/add-install', own, { install_limit: 2 }),
    call(app, '/provider', null, { id: own.code, hwid: 'new' }),
    knock('new'),
    tryRegister(app, byBinding('new', own)),
  ]);
  const [atGate, atPanel, freed, signedIn] = await Promise.all([
    ...[gate('new'), at.get(`/sub/${KEY}`, 'new'), post({ link: code, free })],
    new ConsoleBrowser(app.url).call('session.key', { code: own.code, key: own.authKey }),
  ] as const);
  for (const { json, headers } of await refusals) {
    expect(json).toEqual({ rc: 0, msg: 'Unknown error' });
    expect(headers.get('x-error-detail')).toEndWith(BUSY);
  }
  expect([atGate.status, atGate.headers.get('x-error-detail')]).toEqual([500, BUSY]);
  expect(atPanel).toMatchObject({ status: 503, body: `${BUSY}\n` });
  expect([freed.status, await freed.text()]).toEqual([503, `${BUSY}\n`]);
  expect(signedIn).toEqual({ refused: 'fault', detail: BUSY });

  expect(stream.frames).toHaveLength(1);
  await held.release();
  await until('the acknowledgement is saved', () => {
    app.clock.advance(500);
    return stream.frames.length === 2;
  });
  expect(stream.frames[1]).toEqual({ rc: 1, msg: 'Ok' });
  // The log with a fault would fail the end of the test.
  expect(stream.socket.readyState).toBe(WebSocket.OPEN);
});
