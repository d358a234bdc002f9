/** The doctor at the settings of the gate: proxies, names, paths and secrets. */

import { afterAll, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { readKeyPath } from '../../src/core/key-path.ts';
import { isRefused } from '../../src/core/outcome.ts';
import { certifiedNames } from '../../src/doctor/certificate.ts';
import {
  checkLongHeads,
  checkNames,
  checkPagePath,
  checkProxies,
  checkSecrets,
} from '../../src/doctor/gate.ts';
import { checkStrangers } from '../../src/doctor/strangers.ts';
import { freshFolder } from '../support/app.ts';
import { NOW_MS } from '../support/backup.ts';
import { filesIn, selfSigned, writePair } from '../support/certificate.ts';

const folder = freshFolder();
const PROVIDER = 'CODE1000';
const NONE = { GATEPOST_DATA: join(folder, 'data'), GATEPOST_CONFIG: 'none' };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('proposes the secret of each panel that signs', () => {
  const upstream = { url: 'http://127.0.0.1:1', provider: PROVIDER, default_limit: 1 };
  const file = join(folder, 'secret-of-panel');
  writeFileSync(file, `${'s'.repeat(64)}\n`, { mode: 0o600 });
  const tables = JSON.stringify([
    { ...upstream, host: 'a.example.org', key: 'marzban' },
    { ...upstream, host: 'b.example.org', key: 'pasarguard', key_secret_file: file },
    { ...upstream, host: 'c.example.org', key: 'hiddify' },
    { ...upstream, host: 'd.example.org', panel: 'marzban' },
  ]);
  const { config } = loadConfig({}, { ...NONE, GATEPOST_GATE_UPSTREAM: tables });
  expect(checkSecrets(config)).toEqual([
    {
      name: 'panel_token_secret_unknown',
      subject: 'a.example.org',
      check: 'gate',
      level: 'warning',
      what: 'the panel of a.example.org signs tokens, and its secret is not known here: each guess is asked of the panel',
      todo: 'set key_secret_file of gate.upstream to a file with the secret: docs/gate.md, "Signed tokens"',
    },
  ]);
});

test('finds hosts that the certificate is not valid for', () => {
  const upstream = { url: 'http://127.0.0.1:1', provider: PROVIDER, default_limit: 1 };
  const hosts = ['sub.example.org', 'b.sub.example.org', 'example.org', 'other.example.com'];
  const tables = JSON.stringify(hosts.map((host) => ({ ...upstream, host })));
  const { config } = loadConfig({}, { ...NONE, GATEPOST_GATE_UPSTREAM: tables });
  const missed = (names: string[] | null) =>
    checkNames(config, names).map(({ what }) => what.split(' ').at(-1));
  expect(missed(['*.Example.org', 'other.example.com'])).toEqual([
    'b.sub.example.org',
    'example.org',
  ]);
  expect(missed([])).toEqual(hosts);
  expect(missed(null)).toEqual([]);
});

test('the names are those of the file, or those that are asked for', async () => {
  const names = (env: Record<string, string>) =>
    certifiedNames(loadConfig({}, { ...NONE, ...env }).config, NOW_MS);
  const files = filesIn(folder);
  writePair(folder, await selfSigned('gate', { names: ['sub.example.org'], fromMs: NOW_MS }));
  const own = { GATEPOST_TLS_CERTIFICATE: files.certificate, GATEPOST_TLS_KEY: files.key };
  expect(names(own)).toEqual(['sub.example.org']);
  expect(names({ GATEPOST_ACME_DOMAINS: 'a.example.org' })).toEqual(['a.example.org']);
  expect(names({})).toBeNull();
  // That is a finding of another check.
  expect(names({ ...own, GATEPOST_TLS_KEY: join(folder, 'none') })).toBeNull();
});

test('finds who may ask /gate and should not, and where nobody may', () => {
  const found = (env: Record<string, string>) =>
    checkProxies(loadConfig({}, { ...NONE, ...env })).map(({ level, what }) => [level, what]);
  const keyPaths = { GATEPOST_GATE_KEY_PATHS: '/s/{key}' };
  const trusted = { GATEPOST_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' };
  const named = (networks: string) => ({ GATEPOST_GATE_PROXIES: networks });
  const shut = [['warning', 'gate.key_paths is set, but no proxy may ask: /gate refuses all']];
  const open = [
    [
      'warning',
      'every proxy in server.trusted_proxies may ask /gate: ' +
        'if one of them forwards a request from outside to /gate, it opens links',
    ],
  ];
  const alone = [
    [
      'warning',
      'a proxy in gate.proxies is not in server.trusted_proxies: its clients count as one',
    ],
  ];
  expect(found({})).toEqual([]);
  expect(found(keyPaths)).toEqual(shut);
  expect(found({ ...keyPaths, ...trusted, ...named(',') })).toEqual(shut);
  expect(found(trusted)).toEqual(open);
  expect(found({ ...trusted, ...keyPaths })).toEqual(open);
  expect(found({ ...trusted, ...named('server.trusted_proxies') })).toEqual(open);
  expect(found({ ...trusted, ...named(',') })).toEqual([]);
  expect(found({ ...trusted, ...named('127.0.0.1, 10.1.0.0/16') })).toEqual([]);
  expect(found({ ...trusted, ...named('127.0.0.1,192.0.2.1') })).toEqual(alone);
  expect(found(named('127.0.0.1'))).toEqual(alone);
});

test('finds a key that the page of users would hide, where its provider has the page', () => {
  const template = readKeyPath('/{key}');
  if (isRefused(template)) throw new Error(template.detail);
  const config = (myPath: string, path = template) => ({
    myPath,
    gateUpstreams: [{ host: 'a.example.org', provider: PROVIDER, keyPaths: [path] }] as never,
  });
  const found = (paged: string[], myPath = '/my') =>
    checkPagePath(config(myPath), paged).map(({ level, what }) => `${level}: ${what}`);
  expect(found([PROVIDER])).toEqual([
    "warning: a subscription of a.example.org with the key 'my' gets the page of users instead",
  ]);
  expect(found([])).toEqual([]);
  expect(found([PROVIDER], '')).toEqual([]);
  const below = readKeyPath('/sub/{key}');
  if (isRefused(below)) throw new Error(below.detail);
  expect(checkPagePath(config('/my', below), [PROVIDER])).toEqual([]);
});

test('names the line of nginx where messages ride through proxies', () => {
  const found = (env: Record<string, string>) =>
    checkLongHeads(loadConfig({}, { ...NONE, ...env }));
  const trusted = { GATEPOST_TRUSTED_PROXIES: '127.0.0.1' };
  expect(found({})).toEqual([]);
  expect(found(trusted)).toEqual([]);
  expect(found({ GATEPOST_GATE_RIDE: 'on' })).toEqual([]);
  expect(found({ ...trusted, GATEPOST_GATE_RIDE: 'notifications' })).toMatchObject([
    { level: 'ok', what: expect.stringContaining('upstream sent too big header') },
  ]);
});

test('offers the quiet answer where strangers reach the server, and names its hosts', () => {
  const upstream = { url: 'http://127.0.0.1:1', provider: PROVIDER, default_limit: 1 };
  const panel = JSON.stringify([{ ...upstream, host: 'sub.example.org' }]);
  const found = (env: Record<string, string>, names: string[] | null = null) => {
    const loaded = loadConfig({}, { ...NONE, ...env });
    return checkStrangers(loaded, loaded.config, names).map(({ level, what, todo }) => ({
      level,
      what,
      todo: todo ?? '',
    }));
  };
  // Only the machine itself reaches it.
  expect(found({})).toEqual([]);
  const ways = [
    { GATEPOST_HOST: '0.0.0.0' },
    { GATEPOST_TRUSTED_PROXIES: '127.0.0.1' },
    { GATEPOST_GATE_UPSTREAM: panel },
  ];
  for (const way of ways) {
    const [offered] = found(way);
    expect(offered).toMatchObject({ level: 'warning' });
    expect(offered?.todo).toContain('set strangers = "quiet" and hosts = ["bot.example.com"]');
    const quiet = { ...way, GATEPOST_STRANGERS: 'quiet' };
    const [empty] = found(quiet, ['sub.example.org', 'shop.example.org', '*.example.org']);
    expect(empty?.what).toStartWith('server.hosts is empty');
    expect(empty?.todo).toContain(
      way.GATEPOST_GATE_UPSTREAM === undefined
        ? 'hosts = ["sub.example.org","shop.example.org"]'
        : 'hosts = ["shop.example.org"]',
    );
    expect(found({ ...quiet, GATEPOST_HOSTS: 'Shop.example.org' })).toMatchObject([
      { level: 'ok', what: expect.stringContaining('at shop.example.org') },
    ]);
  }
});
