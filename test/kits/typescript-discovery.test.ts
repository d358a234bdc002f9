/** The kit for TypeScript finds the server by the fetch of a subscription at the appliance. */

import { afterEach, expect, test } from 'bun:test';
import { connect, createServer } from 'node:net';
import { Device, discover, subscriptionHeaders } from '../../sdk/typescript/src/index.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call } from '../support/app.ts';
import { notify } from '../support/messaging.ts';
import { behaveWell } from '../support/panel.ts';
import { expectOk } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Names the host of the subscriptions in each request, as a resolver and a proxy do. */
async function startNamed(port: number): Promise<string> {
  const server = createServer((inside) => {
    const outside = connect(port, '127.0.0.1');
    inside.on('data', (bytes) => {
      const text = bytes.toString('latin1').replace(/^host: [^\r]*/im, `Host: ${HOST}`);
      outside.write(Buffer.from(text, 'latin1'));
    });
    outside.pipe(inside);
    for (const one of [inside, outside]) one.on('error', () => {});
    inside.on('close', () => outside.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

test.each(['stream', 'poll'] as const)(
  'a device of a subscription gets a message by its %s',
  async (mode) => {
    const trusting = {
      trustedProxies: parseTrustedProxies(['127.0.0.1']),
      gateKeyPaths: [keyPath('/sub/{key}')],
      hasWorker: true,
    };
    const at = await startFronted(behaveWell, { defaultLimit: 1 }, trusting);
    closers.push(() => at.stop());
    const link = { install_limit: 1, subscription_key: KEY };
    await expectOk(call(at.app, '/api/add-install', at.own, link));
    const address = `${await startNamed(Number(new URL(at.app.url).port))}/sub/${KEY}?x=1`;
    let text: string | null = null;
    const store = {
      read: () => text,
      write: (given: string) => {
        text = given;
      },
    };
    const registration = { os: 'android', device_name: 'Pixel' };
    const ask = async () => {
      const headers = await subscriptionHeaders({ store, registration });
      const answer = await fetch(address, { headers });
      expect(answer.status).toBe(200);
      return discover(address, answer.headers, registration);
    };
    expect(await ask()).toBe(null);
    await expectOk(call(at.app, '/api/policy', at.own, { discovery: 1 }));
    const found = await ask();
    if (found === null) throw new Error('it found nothing');
    expect(found.base).toBe('/.well-known/device-messages');
    const texts: string[] = [];
    const start = async () => {
      const states: string[] = [];
      const device = new Device({
        ...found,
        store,
        mode,
        // The server may be silent for nine seconds.
        pace: 1,
        onMessage: (handling) => void texts.push(handling.texts.plain),
        onState: (state, detail) => void states.push(`${state} ${detail}`.trim()),
      });
      const ended = device.run();
      const stop = async () => {
        device.close();
        await ended;
      };
      closers.push(stop);
      await until('it is open', () => states.length > 0);
      expect(states).toEqual(['open']);
      return { states, ended, stop };
    };
    const kept = () => JSON.parse(text ?? '{}');
    const first = await start();
    const { hwid, token } = kept();
    await notify(at.app, at.own, 'found', { hwid });
    await until('it has the message', () => texts.length === 1);
    await first.stop();
    // A token that is not known there is told from an outage by a registration alone.
    const second = await start();
    expect(kept().token).not.toBe(token);
    await notify(at.app, at.own, 'again', { hwid });
    await until('it has the other message', () => texts.length === 2);
    expect(texts).toEqual(['found', 'again']);
    await second.stop();
    text = JSON.stringify({ ...kept(), token: 'x'.repeat(43) });
    const stranger = new Device({ ...found, store, mode, onMessage: () => {} });
    expect(await stranger.run()).toBe('refused');
  },
);
