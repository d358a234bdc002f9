import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addLink } from '../../src/core/link.ts';
import { authenticate } from '../../src/core/provider.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';

// Two statements made from one drizzle builder share what is added to it later.

const FACTS = { os: 'ios', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
const HASH = 'a'.repeat(64);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** A provider with two links and a device on each. */
async function seedTwoLinks() {
  const credentials = await seedProvider(app);
  const nowMs = app.clock.nowMs();
  const { code, authKey } = credentials;
  const provider = (await authenticate(app.core, code, authKey, nowMs))?.provider;
  if (provider === undefined) throw new Error('the provider is not there');
  const { store } = app.core;
  const binding = { providerId: provider.id, domainHash: HASH, domainName: 'a', domainCountMax: 9 };
  await store.addDomain({ ...binding, createdAtMs: nowMs }, ACT);
  for (const name of ['first', 'second']) {
    const installCode = `${name}LINK`.padEnd(12, '0').slice(0, 12);
    await addLink(app.core, provider, { installCode, installLimit: 1, note: null }, nowMs);
    await store.takeSlot({ installCode, domainHash: HASH, hwid: name }, FACTS, nowMs);
  }
  return credentials;
}

test('list-hwid finds one HWID, and device list takes --provider and --link together', async () => {
  const credentials = await seedTwoLinks();
  const query = { install_code: 'firstLINK000', hwid: 'first' };
  const reply = await call(app, '/api/list-hwid', credentials, query);
  expect(reply.json).toMatchObject({ rc: 1, data: [{ hwid: 'first' }] });

  const devices = await app.core.store.listDevices({
    providerCode: credentials.code,
    installCode: 'secondLINK00',
    os: null,
    countMax: 10,
  });
  expect(devices.map((device) => device.hwid)).toEqual(['second']);
});
