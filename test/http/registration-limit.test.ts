/** How many devices an address may register in a minute, and what does not count. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { MinuteLimiter } from '../../src/http/bound/limiter.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { register, tryRegister } from '../support/messaging.ts';
import { open } from '../support/socket.ts';
import { until } from '../support/until.ts';

describe('limits of registrations', () => {
  let strict: TestApp;
  beforeEach(async () => {
    strict = await startTestApp({ registrationsPerMinuteMax: 2 });
  });
  afterEach(() => strict.close());
  const told = async (body: Record<string, unknown>, token?: string) =>
    (await tryRegister(strict, body, token)).json.msg;

  test('count them per address and minute', async () => {
    expect(await told({ hwid: 'x' })).toBe('Ok');
    expect(await told({ hwid: 'y' })).toBe('Ok');
    expect(await told({ hwid: 'z' })).toBe('Too many requests');
    strict.clock.advance(60_000);
    expect(await told({ hwid: 'z' })).toBe('Ok');
  });

  test('do not count what was refused for another reason', async () => {
    expect(await told({ hwid: 'x' })).toBe('Ok');
    for (let n = 0; n < 5; n += 1) {
      expect(await told({})).toBe('HWID is required');
      expect(await told({ hwid: 'y', push: 1 })).toBe('Unknown error');
      expect(await told({ hwid: 'x' })).toBe('Device is registered');
      expect(await told({ hwid: 'y', provider_code: 'nobody00' })).toBe('Provider not found');
    }
    expect(await told({ hwid: 'y' })).toBe('Ok');
    expect(await told({ hwid: 'z' })).toBe('Too many requests');
  });

  test('do not count a fault', async () => {
    strict.expectFault('the disk is gone');
    const registerDevice = strict.core.store.registerDevice.bind(strict.core.store);
    strict.core.store.registerDevice = () => Promise.reject(new Error('the disk is gone'));
    for (let n = 0; n < 5; n += 1) expect(await told({ hwid: 'x' })).toBe('Unknown error');
    strict.core.store.registerDevice = registerDevice;
    expect(await told({ hwid: 'x' })).toBe('Ok');
  });

  test('never hold up the token of the device, and another one no less', async () => {
    const token = await register(strict, { hwid: 'x' });
    const next = await register(strict, { hwid: 'x' }, token);
    const other = await register(strict, { hwid: 'y' });
    expect(await told({ hwid: 'z' })).toBe('Too many requests');
    expect(await told({ hwid: 'x' }, next)).toBe('Ok');
    expect(await told({ hwid: 'z' }, other)).toBe('Too many requests');
    expect(await told({ hwid: 'y' }, 'w'.repeat(43))).toBe('Too many requests');
  });

  test('of many at once let in no more than they may', async () => {
    const hwids = Array.from({ length: 20 }, (_, n) => `hwid${n}`);
    const answers = await Promise.all(hwids.map((hwid) => told({ hwid })));
    expect(answers.filter((msg) => msg === 'Ok')).toHaveLength(2);
  });

  test('give nothing back for a call that was held back on its way', () => {
    const limiter = new MinuteLimiter(() => 2);
    const nowMs = strict.clock.nowMs();
    for (let n = 0; n < 2; n += 1) expect(limiter.admits('a', nowMs)).toBe(true);
    expect(limiter.admits('a', nowMs - 15_000)).toBe(false);
    expect(limiter.admits('a', nowMs)).toBe(false);
  });

  test('refuse without reading the body', async () => {
    for (const hwid of ['x', 'y']) await register(strict, { hwid });
    const head = 'POST /device/register HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n';
    const connection = await open(Number(new URL(strict.url).port), head);
    await until('it is refused', () => connection.received().includes('Too many requests'));
    connection.socket.destroy();
  });
});
