/** The addresses that people, bots and apps use, and that of `gatepost console link`. */

import { expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';
import { publicUrls, urlForPeople } from '../../src/config/public-address.ts';

const configOf = (env: Record<string, string>) =>
  loadConfig({}, { GATEPOST_CONFIG: 'none', ...env }).config;

/** Settings of a certificate, and of hosts where strangers learn nothing. */
const TLS = { GATEPOST_TLS_CERTIFICATE: '/cert.pem', GATEPOST_TLS_KEY: '/key.pem' };
const QUIET = (hosts: string) => ({ GATEPOST_STRANGERS: 'quiet', GATEPOST_HOSTS: hosts });
const MY = { GATEPOST_MY_URL: 'https://my.example.com' };
const UPSTREAM = JSON.stringify([
  { host: 'sub.example.com', url: 'http://127.0.0.1:8000', provider: 'CODE1000', default_limit: 3 },
]);

interface Case {
  about: string;
  env?: Record<string, string>;
  /** Names of the certificate. */
  names?: string[];
  listensAt?: string;
  url: string;
}

const CASES: readonly Case[] = [
  { about: 'this machine', url: 'http://127.0.0.1:8080' },
  { about: 'all addresses', env: { GATEPOST_HOST: '0.0.0.0' }, url: 'http://127.0.0.1:8080' },
  { about: 'all of IPv6', env: { GATEPOST_HOST: '::' }, url: 'http://[::1]:8080' },
  { about: 'a picked port', listensAt: 'http://127.0.0.1:4711', url: 'http://127.0.0.1:4711' },
  {
    about: 'the name of the certificate',
    env: TLS,
    names: ['*.example.com', 'gate.example.com'],
    url: 'https://gate.example.com:8080',
  },
  {
    about: 'the name, with a picked port',
    env: { ...TLS, GATEPOST_PORT: '0' },
    names: ['gate.example.com'],
    listensAt: 'https://127.0.0.1:4711',
    url: 'https://gate.example.com:4711',
  },
  {
    about: 'the usual port',
    env: { ...TLS, GATEPOST_PORT: '443' },
    names: ['gate.example.com'],
    listensAt: 'https://127.0.0.1',
    url: 'https://gate.example.com',
  },
  { about: 'an address', env: TLS, names: ['127.0.0.1'], url: 'https://127.0.0.1:8080' },
  { about: 'an unreadable certificate', env: TLS, url: 'https://127.0.0.1:8080' },
  {
    about: 'ACME',
    env: { GATEPOST_ACME_DOMAINS: 'a.example.com', GATEPOST_PORT: '443' },
    names: ['a.example.com'],
    url: 'https://a.example.com',
  },
  { about: 'a proxy', env: MY, url: 'https://my.example.com' },
  {
    about: 'a proxy before the certificate',
    env: { ...TLS, ...MY },
    names: ['a.example.com'],
    url: 'https://my.example.com',
  },
  {
    about: 'an own host',
    env: QUIET('localhost,gate.example.com'),
    url: 'https://gate.example.com',
  },
  {
    about: 'an own host, as the console answers at no other',
    env: { ...QUIET('gate.example.com'), ...MY },
    url: 'https://gate.example.com',
  },
  { about: 'localhost alone', env: QUIET('localhost'), url: 'http://localhost:8080' },
  {
    about: 'no host of a panel',
    env: { ...TLS, GATEPOST_GATE_UPSTREAM: UPSTREAM },
    names: ['sub.example.com'],
    url: 'https://127.0.0.1:8080',
  },
];

test.each(CASES)('a link is to $about: $url', ({ env = {}, names = null, listensAt, url }) => {
  expect(urlForPeople(configOf(env), names, listensAt ?? null)).toBe(url);
});

test('public addresses are named once, and none that is of this machine alone', () => {
  const own = QUIET('localhost,127.0.0.1,my.example.com');
  expect(publicUrls(configOf({ ...own, ...MY }), null)).toEqual(['https://my.example.com']);
  expect(publicUrls(configOf({}), null)).toEqual([]);
});
