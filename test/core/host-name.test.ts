import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { hostHash, hostName } from '../../src/core/host-name.ts';

test.each([
  ['sub.example.com', 'sub.example.com'],
  ['SUB.Example.COM:8443', 'sub.example.com'],
  ['sub.example.com.', 'sub.example.com'],
  ['sub.example.com.:443', 'sub.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.example:80', 'xn--bcher-kva.example'],
  ['198.51.100.7:8080', '198.51.100.7'],
  ['localhost', 'localhost'],
])('%s is bound as %s', (written, name) => {
  expect(hostName(written)).toBe(name);
});

test.each([
  '',
  '.',
  ':80',
  'sub.example.com..',
  'sub.example.com:0',
  'sub.example.com:70000',
  'sub.example.com:80:80',
  'sub.example.com, other.example.com',
  'https://sub.example.com',
  'user@sub.example.com',
  'sub.example.com/path',
  'sub example.com',
  '[2001:db8::1]:443',
  '0x7f.1',
  'a'.repeat(254),
])('%s is no host', (written) => {
  expect(hostName(written)).toBeNull();
});

test('its hash is that of sha256sum, in hexadecimal', () => {
  const hash = createHash('sha256').update('sub.example.com').digest('hex');
  expect(hostHash('sub.example.com')).toBe(hash);
});
