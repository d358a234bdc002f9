/** The kit for TypeScript at the appliance: freed slots, a full link, large messages. */

import { afterEach, expect, test } from 'bun:test';
import {
  Device,
  type DeviceOptions,
  type Ending,
  type Why,
} from '../../sdk/typescript/src/index.ts';
import { call, startTestApp } from '../support/app.ts';
import { byLink, notify, register } from '../support/messaging.ts';
import { addLink, expectOk, HASH, seedShop } from '../support/shop.ts';
import { until } from '../support/until.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const CODE = 'LinkCode0001';
const PUSH = { gateway: 'fcm', token: 'address' } as const;

async function world(limit: number) {
  const app = await startTestApp({ hasWorker: true });
  closers.push(app.close);
  const shop = await seedShop(app);
  const link = await addLink(app, shop, CODE, limit);
  const free = async () => {
    await expectOk(call(app, '/api/delete-hwid', shop, { install_id: link.id, hwid: 'phone' }));
  };
  let text: string | null = null;
  const start = (more: Partial<DeviceOptions> = {}) => {
    const states: string[] = [];
    const whys: (Why | null)[] = [];
    const handled: number[] = [];
    const device = new Device({
      url: app.url,
      hwid: 'phone',
      registration: { os: 'android', install_code: CODE, domain_hash: HASH },
      store: {
        read: () => text,
        write: (given) => {
          text = given;
        },
      },
      locale: 'ru',
      // The server may be silent for nine seconds.
      pace: 1,
      onMessage: ({ message }) => void handled.push(message.id),
      onState(state, _, why) {
        states.push(state);
        whys.push(why);
      },
      ...more,
    });
    closers.push(() => device.close());
    const ended: Promise<Ending> = device.run();
    return { device, states, whys, handled, ended };
  };
  return { app, shop, free, start, token: () => JSON.parse(text ?? '{}').token };
}

test.each([
  ['by its stream', { mode: 'stream' }],
  ['by its poll', { mode: 'poll' }],
] as const)(
  'a device whose slot is freed hears it %s, and registers only by a new run',
  async (_, more) => {
    const { app, shop, free, start, token } = await world(1);
    const { device, states, whys, ended, handled } = start(more);
    await until('it is open', () => states.includes('open'));
    await free();
    expect(await ended).toBe('refused');
    const why = {
      reason: 'slot_freed',
      at: expect.stringMatching(/^20\d\d-/),
      text: expect.stringMatching(/[а-я]/),
    };
    expect(whys.at(-1)).toEqual(why);
    expect(token()).toBe(null);
    void device.run();
    await until('it is open again', () => states.at(-1) === 'open');
    const id = await notify(app, shop, 'hello', { hwid: 'phone' });
    await until('it has the message', () => handled.includes(id));
  },
);

test('its slot was freed while it was away: it does not come back by its push address', async () => {
  const { free, start, token } = await world(1);
  const first = start({ push: PUSH });
  await until('it is open', () => first.states.includes('open'));
  first.device.close();
  await first.ended;
  await free();
  const second = start({ push: PUSH });
  expect(await second.ended).toBe('refused');
  expect(second.whys.at(-1)?.reason).toBe('slot_freed');
  expect(token()).toBe(null);
});

test('a device of a full link is given the limit, and a text in its language', async () => {
  const { app, start } = await world(1);
  await register(app, byLink('another', CODE));
  const { ended, whys } = start();
  expect(await ended).toBe('refused');
  expect(whys.at(-1)).toMatchObject({
    reason: 'link_limit_reached',
    limit: 1,
    text: expect.stringMatching(/[а-я]/),
  });
});

test('a message that is larger than the frame that the device takes is fetched', async () => {
  const { app, shop, start } = await world(1);
  const texts: string[] = [];
  const onMessage: DeviceOptions['onMessage'] = ({ texts: { plain } }) => void texts.push(plain);
  const { states } = start({ frameMax: 1_024, onMessage });
  await until('it is open', () => states.includes('open'));
  const long = 'long '.repeat(500).trim();
  const id = await notify(app, shop, long, { hwid: 'phone' });
  await until('it has the message', () => texts.length === 1);
  expect(texts).toEqual([long]);
  const isReceived = async () =>
    (await app.core.store.findDistribution(id, 1))?.totals.received === 1;
  await until('it is acknowledged', isReceived);
});
