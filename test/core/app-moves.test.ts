import { expect, test } from 'bun:test';
import { hostsOfMove, movingLines } from '../../src/core/app-moves.ts';

const base64 = (text: string) => `base64:${Buffer.from(text).toString('base64')}`;

test.each([
  ['sub.example.org', ['sub.example.org']],
  ['Sub.Example.org.', ['sub.example.org']],
  ['sub.example.org:8443', ['sub.example.org']],
  ['https://sub.example.org:8443/KEY?x=1#y', ['sub.example.org']],
  ['//sub.example.org/KEY', ['sub.example.org']],
  ['https:\\\\sub.example.org', ['sub.example.org']],
  ['https://пример.рф/KEY', ['xn--e1afmkfd.xn--p1ai']],
  ['https://a.example/1, https://b.example/2', ['a.example', 'b.example']],
  ['https://a.example/1 https://a.example/2', ['a.example']],
  [base64('https://a.example/KEY'), ['a.example']],
  ['192.0.2.1', ['192.0.2.1']],
  ['', []],
  ['https://user@a.example/KEY', ['?']],
  ['https://a.example\\@b.example/', ['?']],
  ['https://[2001:db8::1]/KEY', ['?']],
  ['%61.example', ['?']],
  [Array.from({ length: 9 }, (_, n) => `h${n}.example`).join(','), ['?']],
])('%s', (value, hosts) => {
  expect(hostsOfMove(value)).toEqual(hosts);
});

const HEAD =
  '#profile-title: Shop\n#New-URL: https://b.example/1\n// fallback-domain : c.example\n##a-new-domain d.example\n';
const LINES = [
  { name: 'new-url', value: 'https://b.example/1' },
  { name: 'fallback-domain', value: 'c.example' },
  { name: 'a-new-domain', value: 'd.example' },
];

test.each([
  ['plain', `${HEAD}vless://a@b.example:1#new-url: no\n`],
  ['base64', Buffer.from(`${HEAD}vless://a@b.example:1\n`).toString('base64')],
  [
    'base64 that is cut',
    Buffer.from(`${HEAD}vless://a@b.example:1\n`).toString('base64').slice(0, -5),
  ],
])('the lines at the head of a body, %s', (_, head) => {
  expect(movingLines(head)).toEqual(LINES);
});

test('a body without such lines', () => {
  expect(movingLines('proxies:\n  - {name: new-url, type: ss}\n')).toEqual([]);
  expect(movingLines('')).toEqual([]);
});
