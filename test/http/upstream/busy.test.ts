/** Requests before a panel that has no place: one address holds up no other, nor waits for ever. */

import { afterEach, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../../src/http/request/address.ts';
import { timesOf } from '../../../src/http/upstream/asking.ts';
import { until } from '../../support/until.ts';
import { type Fronted, KEY, startFronted } from '../../support/upstream.ts';

let fronted: Fronted | null = null;
afterEach(async () => {
  await fronted?.stop();
  fronted = null;
});

test('the queue and the panel together take no longer than Bun leaves a connection', () => {
  for (const seconds of [1, 30, 120, 240]) {
    const { waitMs, patienceS } = timesOf(seconds * 1_000);
    expect(patienceS).toBeLessThanOrEqual(255);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(seconds * 1_000);
    // The panel has all of its time.
    expect(patienceS * 1_000 - waitMs).toBeGreaterThan(seconds * 1_000);
  }
});

test('an address with 40 requests before a panel holds up no other one', async () => {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const told: string[] = [];
  fronted = await startFronted(
    async ({ target, send }) => {
      told.push(target);
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
      await send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    },
    { requestsMax: 4 },
    { trustedProxies: parseTrustedProxies(['127.0.0.1']) },
  );
  const { get } = fronted;
  const from = (address: string, hwid: string) =>
    get(`/sub/${KEY}`, hwid, { 'x-forwarded-for': address });
  const ofOne = Array.from({ length: 40 }, () => from('203.0.113.1', 'one'));
  // Half of the places are its own, and the others stay free.
  await until('it has its places', () => told.length >= 2);
  const others = ['203.0.113.2', '203.0.113.3'].map((address, n) => from(address, `other-${n}`));
  await until('the others have theirs', () => told.length === 4);
  isOpen = true;
  for (const resolve of waiting) resolve();
  for (const { status } of await Promise.all([...others, ...ofOne])) expect(status).toBe(200);
});
