import { expect, test } from 'bun:test';
import { serversIn } from '../../src/core/servers-in-text.ts';

const LINKS = [
  'vless://0000@node.example.com:443?type=tcp#one',
  'vmess://eyJhZGQiOiJub2RlIn0=',
  'trojan://secret@node.example.com:443',
  'ss://YWVzOnB3@node.example.com:1',
  'hysteria2://a@node.example.com:1',
  'hy2://a@node.example.com:1',
  'tuic://a:b@node.example.com:1',
  'wireguard://key@node.example.com:1',
];
const ALL = [
  ...[
    ['hysteria2', 2],
    ['ss', 1],
    ['trojan', 1],
    ['tuic', 1],
    ['vless', 1],
    ['vmess', 1],
  ],
  ['wireguard', 1],
];
const sorted = (text: string) => [...serversIn(text)].sort(([a], [b]) => (a < b ? -1 : 1));

const TEXTS: [string, string][] = [
  ['a list of links', LINKS.join('\n')],
  ['links in a page', LINKS.map((link) => `<li><a href="${link}">server</a></li>`).join('')],
  ['links in JSON with escaped slashes', JSON.stringify(LINKS).replaceAll('/', '\\/')],
  ['a list as base64', Buffer.from(LINKS.join('\n')).toString('base64')],
  [
    'a list as base64 in an attribute',
    `data="${Buffer.from(LINKS.join('\n')).toString('base64')}"`,
  ],
  ['a list as base64url', Buffer.from(LINKS.join('\n')).toString('base64url')],
];

test.each(TEXTS)('%s', (_, text) => {
  expect(sorted(text)).toEqual(ALL as [string, number][]);
});

test('outbounds of Xray and sing-box, and proxies of Clash', () => {
  const xray = JSON.stringify({ outbounds: [{ protocol: 'vless' }, { protocol: 'freedom' }] });
  const singBox = JSON.stringify(
    { outbounds: [{ type: 'hysteria2' }, { type: 'direct' }] },
    null,
    1,
  );
  const clash = 'proxies:\n  - {name: a, type: trojan, server: b}\n  - name: c\n    type: ss\n';
  expect(sorted(xray)).toEqual([['vless', 1]]);
  const both = JSON.stringify([{ link: 'vless://a@b:1', protocol: 'vless' }]);
  expect(sorted(both)).toEqual([['vless', 1]]);
  expect(sorted(singBox)).toEqual([['hysteria2', 1]]);
  expect(sorted(clash)).toEqual([
    ['ss', 1],
    ['trojan', 1],
  ]);
});

test.each([
  'wss://node.example.com/socket',
  'https://example.com/vless',
  'the type of trojans: vless is a protocol',
  '<script src="/assets/index-a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4.js"></script>',
  '',
])('no server: %s', (text) => {
  expect(sorted(text)).toEqual([]);
});

test('of many runs of base64 the first 200 are decoded', () => {
  const run = Buffer.from('vless://a@b.example:1').toString('base64');
  expect(sorted(`${run} `.repeat(201))).toEqual([['vless', 200]]);
});
