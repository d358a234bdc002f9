/** Commands beside a running server use its settings, or say which of them they cannot see. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, startApp } from '../../src/app.ts';
import type { Flags } from '../../src/config/files.ts';
import { loadConfig } from '../../src/config/load.ts';
import { holdNote, noteSettings } from '../../src/config/server-note.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { addDoor, bind, CODE, FACTS } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openData } from '../support/links.ts';

const HOST = 'sub.example.com';
const WARNING =
  'warning: the server runs with GATEPOST_RIDE_HOSTS, which this command cannot see: ride.hosts may differ\n';

let line: CommandLine;
let note: string;
let release: () => void;
beforeEach(async () => {
  line = commandLine();
  note = join(line.dataDir, 'gatepost.settings');
  release = () => {};
  const core = await openData(line.dataDir);
  const { providerId, installId } = await addDoor(core.store);
  await core.store.updateProvider('Provide1', { plan: 'enterprise' }, ACT);
  await bind(core.store, providerId, hostHash(HOST));
  await core.store.updateLink(providerId, installId, { installLimit: 1 }, ACT);
  await core.store.takeSlot({ installCode: CODE, domainHash: hostHash(HOST), hwid: 'a' }, FACTS, 1);
  await core.store.close();
});
afterEach(() => {
  release();
  line.close();
});

/** The file of a server, outside of the data directory. */
function file(): string {
  const path = join(line.dataDir, '..', 'own.toml');
  writeFileSync(
    path,
    `[[gate.upstream]]\nhost = "${HOST}"
url = "http://127.0.0.1:1"\nprovider = "Provide1"\ndefault_limit = 3\nride = "on"
update_interval_hours = 6\nenforce = false\n`,
  );
  return path;
}

/** A server runs with these settings. */
function serve(env: Record<string, string>, flags: Flags = {}): void {
  noteSettings(loadConfig({ ...flags, dataDir: line.dataDir }, env), {
    startedAtMs: 1,
    url: null,
  });
  release = holdNote(line.dataDir);
}

const PREVIEW = ['notify', '--title', 'a', '--body', 'b', '--preview', '--json'];
const WHY = ['link', 'why', CODE, 'b', '--domain', HOST, '--json'];

async function json(...words: string[]) {
  const { code, stdout, stderr } = await line.run(...words);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** The answers of commands that depend on settings. */
async function answers() {
  const doctor = await line.run('doctor', '--json', '--names');
  const findings: { check: string; what: string }[] = JSON.parse(doctor.stdout).findings;
  return {
    preview: (await json(...PREVIEW)).within_hours,
    why: (await json(...WHY)).verdict,
    config: (await json('config', '--json')).file,
    doctor: findings.find(({ check }) => check === 'configuration')?.what,
  };
}

const WITHOUT = {
  preview: 12,
  why: 'link_limit_reached',
  config: null,
  doctor: 'there is no file; the environment variables are valid',
};

describe('the file', () => {
  test('of a running server is read by each command, that of a stopped one by none', async () => {
    const path = file();
    serve({}, { configFile: path });
    const within = { preview: 6, why: 'over', config: path, doctor: `${path} is valid` };
    expect(await answers()).toEqual(within);
    release();
    release = () => {};
    expect(await answers()).toEqual(WITHOUT);
  });

  test('that a variable of the server names', async () => {
    serve({ GATEPOST_CONFIG: file() });
    expect((await answers()).why).toBe('over');
  });

  test('is another if a flag names it', async () => {
    serve({ GATEPOST_RIDE_HOSTS: 'a.example.com' }, { configFile: file() });
    expect((await json(...WHY, '--config', 'none')).verdict).toBe('link_limit_reached');
    expect(await json(...PREVIEW, '--config', 'none')).toMatchObject({ rides: false });
  });

  test('that a command cannot read is named', async () => {
    const path = file();
    serve({}, { configFile: path });
    rmSync(path);
    const warning = `the server runs with the settings of ${path}, which this command cannot read`;
    const why = await line.run(...WHY);
    expect(why.stderr).toBe(`warning: ${warning}\n`);
    const words = ['--all', '--title', 'a', '--body', 'b', '--at', '2026-12-01T00:00'];
    const later = await line.run('notify', ...words, '--dry-run');
    expect(later.code).toBe(0);
    expect(later.stderr.split(warning).length).toBe(2);
    expect((await line.run('doctor')).stdout).toStartWith(`PROBLEM   configuration: ${warning}`);
    expect((await line.run('config')).stderr).toBe(`warning: ${warning}\n`);
  });

  test('none, if the server must read none', async () => {
    writeFileSync(
      join(line.dataDir, 'gatepost.toml'),
      '[gate]\nride = "on"\nupdate_interval_hours = 7\n',
    );
    serve({}, { configFile: 'none' });
    expect(await json(...PREVIEW)).toMatchObject({ within_hours: 12 });
  });

  test('that was made since is read, as the next start would', async () => {
    serve({});
    writeFileSync(
      join(line.dataDir, 'gatepost.toml'),
      '[gate]\nride = "on"\nupdate_interval_hours = 7\n',
    );
    expect(await json(...PREVIEW)).toMatchObject({ within_hours: 7 });
  });
});

describe('variables', () => {
  test('are noted by their names alone', () => {
    serve({ GATEPOST_GATEWAY_WEBPUSH_SUBJECT: 'mailto:a@example.com', GATEPOST_HOST: '' });
    expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual({
      file: null,
      flags: {},
      variables: ['GATEPOST_GATEWAY_WEBPUSH_SUBJECT'],
      startedAtMs: 1,
      url: null,
    });
  });

  test('that a command uses and cannot see are named, others are not', async () => {
    serve({ GATEPOST_RIDE_HOSTS: 'a.example.com', GATEPOST_LOG_FORMAT: 'json' });
    const preview = await line.run(...PREVIEW);
    expect(preview).toMatchObject({ code: 0, stderr: WARNING });
    expect(await line.run('provider', 'list')).toMatchObject({ code: 0, stderr: '' });
    const one = 'the server runs with GATEPOST_RIDE_HOSTS, which this';
    expect((await line.run('doctor')).stdout).toContain(`warning   configuration: ${one}`);
    const both = 'the server runs with GATEPOST_RIDE_HOSTS, GATEPOST_LOG_FORMAT, which this';
    expect((await line.run('config')).stderr).toStartWith(`warning: ${both}`);
  });

  test('are named with the file that a flag names, if it is the same', async () => {
    const path = file();
    serve({ GATEPOST_RIDE_HOSTS: 'a.example.com' }, { configFile: path });
    expect((await line.run(...PREVIEW, '--config', path)).stderr).toBe(WARNING);
  });

  test('without which the file is wrong are named', async () => {
    const path = join(line.dataDir, '..', 'half.toml');
    writeFileSync(path, '[gate]\nkey = "marzban"\n');
    serve({ GATEPOST_GATE_KEY_SECRET_FILE: '/etc/secret' }, { configFile: path });
    const { code, stderr } = await line.run('provider', 'list');
    expect(code).toBe(1);
    expect(stderr).toContain('needs gate.key_secret_file');
    expect(stderr).toEndWith(
      '; the server runs with GATEPOST_GATE_KEY_SECRET_FILE, which this command cannot see\n',
    );
  });

  test('without which a command would use another database stop it', async () => {
    serve({ GATEPOST_DATABASE_URL: 'postgres://a@127.0.0.1/b' });
    expect(await line.run('provider', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'gatepost: the server runs with GATEPOST_DATABASE_URL, which this command cannot see: it would use another database\n',
    });
  });
});

test('flags of the server count, but for what the command was given', async () => {
  serve({}, { host: '127.0.0.2', port: '8443' });
  const { settings } = await json('config', '--json');
  const shown = (key: string) => settings.find((one: { key: string }) => one.key === key);
  expect(shown('server.host')).toMatchObject({ value: '127.0.0.2', origin: '--host' });
  expect(shown('server.port')).toMatchObject({ value: '8443', origin: '--port' });
  expect(shown('data')).toMatchObject({ value: line.dataDir });
});

describe('a forged note', () => {
  const NOTES: Readonly<Record<string, string>> = {
    'no JSON': '{',
    'a list': '[]',
    'a relative path': '{"file":"own.toml"}',
    'a number as path': '{"file":7}',
    'a long path': `{"file":"/${'a'.repeat(5000)}"}`,
    'a large file': `{"file":null,"x":"${'a'.repeat(70_000)}"}`,
    'strange lists': '{"file":null,"flags":[1],"variables":{"a":1}}',
    'strange names': '{"file":null,"flags":{"data":"/","port":1},"variables":["PATH",7,null]}',
  };
  for (const [name, text] of Object.entries(NOTES)) {
    test(`${name} changes nothing`, async () => {
      serve({});
      writeFileSync(note, text);
      expect(await answers()).toEqual(WITHOUT);
    });
  }

  test('a link and a folder change nothing', async () => {
    serve({});
    const other = join(line.dataDir, '..', 'other');
    writeFileSync(other, JSON.stringify({ file: file() }));
    rmSync(note);
    symlinkSync(other, note);
    expect(await answers()).toEqual(WITHOUT);
    rmSync(note);
    mkdirSync(note);
    expect(await answers()).toEqual(WITHOUT);
  });
});

describe('a server', () => {
  const given = (path: string) => {
    const loaded = loadConfig({ configFile: path, port: '0' }, { GATEPOST_DATA: line.dataDir });
    const quiet = { monitorPort: null, logLevel: 'error' } as const;
    return { ...loaded, config: { ...loaded.config, ...quiet } };
  };
  let app: App | null = null;
  afterEach(async () => {
    await app?.close();
    app = null;
  });

  test('notes its settings while it runs, with the monitor off, and again when it reloads', async () => {
    const path = file();
    app = await startApp(given('none'), new AbortController().signal);
    expect((await answers()).why).toBe('link_limit_reached');
    app.reload(given(path));
    expect((await json(...WHY)).verdict).toBe('over');
    expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual({
      file: path,
      flags: { port: '0' },
      variables: ['GATEPOST_DATA'],
      startedAtMs: expect.any(Number),
      url: app.url,
    });
    await app.close();
    app = null;
    expect((await json(...WHY)).verdict).toBe('link_limit_reached');
  });

  test('starts where it can note nothing', async () => {
    mkdirSync(`${note}.new`);
    app = await startApp(given(file()), new AbortController().signal);
    expect((await json(...WHY)).verdict).toBe('link_limit_reached');
  });
});
