import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { Hosts } from '../../src/http/request/hosts.ts';

test('a host is read once, with its hash', () => {
  const hosts = new Hosts();
  const hash = createHash('sha256').update('sub.example.com').digest('hex');
  const found = hosts.find('Sub.Example.com.:443');
  expect(found).toEqual({ name: 'sub.example.com', hash });
  expect(hosts.find('Sub.Example.com.:443')).toBe(found);
  expect(hosts.find('no host')).toBeNull();
  expect(hosts.find('no host')).toBeNull();
});

test('so many hosts are remembered, and none that is long', () => {
  const hosts = new Hosts();
  const first = hosts.find('sub.example.com');
  for (let i = 0; i < 999; i++) hosts.find(`host-${i}.example.com`);
  expect(hosts.find('sub.example.com')).toBe(first);
  hosts.find('one-too-many.example.com');
  expect(hosts.find('sub.example.com')).not.toBe(first);
  expect(hosts.find('sub.example.com')).toEqual(first);

  const remembered = hosts.find('sub.example.com');
  for (let i = 0; i < 1_100; i++) expect(hosts.find(`${'a'.repeat(300)}${i}`)).toBeNull();
  expect(hosts.find('sub.example.com')).toBe(remembered);
});
