/**
 * A full disk, as devices and users see it: known devices are served, also on the first call of a
 * day, which would be noted; new ones, and who frees a place, get 503 with the reason.
 */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '../../src/core/calendar.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import { addLink, bind, enter, HASH } from '../support/shop.ts';
import { MAY_MOUNT, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const FULL = "the server's disk is full: nothing new can be saved";

let disk: SmallDisk;
let at: Fronted;
beforeEach(async () => {
  if (!MAY_MOUNT) return;
  disk = mountSmallDisk(24) as SmallDisk;
  const dataDir = join(disk.folder, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const trustedProxies = parseTrustedProxies(['127.0.0.1']);
  const options = { dataDir, trustedProxies, gateKeyPaths: [keyPath('/sub/{key}')] };
  at = await startFronted(undefined, { defaultLimit: 2 }, options);
  await at.app.core.store.updateProvider(at.own.code, { my: 1, myName: 'Shop' }, ACT);
});
afterEach(async () => {
  if (!MAY_MOUNT) return;
  disk.clear();
  await at.stop();
  disk.unmount();
});

test.skipIf(!MAY_MOUNT)('known devices are served, others get 503 with the reason', async () => {
  const { app, own } = at;
  await bind(app, own, HASH);
  await addLink(app, own);
  await enter(app, 'old');
  expect((await at.get(`/sub/${KEY}`, 'old')).status).toBe(200);
  const knock = (hwid: string) =>
    call(app, '/install', null, { id: HASH, installid: 'LinkCode0001', hwid });
  const gate = (hwid: string) =>
    fetch(`${app.url}/gate`, {
      headers: { 'x-original-uri': `/sub/${KEY}`, 'x-forwarded-host': HOST, 'x-hwid': hwid },
    });
  const my = `${app.url}/my?link=LinkCode0001`;
  const checkIn = (hwid: string) => call(app, '/provider', null, { id: own.code, hwid });
  await checkIn('old');
  for (const days of [0, 1]) {
    app.clock.advance(days * DAY_MS);
    const page = await (await fetch(my)).text();
    const free = /name="free" value="([^"]+)"/.exec(page)?.[1] ?? '';
    disk.fill();
    const known = await at.get(`/sub/${KEY}`, 'old');
    expect({ days, status: known.status, body: known.body }).toMatchObject({ days, status: 200 });
    expect((await gate('old')).status).toBe(204);
    expect((await knock('old')).json.rc).toBe(1);
    expect((await checkIn('old')).json.rc).toBe(1);
    expect((await fetch(my)).status).toBe(200);

    const refused = await at.get(`/sub/${KEY}`, `new${days}`);
    expect(refused).toMatchObject({ status: 503, body: `${FULL}\n` });
    const atGate = await gate(`new${days}`);
    expect([atGate.status, atGate.headers.get('x-error-detail')]).toEqual([500, FULL]);
    expect((await knock(`new${days}`)).headers.get('x-error-detail')).toEndWith(FULL);
    const body = new URLSearchParams({ link: 'LinkCode0001', free });
    const freed = await fetch(`${app.url}/my`, { method: 'POST', body, redirect: 'manual' });
    expect([freed.status, await freed.text()]).toEqual([503, `${FULL}\n`]);
    disk.clear();
  }
  expect((await at.get(`/sub/${KEY}`, 'new')).status).toBe(200);
});
