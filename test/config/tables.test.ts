/** Settings that are tables: `[[gate.upstream]]` and `[gate.text.en]`, and the same as JSON. */

import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeBetween, loadConfig, reloaded } from '../../src/config/load.ts';
import { shownSettings } from '../../src/config/render.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatepost-tables-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'gatepost.toml');

function loaded(...lines: string[]) {
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  return loadConfig({ configFile: file }, {});
}

const NONE = { GATEPOST_CONFIG: 'none' };

function mistakes(load: () => unknown): string[] {
  try {
    load();
  } catch (error) {
    return (error as Error).message
      .split('\n  ')
      .filter((line) => !line.endsWith('errors in the configuration:'))
      .map((line) => line.replace(`${file}:`, ''));
  }
  return [];
}

const mistakesOf = (...lines: string[]) => mistakes(() => loaded(...lines));

const TEMPLATE = 'a path of which one segment is {key}, such as /sub/{key}';

const UPSTREAM = [
  '[[gate.upstream]]',
  'host = "Sub.Example.ORG."',
  'url = "http://127.0.0.1:8000/"',
  'provider = "Ab3dE5gH"',
  'default_limit = 3',
];

describe('[[gate.upstream]]', () => {
  test('is read key by key; what is absent has its default', () => {
    const { gateUpstreams } = loaded(
      ...UPSTREAM,
      '[[gate.upstream]]',
      'host = "b.example.org"',
      'url = "https://panel.example.org:8443/base/"',
      'provider = "Ab3dE5gH"',
      'default_limit = 100',
      'key_path = ["/s/{key}", "/sub/v2/{key}"]',
      'timeout_seconds = 5',
      'browsers = "pass"',
    ).config;
    expect(gateUpstreams).toMatchObject([
      {
        host: 'sub.example.org',
        url: 'http://127.0.0.1:8000',
        provider: 'Ab3dE5gH',
        keyPaths: [{ text: '/sub/{key}' }],
        key: 'plain',
        codesAsKeys: false,
        keySecretFile: '',
        defaultLimit: 3,
        cutOff: false,
        panelAdmin: '',
        unlimitedAs: 100,
        browsers: 'refuse',
        otherPaths: 'refuse',
        refusedStatus: 404,
        timeoutMs: 30_000,
        answerBytesMax: 64 * 1024 ** 2,
        requestsMax: 256,
        hostHeader: 'original',
        ride: 'notifications',
        announce: 'message',
        providerIdFile: '',
        updateIntervalHours: 0,
      },
      {
        url: 'https://panel.example.org:8443/base',
        keyPaths: [{ text: '/s/{key}' }, { text: '/sub/v2/{key}' }],
        timeoutMs: 5_000,
        browsers: 'pass',
      },
    ]);
    expect(loaded(...UPSTREAM, 'key_path = []').config.gateUpstreams[0]?.keyPaths).toEqual([]);
    expect(loaded('[gate]').config.gateUpstreams).toEqual([]);
  });

  test('each mistake has its line, and the number of the table', () => {
    const wrong = [
      '[[gate.upstream]]',
      'host = "https://sub.example.org"',
      'url = "http://bot:hunter2@127.0.0.1:8000"',
      'provider = "Ab3"',
      'default_limit = 101',
      'key_path = ["/sub/{key}", "/sub"]',
      'browsers = true',
      'timeout_seconds = 5.0',
      'hots = "x"',
      'refused_status = { code = 404 }',
    ];
    expect(mistakesOf(...UPSTREAM, ...wrong)).toEqual([
      '14: gate.upstream.2.hots: there is no such key; the nearest is host',
      "7: gate.upstream.2.host: 'https://sub.example.org' is not a host name",
      '8: gate.upstream.2.url: it is not an http or https URL without user, query and fragment',
      "9: gate.upstream.2.provider: 'Ab3' must be 8 letters and digits",
      `11: gate.upstream.2.key_path: '/sub' must be ${TEMPLATE}`,
      "10: gate.upstream.2.default_limit: '101' is not a whole number from 1 to 100",
      '12: gate.upstream.2.browsers: it must be a string',
      '15: gate.upstream.2.refused_status: it must be a whole number',
      '13: gate.upstream.2.timeout_seconds: it must be a whole number',
    ]);
  });

  test('what must be given is missed at the head of the table', () => {
    expect(mistakesOf('', '[[gate.upstream]]', 'browsers = "pass"')).toEqual([
      '2: gate.upstream.1: host is missing',
      '2: gate.upstream.1: url is missing',
      '2: gate.upstream.1: provider is missing',
      '2: gate.upstream.1: default_limit is missing',
    ]);
  });

  test('the hosts of ride.hosts are host names, each once, and 64 at most', () => {
    const of = (...hosts: string[]) => `[ride]\nhosts = ${JSON.stringify(hosts)}`;
    const { rideHosts, rideHours, gateRide } = loaded(of('A.example.org.', 'a.example.org')).config;
    expect([rideHosts, rideHours, gateRide]).toEqual([['a.example.org'], 72, 'off']);
    expect(loaded('').config.rideHosts).toEqual([]);
    const many = Array.from({ length: 65 }, (_, at) => `h${at}.example.org`);
    expect(loaded(of(...many.slice(1))).config.rideHosts).toHaveLength(64);
    expect(mistakesOf(of(...many))).toEqual(['2: ride.hosts: there are more than 64 hosts']);
    expect(mistakesOf(of('https://a.example.org/'))).toEqual([
      "2: ride.hosts: 'https://a.example.org/' is not a host name",
    ]);
  });

  test('a host has one table, however it is written', () => {
    const other = UPSTREAM.with(1, 'host = "sub.example.org"');
    expect(mistakesOf(...UPSTREAM, ...other)).toEqual([
      '6: gate.upstream.2: there is a table for sub.example.org already',
    ]);
    expect(mistakesOf(...UPSTREAM, ...UPSTREAM.with(1, 'host = "other.example.org"'))).toEqual([]);
  });

  test('has at most 16 templates', () => {
    const of = (count: number) => `key_path = ${JSON.stringify(Array(count).fill('/sub/{key}'))}`;
    expect(loaded(...UPSTREAM, of(16)).config.gateUpstreams[0]?.keyPaths).toHaveLength(16);
    expect(mistakesOf(...UPSTREAM, of(17))).toEqual([
      '6: gate.upstream.1.key_path: there are more than 16 paths',
    ]);
  });

  test('there are at most 64', () => {
    const of = (count: number) =>
      Array.from({ length: count }, (_, at) => UPSTREAM.with(1, `host = "h${at}.example.org"`));
    expect(loaded(...of(64).flat()).config.gateUpstreams).toHaveLength(64);
    expect(mistakesOf(...of(65).flat())).toEqual(['1: gate.upstream: there are more than 64']);
  });

  test.each([
    ['one table', '[gate.upstream]', '1: gate.upstream is a table: write [[gate.upstream]]'],
    ['a value', 'gate.upstream = []', '1: gate.upstream is a table: write [[gate.upstream]]'],
    [
      'a value within',
      '[gate]\nupstream = "x"',
      '2: gate.upstream is a table: write [[gate.upstream]]',
    ],
    ['a table of tables', '[gate.upstream.x]', '1: there is no setting gate.upstream.x'],
    ['a list of texts', '[[gate.text.en]]', '1: there is no setting gate.text.en'],
    [
      'keys of a table beside it',
      '[gate]\nenforce = true',
      '2: there is no setting gate.enforce, but [[gate.upstream]] has such a key',
    ],
    [
      'a key that no table has',
      '[gate]\nhosts = true',
      '2: there is no setting gate.hosts; the nearest is ride.hosts',
    ],
    ['texts alone', '[gate.text]', '1: gate.text is a table: write [gate.text.en]'],
  ])('is not written as %s', (_, source, mistake) => {
    expect(mistakesOf(source)).toEqual([mistake]);
  });
});

test('a key of a panel has what it needs, and nothing for which there is no use', () => {
  const asked = 'behind /gate only the secret proves a token';
  expect(mistakesOf('[gate]', 'key = "marzban"')).toEqual([
    `gate.key = "marzban" needs gate.key_secret_file: ${asked}`,
  ]);
  expect(mistakesOf('[gate]', 'key_secret_file = "/s"')).toEqual([
    'gate.key_secret_file is for tokens of a panel: set gate.key, or remove it',
  ]);
  expect(mistakesOf(...UPSTREAM, 'key_secret_file = "/s"')).toEqual([
    'gate.upstream: key_secret_file of sub.example.org is for tokens of a panel: set key, or remove it',
  ]);
  const { gateKey, gateKeySecretFile, gateUpstreams } = loaded(
    ...['[gate]', 'key = "pasarguard"', 'key_secret_file = "/s"'],
    ...[...UPSTREAM, 'key = "marzban"'],
  ).config;
  expect([gateKey, gateKeySecretFile]).toEqual(['pasarguard', '/s']);
  expect(gateUpstreams).toMatchObject([{ key: 'marzban', keySecretFile: '' }]);
});

test.each([
  [['panel_token_file = "/t"'], 'gate.panel_token_file needs gate.panel, the panel to ask'],
  [
    ['panel = "hiddify"', 'panel_token_file = "/t"'],
    'gate.panel_token_file needs gate.panel_url, the URL of that API',
  ],
  [
    ['panel = "hiddify"', 'panel_url = "http://127.0.0.1:1"'],
    'gate.panel_url needs gate.panel_token_file, the token of that API',
  ],
  [
    ['panel_headers_file = "/h"'],
    'gate.panel_headers_file needs gate.panel_token_file, the token of that API',
  ],
  [['read = "panel"'], 'gate.read = "panel" needs gate.panel_token_file, the token of that API'],
  [
    ['panel = "marzban"', 'panel_token_file = "/t"', 'panel_url = "http://127.0.0.1:1"'],
    'gate.panel = "marzban" needs gate.key = "marzban": its API knows users, not tokens',
  ],
])('questions of the gate need the API of a panel: %j', (lines, sentence) => {
  expect(mistakesOf('[gate]', ...lines)).toEqual([sentence]);
});

test('the panel of the gate is the one that its key names, or the one that is set', () => {
  const api = ['panel_url = "http://127.0.0.1:1"', 'panel_token_file = "/t"'];
  const signed = ['key = "marzban"', 'key_secret_file = "/s"'];
  const { config } = loaded('[gate]', ...signed, ...api);
  expect([config.gatePanel, config.gatePanelUrl, config.gatePanelTokenFile]).toEqual([
    ...['', 'http://127.0.0.1:1', '/t'],
  ]);
  expect(loaded('[gate]', 'panel = "3x-ui"').config.gatePanel).toBe('3x-ui');
});

describe('[gate.text.LANGUAGE]', () => {
  test('is kept by the language in lower case; texts that are absent or empty are left out', () => {
    const { gateTexts } = loaded(
      '[gate.text.ru]',
      'link_limit_reached = "Все устройства заняты"',
      'link_disabled = ""',
      '[gate.text.pt-BR]',
      '[gate.text."zh-Hans"]',
      `hwid_required = "${'х'.repeat(200)}"`,
    ).config;
    expect(gateTexts).toEqual({
      ru: { link_limit_reached: 'Все устройства заняты' },
      'pt-br': {},
      'zh-hans': { hwid_required: 'х'.repeat(200) },
    });
  });

  test('mistakes', () => {
    const source = [
      '[gate.text.e]',
      '[gate.text.ru]',
      'limit = "x"',
      `hwid_required = "${'x'.repeat(201)}"`,
      'link_disabled = "two\\nlines"',
      'link_not_found = 1',
      '[gate.text.RU]',
      '[gate.text.__proto__]',
    ];
    expect(mistakesOf(...source)).toEqual([
      "1: gate.text.e: 'e' is not a language such as en or pt-BR",
      '3: gate.text.ru.limit: there is no such key',
      '4: gate.text.ru.hwid_required: it is not one line of up to 200 characters',
      '6: gate.text.ru.link_not_found: it must be a string',
      '5: gate.text.ru.link_disabled: it is not one line of up to 200 characters',
      '7: gate.text.RU: there is a table for ru already',
      "8: gate.text.__proto__: '__proto__' is not a language such as en or pt-BR",
    ]);
  });
});

describe('in the environment', () => {
  const JSON_UPSTREAM = {
    host: 'sub.example.org',
    url: 'http://127.0.0.1:8000',
    provider: 'Ab3dE5gH',
    default_limit: 3,
  };
  const env = (value: unknown) => ({ ...NONE, GATEPOST_GATE_UPSTREAM: JSON.stringify(value) });

  test('tables are JSON, and replace those of the file', () => {
    const { gateUpstreams } = loadConfig({}, env([JSON_UPSTREAM])).config;
    expect(gateUpstreams).toEqual(loaded(...UPSTREAM).config.gateUpstreams);
    const texts = { ...NONE, GATEPOST_GATE_TEXT: '{"en":{"link_disabled":"Off"}}' };
    expect(loadConfig({}, texts).config.gateTexts).toEqual({ en: { link_disabled: 'Off' } });
    writeFileSync(file, UPSTREAM.join('\n'), { mode: 0o600 });
    const both = loadConfig({ configFile: file }, { GATEPOST_GATE_UPSTREAM: '[]' });
    expect(both.config.gateUpstreams).toEqual([]);
  });

  test.each([
    ['{', 'it is not JSON'],
    ['{}', 'it is not a JSON array of objects'],
    ['[1]', '1: it is not an object'],
    ['['.repeat(100_000), 'it is not JSON'],
  ])('what is no list of tables is a mistake: %.3s', (text, mistake) => {
    const load = () => loadConfig({}, { ...NONE, GATEPOST_GATE_UPSTREAM: text });
    expect(mistakes(load)).toEqual([`GATEPOST_GATE_UPSTREAM: ${mistake}`]);
  });

  test('a mistake in a key has the number of its table', () => {
    expect(mistakes(() => loadConfig({}, env([{ ...JSON_UPSTREAM, host: 1, b: 1 }])))).toEqual([
      'GATEPOST_GATE_UPSTREAM: 1.b: there is no such key',
      'GATEPOST_GATE_UPSTREAM: 1.host: it must be a string',
    ]);
  });
});

test.each([
  [[], 'limits = "panel" needs panel, the kind of panel to ask'],
  [['panel = "3x-ui"'], 'limits = "panel" needs panel_token_file, the token of its API'],
  [
    ['panel = "pasarguard"', 'panel_token_file = "/t"'],
    'panel = "pasarguard" needs key = "pasarguard": its API knows users, not tokens',
  ],
  [
    ['panel = "remnawave"', 'panel_token_file = "/t"', 'key = "marzban"'],
    'panel = "remnawave" does not know the users of key = "marzban"',
  ],
])('limits and figures of a panel need its API: %j', (lines, sentence) => {
  for (const asking of ['limits', 'read']) {
    const load = () => loaded(...UPSTREAM, `${asking} = "panel"`, ...lines);
    const said = sentence.replace(/^limits/, asking);
    expect(mistakes(load)[0]).toBe(`gate.upstream: ${said} (sub.example.org)`);
  }
});

const FOLLOWS = ['panel = "3x-ui"', 'follow = "5m"'];
const OTHER = UPSTREAM.map((line) => line.replace('Sub.', 'Two.').replace('Ab3dE5gH', 'Another1'));

test('two providers follow one panel only by tokens of their own', () => {
  const both = (first: string, second: string, other = OTHER) =>
    loaded(...UPSTREAM, ...FOLLOWS, first, ...other, ...FOLLOWS, second);
  const [one, two] = ['panel_token_file = "/one"', 'panel_token_file = "/two"'];
  const file = 'panel_file = "/panel.db"';
  const sentence =
    'gate.upstream: sub.example.org and two.example.org follow one panel for two providers: give each the token of an admin of its own, who sees its customers alone';
  expect(mistakes(() => both(one, one))).toEqual([sentence]);
  expect(mistakes(() => both(file, file))).toEqual([sentence]);
  expect(both(one, two).config.gateUpstreams).toHaveLength(2);
  const ofOne = UPSTREAM.map((line) => line.replace('Sub.', 'Two.'));
  expect(both(one, one, ofOne).config.gateUpstreams).toHaveLength(2);
});

test('headers of an access gateway need the token of the API', () => {
  const load = () => loaded(...UPSTREAM, 'panel_headers_file = "/h"');
  const sentence = 'panel_headers_file needs panel_token_file, the token of the API';
  expect(mistakes(load)[0]).toBe(`gate.upstream: ${sentence} (sub.example.org)`);
});

const MARZBAN = ['panel = "marzban"', 'key = "marzban"', 'panel_account_file = "/a"'];
const OPEN =
  'needs https, or a panel on this machine: the password would cross the network unencrypted';

test.each([
  [
    [...MARZBAN, 'panel_token_file = "/t"'],
    'panel_account_file and panel_token_file cannot be combined',
  ],
  [['panel_account_file = "/a"'], 'panel_account_file needs panel, the kind of panel to ask'],
  [
    ['panel = "3x-ui"', 'panel_account_file = "/a"'],
    'panel_account_file is for Marzban and PasarGuard: tokens of 3x-ui last, see panel_token_file',
  ],
  [[...MARZBAN, 'panel_url = "http://panel.example.org:8000"'], `panel_account_file ${OPEN}`],
  [[...MARZBAN, 'panel_url = "http://localhost.example.org"'], `panel_account_file ${OPEN}`],
])('the account of a panel goes to no other place: %j', (lines, sentence) => {
  for (const limits of [[], ['limits = "panel"']]) {
    const load = () => loaded(...UPSTREAM, ...limits, ...lines);
    expect(mistakes(load)).toContain(`gate.upstream: ${sentence} (sub.example.org)`);
  }
  if (lines.length === 1) return;
  const [gate, url] = [lines.filter((line) => !line.startsWith('key = ')), 'panel_url = '];
  const all = gate.some((line) => line.startsWith(url))
    ? gate
    : [...gate, `${url}"https://a.example"`];
  const key = lines.includes('key = "marzban"')
    ? ['key = "marzban"', 'key_secret_file = "/s"']
    : [];
  const named = sentence.replaceAll('panel_', 'gate.panel_');
  expect(mistakesOf('[gate]', ...key, ...all)).toContain(named);
});

test.each([
  'https://panel.example',
  'http://127.0.0.1:8000',
  'http://[::1]:8000',
  'http://localhost:8000',
])('the account of a panel may go to %s', (url) => {
  const lines = [...MARZBAN, `panel_url = "${url}"`, 'limits = "panel"'];
  expect(loaded(...UPSTREAM, ...lines).config.gateUpstreams[0]?.panelAccountFile).toBe('/a');
  const gate = ['[gate]', 'key_secret_file = "/s"', ...MARZBAN, `panel_url = "${url}"`];
  expect(loaded(...gate).config.gatePanelAccountFile).toBe('/a');
});

test('refusals as of a panel need its name', () => {
  const load = () => loaded(...UPSTREAM, 'refused_as = "panel"');
  const sentence = 'refused_as = "panel" needs panel, the kind of panel to imitate';
  expect(mistakes(load)[0]).toBe(`gate.upstream: ${sentence} (sub.example.org)`);
});

test('tables are shown by their keys, each with its origin', () => {
  const shown = shownSettings(loaded(...UPSTREAM, '[gate.text.ru]', 'link_disabled = "Нет"'));
  const rows = shown.filter(({ key }) => /^gate\.(upstream|text)/.test(key));
  expect(rows.map(({ key, value, origin }) => [key, value, origin])).toEqual([
    ['gate.upstream.1.host', 'Sub.Example.ORG.', `${file}:2`],
    ['gate.upstream.1.url', 'http://127.0.0.1:8000/', `${file}:3`],
    ['gate.upstream.1.provider', 'Ab3dE5gH', `${file}:4`],
    ['gate.upstream.1.key_path', '/sub/{key}', 'default'],
    ['gate.upstream.1.key', 'plain', 'default'],
    ['gate.upstream.1.codes_as_keys', 'false', 'default'],
    ['gate.upstream.1.key_secret_file', '', 'default'],
    ['gate.upstream.1.pass_paths', '', 'default'],
    ['gate.upstream.1.default_limit', '3', `${file}:5`],
    ['gate.upstream.1.limits', 'own', 'default'],
    ['gate.upstream.1.read', 'proxy', 'default'],
    ['gate.upstream.1.unlimited_as', '100', 'default'],
    ['gate.upstream.1.panel', '', 'default'],
    ['gate.upstream.1.panel_url', '', 'default'],
    ['gate.upstream.1.panel_token_file', '', 'default'],
    ['gate.upstream.1.panel_account_file', '', 'default'],
    ['gate.upstream.1.panel_headers_file', '', 'default'],
    ['gate.upstream.1.follow', '', 'default'],
    ['gate.upstream.1.panel_file', '', 'default'],
    ['gate.upstream.1.follow_gone', 'tell', 'default'],
    ['gate.upstream.1.follow_notes', 'false', 'default'],
    ['gate.upstream.1.cut_off', 'false', 'default'],
    ['gate.upstream.1.panel_admin', '', 'default'],
    ['gate.upstream.1.enforce', 'true', 'default'],
    ['gate.upstream.1.browsers', 'refuse', 'default'],
    ['gate.upstream.1.other_paths', 'refuse', 'default'],
    ['gate.upstream.1.refused_as', 'own', 'default'],
    ['gate.upstream.1.refused_status', '404', 'default'],
    ['gate.upstream.1.placeholder', 'false', 'default'],
    ['gate.upstream.1.timeout_seconds', '30', 'default'],
    ['gate.upstream.1.answer_bytes_max', '67108864', 'default'],
    ['gate.upstream.1.requests_max', '256', 'default'],
    ['gate.upstream.1.host_header', 'original', 'default'],
    ['gate.upstream.1.ride', 'notifications', 'default'],
    ['gate.upstream.1.announce', 'message', 'default'],
    ['gate.upstream.1.provider_id_file', '', 'default'],
    ['gate.upstream.1.update_interval_hours', '0', 'default'],
    ['gate.text.ru.hwid_required', '', 'default'],
    ['gate.text.ru.link_not_found', '', 'default'],
    ['gate.text.ru.link_disabled', 'Нет', `${file}:7`],
    ['gate.text.ru.link_limit_reached', '', 'default'],
    ['gate.text.ru.not_named', '', 'default'],
    ['gate.text.ru.barred', '', 'default'],
    ['gate.text.ru.copied_hwid', '', 'default'],
    ['gate.text.ru.subscription_ended', '', 'default'],
    ['gate.text.ru.traffic_used_up', '', 'default'],
    ['gate.text.ru.slot_freed', '', 'default'],
    ['gate.text.ru.link_ended', '', 'default'],
    ['gate.text.ru.link_replaced', '', 'default'],
  ]);
  const bare = shownSettings(loaded('')).filter(({ key }) => key === 'gate.upstream');
  expect(bare).toMatchObject([{ value: '', origin: 'default' }]);
});

test('a reload takes up tables, and only what changed is named', () => {
  const before = loaded(...UPSTREAM);
  const moved = loaded('', ...UPSTREAM);
  expect(changeBetween(before, moved)).toEqual({ live: [], waiting: [] });
  const after = loaded(...UPSTREAM, 'browsers = "pass"');
  expect(changeBetween(before, after)).toEqual({ live: ['gate.upstream'], waiting: [] });
  expect(reloaded(before, after).config.gateUpstreams).toMatchObject([{ browsers: 'pass' }]);
});
