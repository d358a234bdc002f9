/** The kits in C and Java against the appliance: ends of slots, full links, stubs, discovery. */

import { expect } from 'bun:test';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { call, type TestApp } from '../support/app.ts';
import { KitApp } from '../support/kit-driver.ts';
import { buildKit, classesIn, JAVA } from '../support/kits.ts';
import { notify } from '../support/messaging.ts';
import { testWith } from '../support/needs.ts';
import { behaveWell } from '../support/panel.ts';
import { addLink, expectOk, LINK } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';
import { appliance, closers, useKits } from './driven.ts';

useKits();

const KITS: [string, string[], () => string[]][] = [
  ['c', ['gcc'], () => [join(buildKit('c'), 'driver-checked')]],
  [
    'java',
    ['javac', 'jar', 'java'],
    () => [...JAVA, classesIn(buildKit('java')), 'org.gatepost.device.Driver'],
  ],
];
const FULL = 'FULL00000001';

function startPhone(command: string[], url: string, terms: Record<string, unknown>): KitApp {
  const phone = new KitApp(command, url, { pace: 0.2, ...terms });
  closers.push(() => phone.remove());
  phone.start();
  return phone;
}

const is = (phone: KitApp, state: string) =>
  until(`it is ${state}`, () => phone.states.at(-1) === state);

const isReceived = (app: TestApp, id: number) =>
  until('it is acknowledged', async () => {
    return (await app.core.store.findDistribution(id, 1))?.totals.received === 1;
  });

/** A server in front of another one that names it by a host of its own. */
async function named(url: string): Promise<string> {
  const relay = createServer((from) => {
    const to = connect(Number(new URL(url).port), '127.0.0.1');
    const rename = (bytes: string | Buffer) =>
      Buffer.from(bytes)
        .toString('latin1')
        .replace(/host: 127\.0\.0\.1:\d+/i, `Host: ${HOST}`);
    from.on('data', (bytes) => to.write(Buffer.from(rename(bytes), 'latin1')));
    to.pipe(from);
    for (const [one, other] of [[from, to] as const, [to, from] as const]) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((done) => relay.listen(0, '127.0.0.1', () => done()));
  closers.push(() => relay.close());
  const address = relay.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

for (const [name, needs, build] of KITS) {
  const testKit = testWith(...needs);
  const modes = ['stream', 'poll'].map((mode) => [`${name}, ${mode}`, mode] as const);

  testKit.each(modes)(
    'a slot that was freed ends it, at once or at its start: %s',
    async (_, mode) => {
      const { app, shop } = await appliance();
      const free = () =>
        expectOk(call(app, '/api/delete-hwid', shop, { install_code: LINK, hwid: 'phone' }));
      const phone = startPhone(build(), app.url, { mode, locale: 'fa' });
      for (const isAway of [false, true]) {
        await is(phone, 'open');
        if (isAway) await phone.kill();
        await free();
        if (isAway) phone.start();
        await is(phone, 'refused');
        expect(phone.said.at(-1)).toMatchObject({ reason: 'slot_freed' });
        expect(phone.said.at(-1)?.text).toMatch(/\p{Script=Arabic}/u);
        // A new run is that of a newcomer.
        await phone.kill();
        phone.start();
      }
      await is(phone, 'open');
    },
  );

  testKit.each(modes)('a full link says why, in its language: %s', async (_, mode) => {
    const { app, shop } = await appliance();
    await addLink(app, shop, FULL, 1);
    const terms = { mode, locale: 'ru', link: FULL };
    await is(startPhone(build(), app.url, { ...terms, hwid: 'one' }), 'open');
    const two = startPhone(build(), app.url, { ...terms, hwid: 'two' });
    await is(two, 'refused');
    expect(two.said.at(-1)).toMatchObject({ reason: 'link_limit_reached', limit: 1 });
    expect(two.said.at(-1)?.text).toMatch(/\p{Script=Cyrillic}/u);
  });

  testKit.each(modes)('larger messages come alone, in their order: %s', async (_, mode) => {
    const { app, send } = await appliance();
    const phone = startPhone(build(), app.url, { mode, frame_max: 2_048 });
    await is(phone, 'open');
    const ids: number[] = [];
    for (const body of ['a', 'long '.repeat(500), 'b', 'more '.repeat(500), 'c']) {
      ids.push(await send(body));
    }
    for (const id of ids) await isReceived(app, id);
    expect(phone.all('message').map(({ id }) => id)).toEqual(ids);
  });

  testKit.each(modes)('a subscription leads to the server: %s', async (_, mode) => {
    const behave = { gateKeyPaths: [keyPath('/sub/{key}')], hasWorker: true };
    const { app, own, stop } = await startFronted(behaveWell, { defaultLimit: 2 }, behave);
    closers.push(stop);
    await expectOk(call(app, '/api/add-install', own, { install_limit: 2, subscription_key: KEY }));
    await expectOk(call(app, '/api/policy', own, { discovery: 1 }));
    const url = `${await named(app.url)}/sub/${KEY}`;
    const asked = { 'x-hwid': 'phone', 'x-device-protocol': '1' };
    const headers = Object.fromEntries((await fetch(url, { headers: asked })).headers);
    const subscription = { url, headers };
    const found = { mode, url: null, link: null, domain_hash: null, subscription };
    const phone = startPhone(build(), '', found);
    await is(phone, 'open');
    await isReceived(app, await notify(app, own, 'found', { hwid: 'phone' }));
    await phone.kill();
    phone.start();
    await until('it is open again', () => phone.states.filter((it) => it === 'open').length === 2);
  });
}
