/** Settings, versions, and data that is missing, foreign, newer or damaged. */

import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { addProviderByCommand, run, startServe, temporaryFolder } from '../support/process.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const FILE = 'gatepost.db';
/** Each must refuse what is wrong with the data; `serve` and `provider add` would create it. */
const COMMANDS = {
  serve: ['serve', '--port', '0'],
  add: ['provider', 'add', '--name', 'n'],
  list: ['provider', 'list'],
  device: ['device', 'list'],
};

function fingerprint(folder: string): Record<string, string> {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

async function makeData(): Promise<string> {
  const dataDir = join(temporaryFolder(), 'data');
  await addProviderByCommand(dataDir);
  return dataDir;
}

/** Runs every command on the data; each must fail in one such sentence and change nothing. */
async function expectRefusal(dataDir: string, sentence: RegExp): Promise<void> {
  const before = fingerprint(dataDir);
  for (const words of Object.values(COMMANDS)) {
    const { code, stdout, stderr } = await run([...words, '--data', dataDir]);
    expect({ words, code, stdout }).toEqual({ words, code: 1, stdout: '' });
    expect(stderr).toMatch(/^gatepost: [^\n]+\n$/);
    expect(stderr).toMatch(sentence);
    expect(fingerprint(dataDir)).toEqual(before);
  }
}

describe('data that cannot be used is one sentence, exit 1, and stays as it is', () => {
  test('a newer database', async () => {
    const dataDir = await makeData();
    const db = new Database(join(dataDir, FILE));
    db.run('PRAGMA user_version = 999');
    db.close();
    await expectRefusal(
      dataDir,
      /has schema 999, this program knows up to \d+: gatepost \S+ made it: use/,
    );
  });

  test('a database of another program', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const db = new Database(join(dataDir, FILE));
    db.run('CREATE TABLE t (a)');
    db.close();
    chmodSync(join(dataDir, FILE), 0o600);
    await expectRefusal(dataDir, /is a database of another program; nothing was changed/);
  });

  test('not a database at all', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, FILE), 'This is not a database. '.repeat(100), { mode: 0o600 });
    await expectRefusal(dataDir, /is damaged \(not a SQLite database\); nothing was changed/);
  });

  test('a damaged database', async () => {
    const dataDir = await makeData();
    const file = join(dataDir, FILE);
    const bytes = readFileSync(file);
    // The schema's own page, behind the header.
    bytes.fill(0xff, 100, 4096);
    writeFileSync(file, bytes);
    await expectRefusal(dataDir, /is damaged \(.+\); nothing was changed/);
  });

  test('a missing directory is made by serve and provider add alone', async () => {
    const dataDir = join(temporaryFolder(), 'none');
    for (const words of [COMMANDS.list, COMMANDS.device]) {
      const { code, stdout, stderr } = await run([...words, '--data', dataDir]);
      const sentence = `gatepost: the data directory ${dataDir} does not exist\n`;
      expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: sentence });
    }
    const deep = join(dataDir, 'deeper');
    for (const words of [COMMANDS.serve, COMMANDS.add]) {
      const { code, stderr } = await run([...words, '--data', deep]);
      expect(code).toBe(1);
      expect(stderr).toBe(
        `gatepost: cannot create the data directory ${deep}: ${dataDir} does not exist\n`,
      );
    }
  });

  test('an empty directory, and a file in its place', async () => {
    const empty = temporaryFolder();
    const listed = await run(['provider', 'list', '--data', empty]);
    expect(listed.code).toBe(1);
    expect(listed.stderr).toMatch(/^gatepost: there is no Gatepost database in [^\n]+\n$/);
    expect(readdirSync(empty)).toEqual([]);
    const file = join(empty, 'file');
    writeFileSync(file, '');
    const served = await run(['serve', '--data', file]);
    const sentence = `gatepost: the data directory ${file} is not a directory\n`;
    expect(served).toEqual({ code: 1, stdout: '', stderr: sentence });
  });
});

describe('settings', () => {
  test('everything that is wrong is said at once', async () => {
    const env = {
      GATEPOST_PROT: '1',
      GATEPOST_OUTPUT_ZONE: 'Moscow',
      GATEPOST_TRUSTED_PROXIES: '10.0.0.0/99',
      GATEPOST_LOG_FORMAT: 'xml',
    };
    const dataDir = join(temporaryFolder(), 'data');
    const result = await run(['serve', '--port', '65536', '--data', dataDir], { env });
    expect(result.code).toBe(1);
    expect(result.stdout).toBe('');
    for (const part of [
      'unknown setting GATEPOST_PROT; the nearest is GATEPOST_PORT',
      "--port: '65536' is not a whole number from 0 to 65535",
      "GATEPOST_OUTPUT_ZONE: 'Moscow' is not an offset from UTC such as +03:00",
      "GATEPOST_TRUSTED_PROXIES: '10.0.0.0/99' is not a network",
      "GATEPOST_LOG_FORMAT: 'xml' is not human or json",
    ]) {
      expect(result.stderr).toContain(part);
    }
    expect(result.stderr).toStartWith('gatepost: 5 errors in the configuration:\n  ');
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(6);
  });

  test('flags go before the environment, the environment before the defaults', async () => {
    const fromEnv = await makeData();
    const env = { GATEPOST_DATA: fromEnv, GATEPOST_HOST: 'not an address', GATEPOST_PORT: '1' };
    const listed = await run(['provider', 'list', '--json'], { env });
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
    const args = ['--host', '127.0.0.1'];
    const server = await startServe({ env, args });
    expect(server.dataDir).not.toBe(fromEnv);
    expect(readdirSync(server.dataDir)).toContain(FILE);
    await server.stop();
  });

  test('the zone of the times in answers', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const { code, authKey } = await addProviderByCommand(dataDir);
    const server = await startServe({ dataDir, env: { GATEPOST_OUTPUT_ZONE: '-12:00' } });
    const api = (path: string, rest = '') =>
      fetch(`${server.url}${path}?provider_code=${code}&auth_key=${authKey}${rest}`);
    await api('/api/add-install', '&install_limit=1');
    const { data } = (await (await api('/api/list-install')).json()) as {
      data: { created_at: string }[];
    };
    const written = `${data[0]?.created_at.replace(' ', 'T')}-12:00`;
    expect(Math.abs(Date.now() - Date.parse(written))).toBeLessThan(2 * PATIENCE_MS);
    await server.stop();
  });
});

test('version', async () => {
  const { code, stdout } = await run(['version', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    version: packageJson.version,
    commit: expect.stringMatching(/^([0-9a-f]{12}|unknown)$/),
    bun: packageJson.devDependencies.bun,
    platform: `${process.platform}-${process.arch}`,
  });
  const text = (await run(['version'])).stdout;
  expect(text).toMatch(/^gatepost \d+\.\d+\.\d+ \(commit \w+, bun [\d.]+, [\w-]+\)\n$/);
});

describe('help and mistakes', () => {
  test('help goes to stdout with exit 0 and names every command', async () => {
    for (const words of [['help'], ['--help']]) {
      const { code, stdout, stderr } = await run(words);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      for (const command of ['serve', 'provider', 'device', 'version']) {
        expect(stdout).toContain(`  ${command}`);
      }
    }
    const add = await run(['provider', 'add', '--help']);
    expect(add.code).toBe(0);
    for (const flag of ['--name', '--plan', '--expires', '--code', '--key', '--data', '--json']) {
      expect(add.stdout).toContain(flag);
    }
    expect(add.stdout).toContain('the name of the provider (required)\n');
    expect(add.stdout.match(/\(required\)/g)).toHaveLength(1);
  });

  for (const [words, part] of [
    [[], 'Usage: gatepost'],
    [['sevre'], "unknown command 'sevre'"],
    [['provider'], 'Usage: gatepost provider'],
    [['serve', '--prot', '1'], "unknown option '--prot'"],
    [['version', 'surplus'], 'too many arguments'],
    [['gateway', 'test', 'sms', '--hwid', 'x'], 'gatepost: gateway is one of fcm, apns, webpush\n'],
    [
      ['link', 'set', 'LinkCode0001', '--status', "o'ff\n"],
      ': --status is one of active, disabled\n',
    ],
  ] as const) {
    test(`gatepost ${words.join(' ')} is a mistake of usage`, async () => {
      const { code, stdout, stderr } = await run(words);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(part);
    });
  }
});
