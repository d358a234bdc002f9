/** A kit and the appliance: the end of a slot is told, and a message may be fetched by its id. */

import { expect, type test } from 'bun:test';
import { call, type TestApp } from '../support/app.ts';
import { KitApp } from '../support/kit-driver.ts';
import { addLink, expectOk, LINK } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { appliance, closers, type Driven } from './driven.ts';

/** Declares the tests of a kit; `testKit` skips them where it cannot be built. */
export function endedKit(testKit: ReturnType<typeof test.skipIf>, built: Driven): void {
  function startPhone(app: TestApp, terms: Record<string, unknown> = {}): KitApp {
    const phone = new KitApp(built.driver, app.url, { locale: 'ru', ...terms });
    closers.push(() => phone.remove());
    phone.start();
    return phone;
  }
  const is = (phone: KitApp, state: string) =>
    until(`it is ${state}`, () => phone.states.at(-1) === state);

  testKit.each(['stream', 'poll'])(
    'it ends with its slot, and a new run is a newcomer: %s',
    async (mode) => {
      const { app, shop } = await appliance();
      const phone = startPhone(app, { mode });
      await is(phone, 'open');
      await expectOk(call(app, '/api/delete-hwid', shop, { install_code: LINK, hwid: 'phone' }));
      await is(phone, 'refused');
      const said = phone.all('state').at(-1) as unknown as Record<string, string>;
      expect(said['reason']).toBe('slot_freed');
      expect(said['text']).toMatch(/[а-я]/);
      await phone.kill();
      phone.start();
      await is(phone, 'open');
    },
  );

  testKit('a disabled link is told, and the device goes on', async () => {
    const { app, shop } = await appliance();
    const link = await addLink(app, shop, 'LinkCode0002');
    const phone = startPhone(app, { link: link.code });
    await is(phone, 'open');
    await expectOk(call(app, '/api/update-install', shop, { id: link.id, status: 5 }));
    await until('it is told', () => phone.states.includes('ended'));
    expect(phone.all('state').at(-1)).toMatchObject({ state: 'ended', reason: 'link_disabled' });
    expect(app.server.streamCount()).toBe(1);
  });

  testKit('a message that is larger than its frames is fetched by its id', async () => {
    const { app, send } = await appliance();
    const phone = startPhone(app, { frame_max: 1_024 });
    await is(phone, 'open');
    const ids = [
      await send('short'),
      await send(`long ${'text '.repeat(300)}`),
      await send('last'),
    ];
    await until('it has all', () => phone.all('message').length === 3);
    expect(phone.all('message').map(({ id }) => id)).toEqual(ids);
    expect(phone.all('message')[1]?.text).toHaveLength('long '.length + 5 * 300 - 1);
  });
}
