/** Requests before a panel that has no place: one address holds up no other, nor waits for ever. */

import { afterEach, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../../src/http/request/address.ts';
import { timesOf } from '../../../src/http/upstream/forward.ts';
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

/** A panel that answers once it is opened, and the requests that reached it. */
class ShutPanel {
  readonly told: string[] = [];
  #isOpen = false;
  readonly #waiting: (() => void)[] = [];

  /** Starts it, with four places and a device that has its slot. */
  async start(): Promise<void> {
    fronted = await startFronted(
      async ({ head, send }) => {
        this.told.push(/^x-forwarded-for: (.*)\r$/im.exec(head)?.[1] ?? '');
        if (!this.#isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        await send(
          'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 16\r\n\r\nvless://a@b:1#ok',
        );
      },
      { requestsMax: 4, defaultLimit: 100 },
      { trustedProxies: parseTrustedProxies(['127.0.0.1']) },
    );
    this.open();
    await this.get('192.0.2.1', 'known');
    this.told.length = 0;
    this.#isOpen = false;
  }

  get(address: string, hwid: string | null) {
    if (fronted === null) throw new Error('it runs');
    return fronted.get(`/sub/${KEY}`, hwid, { 'x-forwarded-for': address });
  }

  open(): void {
    this.#isOpen = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

test('an address with 40 requests before a panel holds up no other one', async () => {
  const panel = new ShutPanel();
  await panel.start();
  const ofOne = Array.from({ length: 40 }, () => panel.get('203.0.113.1', 'one'));
  // It has half of the places, and the others stay free.
  await until('it has its places', () => panel.told.length >= 2);
  const others = [panel.get('203.0.113.2', 'other'), panel.get('203.0.113.3', 'known')];
  await until('the others have theirs', () => panel.told.length === 4);
  panel.open();
  for (const { status } of await Promise.all([...others, ...ofOne])) expect(status).toBe(200);
});

test('strangers from any number of addresses leave a place for a device with its slot', async () => {
  const panel = new ShutPanel();
  await panel.start();
  const strangers = Array.from({ length: 60 }, (_, n) => panel.get(`203.0.113.${n}`, `new-${n}`));
  await until('they have their places', () => panel.told.length >= 3);
  const known = panel.get('192.0.2.1', 'known');
  await until('it has its place', () => panel.told.length >= 4);
  expect(panel.told[3]).toStartWith('192.0.2.1,');
  panel.open();
  expect((await known).status).toBe(200);
  for (const { status } of await Promise.all(strangers)) expect(status).toBe(200);
});
