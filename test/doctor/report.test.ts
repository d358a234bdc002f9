/** The doctor's output for others: stable, and without names, addresses and secrets. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { about, type Finding } from '../../src/base/finding.ts';
import { HiddenNames } from '../../src/config/hidden-names.ts';
import { loadConfig } from '../../src/config/load.ts';
import { SETTINGS, type SettingName, settingRows } from '../../src/config/settings/index.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

let line: CommandLine;
beforeEach(() => {
  line = commandLine();
});
afterEach(() => line.close());

const say = about('clock');
const OK = say.ok('it is right');
const WARNING = say.warning('clock_ahead', 'it is ahead', 'set it');
const PROBLEM = say.problem('clock_leapt', 'it leapt', 'set it');

describe('the exit code', () => {
  const codes = async (...findings: Finding[]) => {
    const own = commandLine({ examine: async () => findings });
    const run = async (...words: string[]) => (await own.run('doctor', ...words)).code;
    const all = [await run(), await run('--strict'), await run('--json'), await run('--report')];
    own.close();
    return all;
  };

  test('is 0 if all is fine, 1 for a problem, and 3 for warnings if they are strictly taken', async () => {
    expect(await codes(OK)).toEqual([0, 0, 0, 0]);
    expect(await codes(OK, WARNING)).toEqual([0, 3, 0, 0]);
    expect(await codes(WARNING, PROBLEM)).toEqual([1, 1, 1, 1]);
  });

  test('is 2 for a command line that is wrong', async () => {
    expect((await line.run('doctor', '--strictly')).code).toBe(2);
    expect((await line.run('doctor', '--report', '--names')).code).toBe(2);
  });
});

test('each finding in JSON has the fields that are promised', async () => {
  await line.run('provider', 'add', '--name', 'n', '--code', 'MYSHOP01');
  const { findings } = JSON.parse((await line.run('doctor', '--json')).stdout);
  expect(findings.length).toBeGreaterThan(5);
  for (const one of findings) {
    expect(Object.keys(one).sort()).toEqual(['check', 'level', 'name', 'subject', 'todo', 'what']);
    expect(one.name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(['ok', 'warning', 'problem']).toContain(one.level);
    expect(one.todo === null).toBe(one.level === 'ok');
  }
});

test('a name that is a word of the program leaves the subject of a check as it is', async () => {
  await line.run('provider', 'add', '--name', 'database', '--code', 'MYSHOP01');
  const { findings } = JSON.parse((await line.run('doctor', '--json')).stdout);
  const checks = findings.map(({ check }: Finding) => check);
  expect(checks).toContain('database');
  expect(checks).toContain('data directory');
});

/** The mark of all that is planted. */
const MARK = /pl[a4]nted|planted|203\.0\.113\.\d|2001:db8|998877/i;

/** Texts of each form, one of which a setting accepts. */
const plants = (n: number) => [
  `https://planted-${n}.example.org/planted-path-${n}`,
  `http://planted-${n}.example.org:8443`,
  `PLANTED${n}X`.padEnd(8, 'X').slice(0, 8),
  `planted-${n}.example.org`,
  `203.0.113.${n}`,
  `/srv/planted-${n}/a b.key`,
  `/planted-${n}`,
  `planted-${n}@example.org`,
  `planted${n}`,
];

/** Settings that name tables or a database, which have tests of their own. */
const APART: readonly SettingName[] = ['gateUpstreams', 'databaseUrl', 'dataDir'];

describe('names of the settings', () => {
  test('are hidden, whichever setting has them, and nothing else is', () => {
    let n = 0;
    const missed: string[] = [];
    for (const [name, { env, read, types, tables }] of settingRows) {
      if (APART.includes(name) || tables || !types.some((type) => /string|array/.test(type)))
        continue;
      n += 1;
      for (const value of plants(n)) {
        const accepts = () => {
          try {
            read(value);
            return loadConfig({}, { GATEPOST_CONFIG: 'none', [env]: value });
          } catch {
            return null;
          }
        };
        const loaded = accepts();
        if (loaded === null) continue;
        for (const text of [`a ${value} b`, `'${value}': no`, `(${value})`, `${value}, c`]) {
          const names = new HiddenNames(loaded);
          if (MARK.test(names.hide(text))) missed.push(`${name}: ${names.hide(text)}`);
        }
      }
    }
    expect(missed).toEqual([]);
    expect(n).toBeGreaterThan(40);
  });

  test('of upstreams, of a database and of texts for people', () => {
    const upstream = {
      host: 'planted-1.example.org',
      url: 'https://planted-user:planted-word@planted-2.example.org:8000/planted-web-path',
      provider: 'PLANTED1',
      default_limit: 3,
      key_path: ['/planted-sub/{key}'],
      pass_paths: ['/planted-assets/*'],
      panel_url: 'http://planted-8.example.org:2053/planted-panel',
      panel_token_file: '/planted/token',
    };
    const { url: _url, ...plain } = upstream;
    const env = {
      GATEPOST_CONFIG: 'none',
      GATEPOST_GATE_UPSTREAM: JSON.stringify([
        { ...plain, url: 'http://planted-2.example.org:8000' },
      ]),
      GATEPOST_DATABASE_URL:
        'postgres://planted_role:planted-word@planted-3.example.org/planted_db',
      [SETTINGS.gateTexts.env]: JSON.stringify({ en: { link_limit_reached: 'planted words' } }),
    };
    const names = new HiddenNames(loadConfig({}, env));
    const all = [
      ...Object.values(plain).flat(),
      env.GATEPOST_DATABASE_URL,
      'planted_role',
      'planted_db',
    ];
    for (const value of [...all.map(String), 'planted words', 'planted-word']) {
      expect(names.hide(`it said "${value}" to us`)).not.toMatch(MARK);
    }
    // The first upstream's host is the first host.
    expect(names.hide('planted-1.example.org answers')).toBe('host-1 answers');
  });
});

describe('names that no setting has', () => {
  const names = new HiddenNames(null);

  test.each([
    ['connect ECONNREFUSED 203.0.113.7:443', 'connect ECONNREFUSED address-1:443'],
    ['cannot reach 2001:db8::7: no answer', 'cannot reach address-2: no answer'],
    ['http://panel.example.org:8000/s3cr3t/ fails', 'http://host-1:8000/path-1 fails'],
    ['panel.example.org and PANEL.example.org', 'host-1 and host-1'],
    ['пример.рф, xn--e1afmkfd.xn--p1ai', 'host-2, host-3'],
    ['anna@example.org wrote', 'email-1 wrote'],
    ["open '/srv/keys/a.pem'", "open 'path-2'"],
    ['chat -1001234567890 is closed', 'chat chat-1 is closed'],
    ['bot 123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc', 'bot secret-1'],
    ['key 11111111-2222-4333-8444-555555555555', 'key secret-2'],
  ])('%s', (text, hidden) => {
    expect(names.hide(text)).toBe(hidden);
  });

  test.each([
    'set backup.at, such as "03:30", in gatepost.toml and read docs/gate.md',
    '127.0.0.1:8080 is free, and localhost:80, [::1]:80 and 0.0.0.0:443 too',
    '2026-11-20T12:00:00.000Z, 90 %, 1/2 and/or A/AAAA, version 0.19.0, 1.25 GiB, 12:30',
    'gate.upstream, server.hosts and [ride]: at /etc/gatepost/gatepost.toml or /gate',
  ])('but not %s', (text) => {
    expect(names.hide(text)).toBe(text);
  });
});

describe('what the program prints for others', () => {
  const file = () => join(line.dataDir, '..', 'planted.toml');

  async function plant() {
    await line.run('provider', 'add', '--name', 'Planted shop', '--code', 'PLANTED1');
    await line.run('link', 'add', '--note', 'planted note');
    const db = new Database(join(line.dataDir, 'gatepost.db'));
    db.run(`UPDATE provider SET without_hwid = 'pass', my = 1`);
    db.run(`INSERT INTO webhook (kind, address, events, scheme, secret, locale, created_at_ms,
        disabled_at_ms, disabled_why)
      VALUES ('telegram', '-100998877665544', '', '', 'planted-secret', 'en', 1, 1,
        'chat -100998877665544 of @planted: planted-4.example.org at 203.0.113.9 said no'),
      ('webhook', 'https://planted-5.example.org/planted-hook', '', 'v1', 'planted-secret', 'en',
        1, 1, 'cannot connect to planted-5.example.org: the connection is refused')`);
    db.run(`INSERT INTO sighting (host, kind, subject, seen_count, first_seen_at_ms,
        last_seen_at_ms) VALUES ('planted-1.example.org', 'dropped_header', 'new-url planted-6.example.org', 1, 1, 1)`);
    db.run(`INSERT INTO steady_time (name, at_ms, ran_ms, leap, spent) VALUES ('planted-node', 0,
      7300000, '{"leadMs":432000000,"sinceRanMs":3600000,"slackMs":0}', '{}')`);
    db.close();
    writeFileSync(
      file(),
      `[server]
       hosts = ["planted-2.example.org"]
       trusted_proxies = ["203.0.113.4"]
       [tls]
       certificate = "/planted/cert.pem"
       key = "/planted/key.pem"
       [gateway.fcm]
       service_account = "/planted/fcm.json"
       [[gate.upstream]]
       host = "planted-1.example.org"
       url = "http://127.0.0.1:9/planted-web-path"
       provider = "PLANTED1"
       default_limit = 3
       browsers = "pass"
       key_path = ["/{key}"]
       [my]
       path = "/planted-my"
       `,
      { mode: 0o600 },
    );
  }

  test('has no name of a setting or a row', async () => {
    await plant();
    const words = ['--config', file(), '--outside', 'planted-7.example.org'];
    const plain = await line.run('doctor', ...words);
    expect(plain.stdout).toMatch(MARK);
    for (const form of [['--json'], ['--report'], ['--report', '--json']]) {
      const { stdout } = await line.run('doctor', ...words, ...form);
      const lines = stdout.split(/\n|(?=\{)/).filter((one) => MARK.test(one));
      expect({ form, lines }).toEqual({ form, lines: [] });
      expect(stdout).not.toContain(line.dataDir);
    }
    const all = JSON.parse((await line.run('doctor', ...words, '--json')).stdout).findings;
    const named = all.map(({ name }: Finding) => name);
    expect(named).toEqual(
      expect.arrayContaining([
        ...['certificate_invalid', 'gateway_invalid', 'webhook_disabled', 'clock_leapt'],
        ...['panel_dropped_header', 'servers_shown_to_browsers', 'without_hwid_passes'],
        ...['panel_silent', 'host_not_bound', 'page_path_is_a_key'],
      ]),
    );
    // The console, which its operator alone sees, reads all of it.
    const whole = await line.run('doctor', ...words, '--json', '--names');
    expect(whole.stdout).toContain('planted-1.example.org');
  });

  test('has no value of a configuration that is invalid', async () => {
    writeFileSync(
      file(),
      `[server]
       hosts = ["planted host"]
       port = "planted word"
       [backup]
       planted_key = 1
       `,
      { mode: 0o600 },
    );
    for (const form of [['--json'], ['--report']]) {
      const { stdout, code } = await line.run('doctor', '--config', file(), ...form);
      expect(code).toBe(1);
      expect(stdout).toContain('configuration');
      expect(stdout.replaceAll('planted_key', '')).not.toMatch(MARK);
    }
  });

  test('tells what a reader of a fault needs', async () => {
    await plant();
    const { stdout } = await line.run('doctor', '--config', file(), '--report', '--json');
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      bun: Bun.version,
      store: 'sqlite',
      processors: navigator.hardwareConcurrency,
      counts: { provider: 1, install: 1, webhook: 2 },
      platform: expect.stringContaining('linux'),
      log: [],
    });
    const settings = new Map(
      report.settings.map((one: { key: string; value: string }) => [one.key, one.value]),
    );
    expect(settings.get('gate.upstream.1.browsers')).toBe('pass');
    expect(settings.get('gate.upstream.1.default_limit')).toBe('3');
    expect(settings.get('server.hosts')).toMatch(/^host-\d$/);
    expect(settings.has('server.port')).toBe(false);
  });
});
