/** The settings of a PostgreSQL database: its URL, and the settings that exclude it. */

import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseUrl, isOnThisMachine } from '../../src/config/database-url.ts';
import { loadConfig } from '../../src/config/load.ts';
import { shownSettings } from '../../src/config/render.ts';

const NONE = { GATEPOST_CONFIG: 'none' };
const URL_AWAY = 'postgres://gatepost:s3cret@db.example.com/gatepost';

function load(env: Readonly<Record<string, string>>) {
  return loadConfig({}, { ...NONE, ...env });
}

/** The sentence that these settings are refused with. */
function refusal(env: Readonly<Record<string, string>>): string {
  try {
    load(env);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the settings were taken');
}

describe('database.url', () => {
  const STANDARD = {
    host: 'db',
    port: 5432,
    socket: null,
    user: 'gatepost',
    password: '',
    database: 'gatepost',
    wantsTls: null,
    isNameChecked: true,
  };
  const ON_SOCKET = { ...STANDARD, host: '', socket: '/run/postgresql' };

  test.each([
    ['postgres://gatepost@db/gatepost', STANDARD],
    ['postgresql://gatepost@DB:5433/gatepost', { ...STANDARD, port: 5433 }],
    ['postgres://gatepost@[fd00::7]:1/gatepost', { ...STANDARD, host: 'fd00::7', port: 1 }],
    [
      'postgres://g%40p:a%2Fb%40c%25@db/x%20y',
      { ...STANDARD, user: 'g@p', password: 'a/b@c%', database: 'x y' },
    ],
    ['postgres://gatepost@db/gatepost?sslmode=require', { ...STANDARD, wantsTls: true }],
    ['postgres://gatepost@db/gatepost?sslmode=disable', { ...STANDARD, wantsTls: false }],
    [
      'postgres://gatepost@db/gatepost?sslmode=verify-ca',
      { ...STANDARD, wantsTls: true, isNameChecked: false },
    ],
    ['postgres://gatepost@/gatepost?host=/run/postgresql', ON_SOCKET],
    ['postgres://gatepost@:5433/gatepost?host=%2Frun%2Fpostgresql', { ...ON_SOCKET, port: 5433 }],
    ['postgres://gatepost@%2Frun%2Fpostgresql/gatepost', ON_SOCKET],
  ])('%s is read', (text, read) => {
    expect(databaseUrl(text)).toEqual(read);
  });

  test.each([
    ['mysql://gatepost@db/gatepost', 'is not a URL such as'],
    ['postgres://gatepost@db', 'is not a URL such as'],
    ['postgres://gatepost@db/', 'is not a URL such as'],
    ['postgres://gatepost:a@b@db/gatepost', 'is not a URL such as'],
    ['postgres://db/gatepost', 'has no user'],
    ['postgres://gatepost@/gatepost', 'has no host'],
    ['postgres://gatepost@one,two/gatepost', 'has several hosts'],
    ['postgres://gatepost@db:0/gatepost', 'its port'],
    ['postgres://gatepost@db:70000/gatepost', 'its port'],
    ['postgres://gatepost:50%@db/gatepost', 'write a literal one as %25'],
    ['postgres://gatepost:%00@db/gatepost', 'write a literal one as %25'],
    ['postgres://gatepost@db/gatepost?sslmode=prefer', 'sslmode'],
    ['postgres://gatepost@db/gatepost?options=-c%20fsync=off', 'host=/DIRECTORY and sslmode only'],
    ['postgres://gatepost@db/gatepost?host=/run', 'has both a host'],
  ])('%s is refused', (text, reason) => {
    expect(() => databaseUrl(text)).toThrow(reason);
  });

  test.each([
    ['localhost', true],
    ['127.0.0.53', true],
    ['[::1]', true],
    ['10.0.0.1', false],
    ['localhost.example.com', false],
    ['%2Frun', true],
  ])('at %s it is on this machine: %p', (host, isHere) => {
    const url = databaseUrl(`postgres://gatepost@${host}/gatepost`);
    if (url === null) throw new Error('there is no URL');
    expect(isOnThisMachine(url)).toBe(isHere);
  });
});

describe('a password in the URL', () => {
  test('is masked where settings are shown, and nothing else of it', () => {
    const shown = shownSettings(load({ GATEPOST_DATABASE_URL: URL_AWAY }));
    const value = shown.find(({ key }) => key === 'database.url')?.value;
    expect(value).toBe('postgres://gatepost:********@db.example.com/gatepost');
    expect(JSON.stringify(shown)).not.toContain('s3cret');
  });

  test('stays out of the sentence about a URL that cannot be read', () => {
    const env = { GATEPOST_DATABASE_URL: 'postgres://gatepost:s3cret@a@db/gatepost' };
    expect(refusal(env)).toContain('GATEPOST_DATABASE_URL: it is not a URL');
    expect(refusal(env)).not.toContain('s3cret');
  });

  test('makes the file that holds it a secret one, as long as there is one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatepost-database-'));
    try {
      const file = join(folder, 'gatepost.toml');
      writeFileSync(file, `[database]\nurl = "${URL_AWAY}"\n`, { mode: 0o644 });
      expect(() => loadConfig({}, { GATEPOST_CONFIG: file })).toThrow('holds secrets');
      writeFileSync(file, `[database]\nurl = "${URL_AWAY.replace(':s3cret', '')}"\n`);
      expect(loadConfig({}, { GATEPOST_CONFIG: file }).config.databaseUrl?.user).toBe('gatepost');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('settings that exclude database.url', () => {
  const url = (text: string) => ({ GATEPOST_DATABASE_URL: text });
  const AWAY = url('postgres://gatepost@db.example.com/gatepost');
  const HERE = url('postgres://gatepost@127.0.0.1/gatepost');

  test.each([
    [{ ...HERE, GATEPOST_ACME_DOMAINS: 'gate.example.com' }, 'acme.domains and database.url'],
    [{ ...HERE, GATEPOST_BACKUP_AT: '03:30' }, 'backup.at and database.url'],
    [url('postgres://gatepost@db/gatepost?sslmode=disable'), 'unencrypted'],
    [url('postgres://gatepost@db/gatepost?sslmode=verify-ca'), 'needs database.ca_file'],
    [
      { ...AWAY, GATEPOST_DATABASE_INSECURE: 'true', GATEPOST_DATABASE_CA_FILE: '/ca' },
      'TLS cannot',
    ],
    [
      { ...url('postgres://g@db/g?sslmode=verify-full'), GATEPOST_DATABASE_INSECURE: 'true' },
      'TLS cannot be combined',
    ],
    [{ ...url('postgres://g@/g?host=/run'), GATEPOST_DATABASE_CA_FILE: '/ca' }, 'does not use TLS'],
    [
      { ...HERE, GATEPOST_GATEWAY_WEBPUSH_SUBJECT: 'mailto:me@example.com' },
      'gateway.webpush.key_file is required',
    ],
    [{ ...url(URL_AWAY), GATEPOST_DATABASE_PASSWORD_FILE: '/p' }, 'remove one of them'],
  ])('%p is refused', (env, reason) => {
    expect(refusal(env)).toContain(reason);
    expect(refusal(env)).not.toContain('s3cret');
  });

  test.each([
    AWAY,
    HERE,
    { ...AWAY, GATEPOST_DATABASE_INSECURE: 'true' },
    { ...HERE, GATEPOST_DATABASE_CA_FILE: '/ca' },
    {
      ...url('postgres://gatepost@db/gatepost?sslmode=disable'),
      GATEPOST_DATABASE_INSECURE: 'true',
    },
    {
      ...url('postgres://gatepost@db/gatepost?sslmode=verify-ca'),
      GATEPOST_DATABASE_CA_FILE: '/ca',
    },
    url('postgres://gatepost@localhost/gatepost?sslmode=disable'),
    // Without a URL these do not matter.
    { GATEPOST_BACKUP_AT: '03:30', GATEPOST_ACME_DOMAINS: 'gate.example.com' },
  ])('%p is taken', (env) => {
    expect(() => load(env)).not.toThrow();
  });
});
