import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError, UsageError } from '../../src/base/operator-error.ts';
import { changeBetween, loadConfig, reloaded } from '../../src/config/load.ts';
import { shownSettings } from '../../src/config/render.ts';
import { settingRows } from '../../src/config/settings/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatepost-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
/** A file with this text; its path. */
function fileOf(...lines: string[]): string {
  count += 1;
  const path = join(folder, `${count}.toml`);
  writeFileSync(path, lines.join('\n'), { mode: 0o600 });
  return path;
}

const NONE = { GATEPOST_CONFIG: 'none' };

describe('variables of a neighbour', () => {
  // As kubelet sets them for Services gatepost, gatepost-http and gatepost-monitor, and Docker for
  // a linked container.
  const KUBERNETES = {
    GATEPOST_SERVICE_HOST: '10.96.7.1',
    GATEPOST_SERVICE_PORT: '80',
    GATEPOST_SERVICE_PORT_HTTP: '80',
    GATEPOST_PORT: 'tcp://10.96.7.1:80',
    GATEPOST_PORT_80_TCP: 'tcp://10.96.7.1:80',
    GATEPOST_PORT_80_TCP_PROTO: 'tcp',
    GATEPOST_PORT_80_TCP_PORT: '80',
    GATEPOST_PORT_80_TCP_ADDR: '10.96.7.1',
    GATEPOST_HTTP_SERVICE_HOST: '10.96.7.2',
    GATEPOST_HTTP_PORT: 'tcp://10.96.7.2:80',
    GATEPOST_HTTP_PORT_53_UDP_ADDR: '10.96.7.2',
    GATEPOST_MONITOR_PORT: 'tcp://10.96.7.3:9180',
    GATEPOST_MONITOR_SERVICE_PORT_METRICS: '9180',
  };
  const DOCKER = { GATEPOST_NAME: '/web/gatepost', GATEPOST_ENV_PATH: '/usr/bin' };

  test('are none of ours: nothing is refused, the default holds, and they are named', () => {
    // Those of other programs are not named.
    const others = { REDIS_SERVICE_HOST: '10.96.7.4', REDIS_PORT: 'tcp://10.96.7.4:6379' };
    const loaded = loadConfig({}, { ...NONE, ...others, ...KUBERNETES, ...DOCKER });
    expect(loaded.config).toMatchObject({ port: 8080, monitorPort: 9180 });
    expect(loaded.sources.port.origin).toBe('default');
    expect(loaded.ignoredVariables).toEqual(Object.keys({ ...KUBERNETES, ...DOCKER }));
  });

  test('do not hide the file, nor what is written wrong by the operator', () => {
    const file = fileOf('[server]', 'port = 9000');
    const env = { GATEPOST_CONFIG: file, GATEPOST_PORT: KUBERNETES.GATEPOST_PORT };
    expect(loadConfig({}, env).config.port).toBe(9000);
    for (const [name, value] of [
      ['GATEPOST_PORT', 'tcp:80'],
      ['GATEPOST_NAME', 'gatepost'],
      ['GATEPOST_SERVICE', '10.96.7.1'],
      ['GATEPOST_PORT_HTTP', '80'],
    ] as const) {
      expect(() => loadConfig({}, { ...NONE, [name]: value })).toThrow(name);
    }
  });

  test('have no name of a setting, but for ports', () => {
    const names = settingRows.map(([, row]) => row.env).filter((name) => !name.endsWith('_PORT'));
    const env = Object.fromEntries(names.map((name) => [name, '']));
    expect(loadConfig({}, { ...env, ...NONE }).ignoredVariables).toEqual([]);
  });
});

describe('where a value comes from', () => {
  test('flags, then the environment, then the file, then the default', () => {
    const file = fileOf('[server]', 'port = 1', 'host = "file"', 'output_zone = "+01:00"');
    const env = { GATEPOST_CONFIG: file, GATEPOST_PORT: '2', GATEPOST_HOST: 'env' };
    const loaded = loadConfig({ port: '3' }, env);
    expect(loaded.file).toBe(file);
    expect(loaded.config).toMatchObject({
      port: 3,
      host: 'env',
      outputOffsetMinutes: 60,
      ledgerDays: 90,
    });
    expect(loaded.sources).toMatchObject({
      port: { text: '3', origin: '--port' },
      host: { text: 'env', origin: 'GATEPOST_HOST' },
      outputOffsetMinutes: { text: '+01:00', origin: `${file}:4` },
      ledgerDays: { text: '90', origin: 'default' },
    });
  });

  test('an empty variable or flag is as good as none', () => {
    const file = fileOf('[server]', 'port = 1');
    const env = { GATEPOST_CONFIG: file, GATEPOST_PORT: '' };
    expect(loadConfig({ port: '' }, env).config.port).toBe(1);
  });

  test('the flag --config goes before GATEPOST_CONFIG', () => {
    const wrong = fileOf('nothing = 1');
    const right = fileOf('[server]', 'port = 7');
    expect(loadConfig({ configFile: right }, { GATEPOST_CONFIG: wrong }).config.port).toBe(7);
  });

  test('the file in the data directory is found; it cannot set data', () => {
    const file = join(folder, 'gatepost.toml');
    writeFileSync(file, '[server]\nport = 5\n');
    const loaded = loadConfig({ dataDir: folder }, {});
    expect([loaded.file, loaded.config.port]).toEqual([file, 5]);
    expect(loadConfig({}, { GATEPOST_DATA: folder }).file).toBe(file);
    writeFileSync(file, 'data = "/elsewhere"\n');
    expect(() => loadConfig({ dataDir: folder }, {})).toThrow(
      `${file}:1: data cannot be set by the file in the data directory`,
    );
    rmSync(file);
  });

  test('a file that is named can say where the data is', () => {
    const file = fileOf('data = "/srv/gatepost"');
    expect(loadConfig({ configFile: file }, {}).config.dataDir).toBe('/srv/gatepost');
    expect(loadConfig({ configFile: file, dataDir: '/d' }, {}).config.dataDir).toBe('/d');
  });
});

const mistakesOf = (...args: Parameters<typeof loadConfig>): string => {
  try {
    loadConfig(...args);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('mistakes', () => {
  test('are said all at once, those of the file with their line', () => {
    const file = fileOf('[server]', 'prot = 1', 'port = 70000', 'host = 1', '[log]', 'level = "x"');
    const env = { GATEPOST_CONFIG: file, GATEPOST_PROT: '1', GATEPOST_LOG_FORMAT: 'xml' };
    expect(mistakesOf({ outputOffsetMinutes: 'x' }, env).split('\n  ')).toEqual([
      '7 errors in the configuration:',
      'unknown setting GATEPOST_PROT; the nearest is GATEPOST_PORT',
      `${file}:2: there is no setting server.prot; the nearest is server.port`,
      `${file}:4: server.host must be a string`,
      `${file}:3: server.port: '70000' is not a whole number from 0 to 65535`,
      "--outputOffsetMinutes: 'x' is not an offset from UTC such as +03:00",
      "GATEPOST_LOG_FORMAT: 'xml' is not human or json",
      `${file}:6: log.level: 'x' is not debug or info or warn or error`,
    ]);
  });

  test('one is one line', () => {
    expect(mistakesOf({}, { ...NONE, GATEPOST_PORT: 'x' })).toBe(
      "GATEPOST_PORT: 'x' is not a whole number from 0 to 65535",
    );
  });

  test('are those of the command line only if no other source has any', () => {
    const flags = { port: 'x' };
    expect(() => loadConfig(flags, NONE)).toThrow(UsageError);
    expect(() => loadConfig(flags, { ...NONE, GATEPOST_LOG_FORMAT: 'xml' })).toThrow(OperatorError);
    expect(() => loadConfig(flags, { ...NONE, GATEPOST_LOG_FORMAT: 'xml' })).not.toThrow(
      UsageError,
    );
  });

  test('a file in the data directory that cannot be read', () => {
    const data = mkdtempSync(join(folder, 'data-'));
    mkdirSync(join(data, 'gatepost.toml'));
    expect(mistakesOf({ dataDir: data }, {})).toBe(
      `cannot read ${join(data, 'gatepost.toml')}: it is a directory`,
    );
  });

  test('a named file that is missing or cannot be read', () => {
    const missing = join(folder, 'missing.toml');
    expect(mistakesOf({ configFile: missing }, {})).toBe(
      `cannot read ${missing}: there is no such file`,
    );
    expect(mistakesOf({ configFile: folder }, {})).toBe(`cannot read ${folder}: it is a directory`);
  });

  test.each([
    ['GATEPOST_MONITOR_PORT', 'on', 'is not a port from 0 to 65535 or off'],
    ['GATEPOST_BACKUP_AT', '25:00', 'is neither a time such as 03:30 nor a cron pattern'],
    ['GATEPOST_LOG_REQUESTS', 'yes', 'is not true or false'],
    ...['a b.example', '*.203.0.113.70', '203.0.113', '0xcb.0x71', '203.0.113.70:443', '*.::1'].map(
      (given): [string, string, string] => [
        'GATEPOST_ACME_DOMAINS',
        given,
        'is neither a host name nor an IP address',
      ],
    ),
    ['GATEPOST_ACME_DIRECTORY', 'ftp://x', 'is not an http or https address'],
  ])('%s cannot be %s', (name, value, sentence) => {
    expect(mistakesOf({}, { ...NONE, [name]: value })).toBe(`${name}: '${value}' ${sentence}`);
  });
});

test('a time of day and a cron pattern are both patterns of croner', () => {
  const at = (text: string) =>
    loadConfig({}, { ...NONE, GATEPOST_BACKUP_AT: text }).config.backupAt;
  expect([at(''), at('03:30'), at('00:00'), at('*/5 * * * *')]).toEqual([
    '',
    '30 3 * * *',
    '0 0 * * *',
    '*/5 * * * *',
  ]);
});

test.each([
  ['a mark of byte order and CRLF', '\uFEFF[server]\r\nport = 9000\r\n', null],
  ['bytes that are no text', Buffer.from([0x23, 0xff, 0xfe]), ' is not text in UTF-8'],
  ['too much of it', `#${'a'.repeat(1024 ** 2)}`, ' is larger than 1 MiB'],
  [
    'endless nesting',
    `x = ${'['.repeat(200_000)}${']'.repeat(200_000)}`,
    ':1: invalid TOML: too deeply nested',
  ],
  ['no address', '[server]\nhost = ""', ":2: server.host: '' is empty or has blanks around it"],
  ['no monitor', '[monitor]\nhost = ""', ":2: monitor.host: '' is empty or has blanks around it"],
  ['a list of sections', '[[backup]]', ':1: backup is a section: write [backup], once'],
])('a file with %s', (_, content, sentence) => {
  const file = fileOf('');
  writeFileSync(file, content);
  if (sentence === null) expect(loadConfig({ configFile: file }, {}).config.port).toBe(9000);
  else expect(mistakesOf({ configFile: file }, {})).toBe(file + sentence);
});

test('secrets are never shown', () => {
  const secret = 'correct horse battery staple';
  const file = fileOf('[acme]', `eab_key = "${secret}"`);
  const env = { GATEPOST_CONFIG: file, GATEPOST_BACKUP_PASSPHRASE: secret };
  const shown = shownSettings(loadConfig({}, env));
  expect(JSON.stringify(shown)).not.toContain(secret);
  const masked = shown.filter(({ value }) => value === '********').map(({ key }) => key);
  expect(masked).toEqual(['backup.passphrase', 'acme.eab_key']);
});

test('a reload takes what may change in flight, and says what waits', () => {
  const before = loadConfig({}, { ...NONE, GATEPOST_PORT: '1' });
  const env = { ...NONE, GATEPOST_PORT: '2', GATEPOST_STREAMS_MAX: '3', GATEPOST_LEDGER_DAYS: '4' };
  const after = loadConfig({}, env);
  expect(changeBetween(before, after)).toEqual({
    live: ['limits.streams_max', 'database.ledger_days'],
    waiting: ['server.port'],
  });
  const inForce = reloaded(before, after);
  expect(inForce.config).toMatchObject({ port: 1, streamCountMax: 3, ledgerDays: 4 });
  // The server has the old value of it, and each later reload names it.
  expect(inForce.sources.port.text).toBe('1');
  expect(changeBetween(inForce, after)).toEqual({ live: [], waiting: ['server.port'] });
  expect(changeBetween(after, after)).toEqual({ live: [], waiting: [] });
});

test('addresses of certificates come back in their shortest form', () => {
  const given = 'Gate.example.com,203.0.113.70,2001:DB8:0:0:0:0:0:1,*.example.com';
  const { acmeDomains } = loadConfig({}, { ...NONE, GATEPOST_ACME_DOMAINS: given }).config;
  const [name, ...others] = acmeDomains;
  expect(name).toBe('gate.example.com');
  expect(others).toEqual(['203.0.113.70', '2001:db8::1', '*.example.com']);
});
