/** Which addresses the doctor may name, by the counts of the server, and what it never shows. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { findingsOf } from '../../src/doctor/shared-addresses.ts';
import { BusyAddresses } from '../../src/http/bound/busy-addresses.ts';
import { parseSharedAddresses, parseTrustedProxies } from '../../src/http/request/address.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { addLink, HASH, seedShop } from '../support/shop.ts';
import { takeSnapshot } from '../support/snapshot.ts';

const OWN = '203.0.113.5';
const OWN_V6 = '2001:db8:1:2::5';
const OTHER = '198.51.100.7';
const LISTED = '192.0.2.64/28';

/** Links are made on a day each ten, from the first. */
function counting(linksADay = 10) {
  let nowMs = 400 * DAY_MS;
  const asked: number[] = [];
  const busy = new BusyAddresses({
    settings: {
      sharedAddresses: parseSharedAddresses([LISTED]),
      trustedProxies: parseTrustedProxies(['203.0.113.99']),
    },
    own: new Set([OWN, OWN_V6, '203.0.113.99', '127.0.0.1']),
    nowMs: () => nowMs,
    madeAtMs: async (id) => {
      asked.push(id);
      return Math.floor(id / linksADay) * DAY_MS;
    },
  });
  const noteOne = (address: string, link: number) => {
    nowMs += 1;
    busy.note(() => address, link);
  };
  const note = (address: string, count: number, from = 0) => {
    for (let n = from; n < from + count; n += 1) noteOne(address, n);
  };
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { advance, asked, busy, note, noteOne };
}

describe('an address is busy', () => {
  test.each([
    [OWN, { whose: 'own', name: OWN }],
    [OWN_V6, { whose: 'own', name: OWN_V6 }],
    ['192.0.2.70', { whose: 'listed', name: LISTED }],
    [OTHER, { whose: 'other', name: '' }],
    ['2001:db8:9:9::1', { whose: 'other', name: '' }],
  ] as const)('from 101 links of many days on: %s', async (address, told) => {
    const { busy, note } = counting();
    note(address, 100);
    note(address, 100);
    expect(await busy.list()).toEqual([]);
    note(address, 1, 200);
    expect(await busy.list()).toEqual([{ ...told, linkCount: 101 }]);
  });

  test.each([1_000, 100, 25])('not from links of few first days: %p a day', async (linksADay) => {
    const { busy, note } = counting(linksADay);
    note(OWN, 240);
    expect(await busy.list()).toEqual([]);
  });

  test('by all addresses of an IPv6 /64 together, and no other one', async () => {
    const { busy, noteOne } = counting();
    for (let n = 0; n < 101; n += 1) noteOne(`2001:db8:9:9::${n.toString(16)}`, n);
    for (let n = 0; n < 101; n += 1) noteOne(`2001:db8:${n.toString(16)}::1`, n);
    expect(await busy.list()).toEqual([{ whose: 'other', name: '', linkCount: 101 }]);
  });

  test('on its day and the next, and not on a later one', async () => {
    const { advance, busy, note } = counting();
    note(OWN, 150);
    advance(DAY_MS);
    note(OWN, 120);
    expect(await busy.list()).toEqual([{ whose: 'own', name: OWN, linkCount: 150 }]);
    advance(DAY_MS);
    expect(await busy.list()).toEqual([{ whose: 'own', name: OWN, linkCount: 120 }]);
    advance(DAY_MS);
    expect(await busy.list()).toEqual([]);
  });

  test('never where only a proxy or this machine is known', async () => {
    const { busy, note } = counting();
    for (const address of ['', '127.0.0.1', '::1', '203.0.113.99']) note(address, 150);
    expect(await busy.list()).toEqual([]);
  });
});

test('first days are read of a part of the links, and once', async () => {
  const { asked, busy, note } = counting();
  note(OWN, 5_000);
  expect(await busy.list()).toEqual([{ whose: 'own', name: OWN, linkCount: 1_000 }]);
  expect(asked.length).toBeLessThanOrEqual(200);
  const before = asked.length;
  await busy.list();
  expect(asked.length).toBe(before);
});

test('a thousand calls of a second are looked at', () => {
  const { busy } = counting();
  let count = 0;
  const addressOf = () => {
    count += 1;
    return OTHER;
  };
  for (let n = 0; n < 5_000; n += 1) busy.note(addressOf, n);
  expect(count).toBe(1_000);
});

test('memory has a bound, and the newest addresses stay', async () => {
  const { busy, note, noteOne } = counting();
  for (let n = 0; n < 20_000; n += 1) noteOne(`2001:db8:${n.toString(16)}::1`, 1);
  expect(busy.size).toEqual({ addresses: 10_000, links: 10_000 });
  for (let n = 0; n < 150; n += 1) note(`198.51.100.${n}`, 1_200);
  expect(busy.size).toEqual({ addresses: 100, links: 100_000 });
  expect(await busy.list()).toEqual([{ whose: 'other', name: '', linkCount: 1_000 }]);
});

describe('a server', () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startTestApp({
      trustedProxies: parseTrustedProxies(['127.0.0.1']),
      ownAddresses: [OWN],
    });
    const own = await seedShop(app);
    for (let n = 0; n < 104; n += 1) {
      if (n % 8 === 0) app.clock.advance(DAY_MS);
      await addLink(app, own, code(n));
    }
  });
  afterEach(() => app.close());
  const code = (n: number) => `LinkCode${1000 + n}`;

  /** Each link's device calls from an address, as often. */
  async function callFrom(address: string, times: number, more: Record<string, string> = {}) {
    const headers = { 'x-forwarded-for': address };
    for (let n = 0; n < 104 * times; n += 1) {
      const link = n % 104;
      const query = { id: HASH, installid: code(link), hwid: `phone-${link}`, ...more };
      await call(app, '/install', null, query, { headers });
    }
  }
  const findings = async () => findingsOf(await app.metrics.text());

  test('proposes its own address, once devices with a slot came from it', async () => {
    await callFrom(OWN, 1);
    expect(await findings()).toEqual([]);
    await callFrom(OWN, 1);
    expect(await findings()).toMatchObject([
      {
        level: 'warning',
        name: 'exit_counts_as_one',
        subject: OWN,
        what: expect.stringContaining('devices of 104 links came in a day from 203.0.113.5'),
        todo: expect.stringContaining('shared_addresses = ["203.0.113.5"]'),
      },
    ]);
    app.settings.sharedAddresses = parseSharedAddresses(['203.0.113.0/28']);
    await callFrom(OWN, 1);
    expect((await findings()).map(({ level, what }) => [level, what])).toContainEqual([
      'ok',
      'devices of 104 links came from 203.0.113.0/28 of limits.shared_addresses in a day',
    ]);
  });

  test('tells of another address its number alone, and shows it nowhere', async () => {
    await callFrom(OTHER, 2);
    const [finding, ...others] = await findings();
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ level: 'ok', subject: null, todo: null });
    expect(finding?.what).toStartWith('devices of 104 links came in a day from one address');
    await app.core.store.saveFigures();
    const rows = [...(await takeSnapshot(app))].map((row) => JSON.stringify(row)).join('\n');
    for (const text of [JSON.stringify(finding), await app.metrics.text(), rows, ...app.logLines]) {
      expect(text).not.toContain(OTHER);
      expect(text).not.toContain('198.51.100');
    }
  });

  test('counts no invented keys, and no device that was refused', async () => {
    await callFrom(OWN, 2, { id: 'b'.repeat(64) });
    for (let n = 0; n < 300; n += 1) {
      const query = { id: HASH, installid: `Invented${1000 + n}`, hwid: 'phone' };
      const headers = { 'x-forwarded-for': OWN };
      await call(app, '/install', null, query, { headers });
    }
    expect(await findings()).toEqual([]);
  });
});
