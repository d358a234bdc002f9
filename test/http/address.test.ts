import { describe, expect, test } from 'bun:test';
import {
  clientAddress,
  countedAs,
  networkOf,
  parseSharedAddresses,
  parseTrustedProxies,
  plainIPv4,
} from '../../src/http/request/address.ts';

describe('trusted networks', () => {
  test('are CIDR networks or single addresses', () => {
    const trusted = parseTrustedProxies(['10.0.0.0/8', 'fd00::/8', '192.0.2.7', '2001:db8::7']);
    const inside = ['10.255.0.1', 'fdff::1', '192.0.2.7', '2001:db8::7'];
    const outside = ['11.0.0.1', 'fe00::1', '192.0.2.8', '2001:db8::8', 'no address', ''];
    expect(inside.filter((address) => !trusted.includes(address))).toEqual([]);
    expect(outside.filter((address) => trusted.includes(address))).toEqual([]);
    const inTurn = ['10.0.0.1', '11.0.0.1', '10.0.0.1', '10.0.0.1', '11.0.0.1'];
    const answers = inTurn.map((address) => trusted.includes(address));
    expect(answers).toEqual([true, false, true, true, false]);
  });

  test('none are trusted unless named', () => {
    const none = parseTrustedProxies([]);
    expect(none.includes('127.0.0.1')).toBe(false);
    expect(none.includes('::1')).toBe(false);
  });

  test.each([
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0/8',
    'localhost',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '',
  ])('what is no network is refused: %j', (network) => {
    expect(() => parseTrustedProxies([network])).toThrow(
      new RangeError(`'${network}' is not a network`),
    );
  });
});

describe('the address of a client', () => {
  const trusted = parseTrustedProxies(['10.0.0.0/8', '::1']);

  test.each([
    ['no header', '192.0.2.1', null, '192.0.2.1'],
    ['a peer that is not trusted', '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['a trusted peer', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a trusted peer over IPv6', '::1', '198.51.100.1', '198.51.100.1'],
    ['a trusted peer on a dual-stack socket', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a chain of trusted proxies', '10.0.0.1', '198.51.100.1,10.0.0.3 , 10.0.0.2', '198.51.100.1'],
    ['a client that wrote the header itself', '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['nothing but proxies', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['an empty header', '10.0.0.1', '', '10.0.0.1'],
    ['an empty hop', '10.0.0.1', '198.51.100.1,', '10.0.0.1'],
    ['a hop with a port', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['an IPv6 hop with a port', '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['an IPv6 hop in brackets', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['a hop that is no address', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
    ['a hop that is far too long', '10.0.0.1', 'a'.repeat(10_000), '10.0.0.1'],
    ['a proxy that names itself twice', '10.0.0.1', '198.51.100.1, 10.0.0.1', '198.51.100.1'],
    [
      'a hop on a dual-stack socket, in hexadecimal',
      '10.0.0.1',
      '::ffff:c633:6401',
      '198.51.100.1',
    ],
    ['a trusted peer, in hexadecimal', '::ffff:0a00:1', '198.51.100.1', '198.51.100.1'],
    ['a hop with a zone', '10.0.0.1', 'fe80::1%secret', '10.0.0.1'],
    ['a hop on a dual-stack socket', '10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
  ])('%s', (_, peer, forwardedFor, address) => {
    const headers = new Headers(forwardedFor === null ? {} : { 'x-forwarded-for': forwardedFor });
    expect(clientAddress(peer, { headers }, trusted)).toBe(address);
  });

  test('the header of a peer that is not trusted is not read', () => {
    const request = {
      get headers(): Headers {
        throw new Error('the headers were read');
      },
    };
    expect(clientAddress('192.0.2.1', request, trusted)).toBe('192.0.2.1');
  });
});

describe('what a client is counted under', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
    ['unknown', 'unknown'],
  ])('%s', (address, network) => {
    expect(countedAs(address)).toBe(network);
  });
});

describe('the network around a client', () => {
  test.each([
    ['192.0.2.1', '192.0.2.0/24'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['0:0:0:0::/64', '0:0:0::/48'],
    ['', ''],
    ['unknown', 'unknown'],
    ['1:2::/64', '1:2::/64'],
  ])('%s', (client, network) => {
    expect(networkOf(client)).toBe(network);
  });
});

describe('networks of exits', () => {
  const of = (client: string, ...networks: string[]) =>
    parseSharedAddresses(networks).networkOf(client);

  test.each([
    ['203.0.113.9', ['203.0.113.9'], '203.0.113.9'],
    ['203.0.113.8', ['203.0.113.9'], null],
    ['203.0.113.15', ['198.51.100.1', '203.0.113.0/28'], '203.0.113.0/28'],
    ['203.0.113.16', ['203.0.113.0/28'], null],
    ['10.1.255.1', ['10.1.0.0/16'], '10.1.0.0/16'],
    // Clients are counted by their /64, so an address of IPv6 stands for that.
    ['2001:db8:5:7::/64', ['2001:db8:5:7::1'], '2001:db8:5:7::1'],
    ['2001:db8:5:7::/64', ['2001:db8:5:7:ff::/96'], '2001:db8:5:7:ff::/96'],
    ['2001:db8:5:8::/64', ['2001:db8:5:7::1'], null],
    ['2001:db8:0:0::/64', ['2001:db8::/48'], '2001:db8::/48'],
    ['2001:db8:1:0::/64', ['2001:db8::/48'], null],
    ['203.0.113.9', ['2001:db8::/48'], null],
    ['2001:db8:5:7::/64', ['203.0.113.0/24'], null],
    ['', ['203.0.113.0/24'], null],
    ['unknown', ['203.0.113.0/24'], null],
    ['link 7', ['203.0.113.0/24'], null],
  ])('%s, of %p', (client, networks, is) => {
    expect(of(client, ...networks)).toBe(is);
    expect(parseSharedAddresses(networks).includes(client)).toBe(is !== null);
  });

  test.each(['2001:db8:5:7:1:2:3:4', '2001:DB8:5:7::9', '203.0.113.9', '::ffff:203.0.113.9'])(
    'count %s as they know it',
    (address) => {
      const networks = ['2001:db8:5:7::/64', '203.0.113.9'];
      expect(of(countedAs(plainIPv4(address)), ...networks)).not.toBeNull();
    },
  );

  test.each(['0.0.0.0/0', '10.0.0.0/15', '::/0', '2001:db8::/31'])(
    'never one that only a carrier has: %s',
    (network) => {
      expect(() => parseSharedAddresses([network])).toThrow(/is wider than/);
    },
  );

  test.each(['203.0.113.9/33', 'exit.example', '203.0.113.0/', '2001:db8::/64/1', ''])(
    'never one that is none: %p',
    (network) => {
      expect(() => parseSharedAddresses([network])).toThrow(/is not a network/);
    },
  );

  test('are none by default', () => {
    expect(parseSharedAddresses([])).toMatchObject({ isNone: true });
    expect(of('203.0.113.9')).toBeNull();
  });
});
