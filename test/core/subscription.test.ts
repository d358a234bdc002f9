/** What counts as a list of servers, by its first characters. */

import { expect, test } from 'bun:test';
import { listsServers } from '../../src/core/subscription.ts';

const LINK = 'vless://user@node.example.com:443#one';
const inBase64 = (text: string) => Buffer.from(text).toString('base64');
const LONG = inBase64(Array.from({ length: 40 }, (_, n) => `${LINK}-${n}`).join('\n'));

test.each([
  ['a link', `${LINK}\n`],
  ['links of other kinds', `hysteria2://a@b:1\nss://x\n`],
  ['a scheme with a plus', 'naive+https://u:p@host:443'],
  ['links behind lines of an app', `#profile-title: Shop\n#announce: hi\n\n${LINK}\n`],
  ['links behind a mark and blanks', `\uFEFF\r\n ${LINK}`],
  ['base64 of links', inBase64(`${LINK}\n`)],
  ['base64 for URLs, without padding', inBase64(`${LINK}?\n`).replace(/=+$/, '')],
  ['base64 in lines', LONG.replace(/.{76}/g, '$&\r\n')],
  ['base64 of lines of an app', inBase64(`#profile-title: Shop\n${LINK}`)],
  ['Clash', 'port: 7890\nproxies:\n  - {name: a, type: ss}\n'],
  ['Clash behind a comment', '# shop\nmixed-port: 1\nproxy-groups:\n - name: a\n'],
  ['Clash with providers', 'proxy-providers:\n  a: {}\n'],
  ['sing-box', '{"log":{},"outbounds":[{"type":"vless"}]}'],
  ['sing-box in lines', '{\n  "outbounds" : [\n'],
  ['several of Xray', '[{"remarks":"a","outbounds":[]}]'],
  ['SIP008', '{"version":1,"servers":[]}'],
  ['WireGuard', '[Interface]\nPrivateKey = x\n'],
])('%s', (_what, text) => {
  expect(listsServers(text, true)).toBe(true);
});

test.each([
  ...['vless', 'vmess', 'trojan', 'ss', 'ssr', 'hysteria', 'hysteria2', 'hy2', 'tuic', 'wireguard'],
  ...['wg', 'awg', 'vpn', 'socks', 'socks5', 'anytls', 'juicity', 'mieru', 'mierus', 'ssh', 'sn'],
  ...['naive+https', 'naive+quic', 'snell', 'happ', 'incy', 'VLESS'],
])('a link that begins with %s', (scheme) => {
  expect(listsServers(`${scheme}://a`, true)).toBe(true);
});

test.each([
  ['nothing', ''],
  ['blanks', ' \r\n '],
  ['a page', '<!doctype html><a href="vless://a@b">'],
  ['a word', 'ok'],
  ['an address', 'https://example.com/'],
  ['base64 of another text', inBase64('no link in here at all')],
  ['JSON of another kind', '{"detail":"Not Found"}'],
  ['YAML of another kind', 'openapi: 3.0.0\npaths: {}\n'],
  ['a link in the middle of a line', `see ${LINK}`],
  ['style', 'body{margin:0}'],
])('not %s', (_what, text) => {
  expect(listsServers(text, true)).toBe(false);
});

test.each([
  ['the beginning of a scheme', 'vles', LINK],
  ['the beginning of base64', inBase64(LINK).slice(0, 6), inBase64(LINK)],
  ['comments alone', '# a\n# b\n', `# a\n# b\n${LINK}`],
  ['the head of a configuration', '{"log":{', '{"log":{},"outbounds":['],
  ['the head of YAML', 'port: 1\n', 'port: 1\nproxies:\n'],
])('%s does not decide', (_what, start, whole) => {
  expect(listsServers(start, false)).toBeNull();
  expect(listsServers(whole, false)).toBe(true);
  expect(listsServers(start, true)).toBe(false);
});
