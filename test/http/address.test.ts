import { describe, expect, test } from 'bun:test';
import {
  clientAddress,
  countedAs,
  networkOf,
  parseTrustedProxies,
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
