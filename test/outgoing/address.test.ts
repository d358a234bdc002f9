import { describe, expect, test } from 'bun:test';
import { BlockList, isIPv6 } from 'node:net';
import {
  addressOf,
  isCallable,
  readNetwork,
  readOperatorUrl,
  readPublicUrl,
} from '../../src/core/outbox/address.ts';
import type { Reach } from '../../src/core/port/reach.ts';

const STRICT: Reach = { outgoingAllow: [], outgoingAllowHttp: false };
const networks = (...texts: string[]) => texts.flatMap((text) => readNetwork(text) ?? []);

const NOT_PUBLIC = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255'],
  ...['127.0.0.1', '127.255.255.255', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...['192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.51.100.1'],
  ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['168.63.129.16', '100.100.100.200', '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1'],
  ...[
    '::ffff:a00:1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
  ],
  ...['64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1'],
  ...['fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1'],
];
const PUBLIC = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
  ...['172.15.255.255', '172.32.0.0', '192.167.255.255', '223.255.255.255', '::ffff:8.8.8.8'],
  ...['2001:4860:4860::8888', '2a00:1450:4001::1', '2606:4700::1111', '3ffe:ffff::1'],
];
const METADATA = '169.254.169.254';
const NO_ADDRESS = [
  ...[
    '',
    ' ',
    'example.com',
    '1.2.3',
    '01.2.3.4',
    '1.2.3.256',
    '1.2.3.4.',
    '1.2.3.4.5',
    '0x7f.0.0.1',
  ],
  ...['fe80::1%eth0', '[::1]', '::1 ', ':::', '1::2::3', '12345::', '::ffff:1.2.3.256'],
];

describe('addresses that may be called', () => {
  test.each(NOT_PUBLIC)('%s is not public', (address) => {
    expect(isCallable(address, [])).toBe(false);
  });

  test.each(PUBLIC)('%s is public', (address) => {
    expect(isCallable(address, [])).toBe(true);
  });

  test.each(NO_ADDRESS)("'%s' is no address", (address) => {
    expect(isCallable(address, networks('0.0.0.0/0', '::/0'))).toBe(false);
  });

  test('what the operator lists may be called, and no more than that', () => {
    const allow = networks('10.1.0.0/16', '192.168.7.9', 'fd00:1::/32');
    for (const address of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', '192.168.7.9']) {
      expect(isCallable(address, allow)).toBe(true);
    }
    expect(isCallable('fd00:1:ffff::1', allow)).toBe(true);
    for (const address of ['10.0.255.255', '10.2.0.0', '192.168.7.8', 'fd00:2::1', '::10.1.2.3']) {
      expect(isCallable(address, allow)).toBe(false);
    }
  });

  test('a network is read as the system reads it', () => {
    const TEXTS = ['10.0.0.0/8', '172.16.0.0/12', '1.2.3.4/31', '0.0.0.0/0', '8.8.8.8', 'fd00::/8'];
    const ADDRESSES = [...NOT_PUBLIC, ...PUBLIC].filter((address) => !address.includes('ffff:'));
    for (const text of [...TEXTS, '2001:db8::/33', '2000::/3', '::1']) {
      const [head = '', bits] = text.split('/');
      const list = new BlockList();
      const family = isIPv6(head) ? 'ipv6' : 'ipv4';
      list.addSubnet(head, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
      for (const address of ADDRESSES) {
        const isPublic = isCallable(address, []);
        const isListed = list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
        expect([text, address, isCallable(address, networks(text))]).toEqual([
          ...[text, address],
          isPublic || isListed,
        ]);
      }
    }
  });

  test.each([
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10/8',
    'example.com',
    'a/8',
  ])("'%s' is no network", (text) => expect(readNetwork(text)).toBeNull());
});

describe('untrusted addresses', () => {
  const detailOf = (text: string, reach = STRICT) => {
    const read = readPublicUrl(text, reach);
    return read instanceof URL ? null : read.detail;
  };

  test.each([
    'https://push.example.com/send/abc?x=1',
    'https://push.example.com:8443/',
    'HTTPS://PUSH.example.com',
    'https://[2606:4700::1111]/x',
    'https://xn--e1afmkfd.example.com/',
    'https://intranet/',
    'https://localhost.example.com/',
    `https://${PUBLIC[0]}/x`,
  ])('%s may be stored', (text) => {
    expect(detailOf(text)).toBeNull();
  });

  test.each([
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001'],
    ...['0x7f.1', '0177.0.0.1', '017700000001', '127.0.0.1:8443'],
    ...['0', '0.0.0.0', '10.1', '192.168.257'],
    ...['169.254.169.254', '2852039166', '0xa9fea9fe'],
    ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:7f00:1]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:169.254.169.254]', '[fe80::1]'],
    ...['[64:ff9b::7f00:1]', '[fd00:ec2::254]', '[2002:7f00:1::]'],
    ...['localhost', 'LOCALHOST:9', 'a.localhost', 'a.b.LocalHost'],
    // Digits and letters that a URL parser takes for those of ASCII.
    ...['１２７.0.0.1', '①②⑦.⓪.⓪.①', 'ⓛocalhost', '127。0。0。1'],
  ])('%s leads into a network that is not public', (host) => {
    expect(detailOf(`https://${host}/latest`)).toBe('leads to a network that is not public');
  });

  test.each([
    ...['', 'push.example.com', '//push.example.com', 'ftp://example.com/', 'file:///etc/passwd'],
    ...['gopher://example.com/', 'https:push.example.com', 'https:/example.com', 'https:///x'],
    ...['https://', 'https://?x', 'https://a b.example.com/', 'https://example.com/a b'],
    ...['https://example.com\\@10.0.0.1/', 'https://exa\tmple.com/', 'https://example.com/\n'],
    ...[
      ' https://example.com/',
      `https://${'1.2.3.4.5'}/`,
      `https://${'256.1.1.1'}/`,
      'https://[::1',
    ],
    ...['https://[fe80::1%25eth0]/', `https://example.com/${'x'.repeat(2048)}`, 'https://a\ud800/'],
  ])('%j is no address', (text) => {
    expect(detailOf(text)).toBe('is not an http or https address of up to 2048 characters');
  });

  test.each([
    'https://user@example.com/',
    'https://user:word@example.com/',
    'https://example.com@10.0.0.1/',
    'https://:@example.com:8443@10.0.0.1/',
  ])('%s has a user in it', (text) => {
    expect(detailOf(text)).toBe('has a user in it');
  });

  test('a dot at the end makes another name of the same host', () => {
    for (const host of ['example.com.', 'localhost.', 'a.localhost.']) {
      expect(detailOf(`https://${host}/`)).toBe('has a host name that ends in a dot');
    }
    expect(detailOf('https://127.0.0.1./')).not.toBeNull();
  });

  test('without TLS only where the operator allows it', () => {
    expect(detailOf('http://example.com/')).toBe('is not an https address');
    const open = { ...STRICT, outgoingAllowHttp: true };
    expect(detailOf('http://example.com/', open)).toBeNull();
    expect(detailOf(`http://${METADATA}/`, open)).toBe('leads to a network that is not public');
  });

  test('into a network that the operator lists', () => {
    const reach = { ...STRICT, outgoingAllow: networks('127.0.0.0/8', 'fd00::/8') };
    expect(detailOf('https://127.0.0.1/', reach)).toBeNull();
    expect(detailOf('https://localhost/', reach)).toBeNull();
    expect(detailOf('https://[fd00::1]/', reach)).toBeNull();
    expect(detailOf(`https://${METADATA}/`, reach)).not.toBeNull();
  });

  test('the operator may choose any host, and no user', () => {
    for (const text of ['http://127.0.0.1:9/x', 'https://localhost/', 'http://bot:8080']) {
      expect(readOperatorUrl(text)).toBeInstanceOf(URL);
    }
    expect(readOperatorUrl('https://a@example.com/')).toMatchObject({ detail: 'has a user in it' });
    expect(readOperatorUrl('file:///x')).not.toBeInstanceOf(URL);
  });

  test('a host that needs no look-up', () => {
    expect(addressOf('[::1]')).toBe('::1');
    expect(addressOf('8.8.8.8')).toBe('8.8.8.8');
    expect(addressOf('x.localhost')).toBe('127.0.0.1');
    expect(addressOf('localhost.')).toBe('127.0.0.1');
    expect(addressOf('notlocalhost')).toBeNull();
    expect(addressOf('example.com')).toBeNull();
  });
});
