/** What clients send to the executable, where the runtime inside has a say in what it becomes. */

import { expect, test } from 'bun:test';
import { call } from '../support/app.ts';
import { byBinding } from '../support/messaging.ts';
import { openShop } from '../support/shop.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

test('an international domain reaches a device in ASCII', async () => {
  const { own, server } = await openShop({ plan: 'pro' });
  const post = (body: unknown) => ({ method: 'POST', body: JSON.stringify(body) });
  const registration = { ...byBinding('phone', own), os: 'android' };
  const registered = await call(server, '/device/register', null, {}, post(registration));
  const order = {
    action_type: 'sub-change',
    change_type: 'domain',
    change_value: '\u043f\u0440\u0438\u043c\u0435\u0440.example:8443',
    hwid: 'phone',
  };
  expect((await call(server, '/remote/command', own, {}, post(order))).json.rc).toBe(1);

  const headers = { authorization: `Bearer ${registered.json.device_token}` };
  const { json } = await call(server, '/device/inbox', null, { wait: 20 }, { headers });
  expect(json.data[0].payload.change_value).toBe('xn--e1afmkfd.example:8443');
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});
