/** The folder beside the configuration file: what it may hold, and what it says. */

import { beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { shownSettings } from '../../src/config/render.ts';
import { temporaryFolder } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let main: string;
let folder: string;
beforeEach(() => {
  const place = temporaryFolder();
  main = join(place, 'gatepost.toml');
  folder = join(place, 'gatepost.d');
  mkdirSync(folder, { mode: 0o750 });
  put(main, '[server]\nport = 9000\n');
});

function put(path: string, text: string | Uint8Array, mode = 0o640): string {
  const whole = path.startsWith('/') ? path : join(folder, path);
  writeFileSync(whole, text);
  chmodSync(whole, mode);
  return whole;
}

const load = () => loadConfig({ configFile: main }, {});
const mistakes = (): string => {
  try {
    load();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

const LIMIT = 'default_limit = 3\n';
const UPSTREAM = (host: string, more = '') =>
  `[[gate.upstream]]\nhost = "${host}"\nurl = "http://127.0.0.1:1"\nprovider = "MYSHOP01"\n${more || LIMIT}`;

describe('what the files say', () => {
  test('is read after the file, in the order of the names, and each value has its place', () => {
    const second = put('20-b.toml', '[log]\nformat = "json"\n');
    const first = put('10-a.toml', '[log]\nlevel = "warn"\n\n[server]\nport = 9000\n');
    const loaded = load();
    expect(loaded.files).toEqual([main, first, second]);
    expect(loaded).toMatchObject({
      file: main,
      config: { port: 9000, logLevel: 'warn', logFormat: 'json' },
    });
    const origins = shownSettings(loaded).filter(({ origin }) => origin !== 'default');
    expect(origins.map(({ key, origin }) => [key, origin])).toEqual([
      ['server.port', `${main}:2`],
      ['log.format', `${second}:2`],
      ['log.level', `${first}:2`],
    ]);
  });

  test('joins tables of a list; each key has the place where it stands', () => {
    const a = put('10-a.toml', UPSTREAM('a.example'));
    const b = put('20-b.toml', UPSTREAM('b.example', 'default_limit = 7\n'));
    expect(load().config.gateUpstreams).toMatchObject([
      { host: 'a.example' },
      { host: 'b.example', defaultLimit: 7 },
    ]);
    const shown = shownSettings(load()).filter(({ key }) => /upstream.*host$/.test(key));
    expect(shown.map(({ key, origin }) => [key, origin])).toEqual([
      ['gate.upstream.1.host', `${a}:2`],
      ['gate.upstream.2.host', `${b}:2`],
    ]);
    put('20-b.toml', UPSTREAM('b.example', 'default_limit = 0\n'));
    expect(mistakes()).toStartWith(`${b}:5: gate.upstream.2.default_limit: `);
    put('20-b.toml', UPSTREAM('a.example'));
    expect(mistakes()).toBe(`${b}:1: gate.upstream.2: there is a table for a.example already`);
  });

  test('joins named tables; two of one name must say the same', () => {
    const text = (language: string, title: string) =>
      `[gate.text.${language}]\nlink_disabled = "${title}"\n`;
    put('10-a.toml', text('en', 'A'));
    const b = put('20-b.toml', text('ru', 'B'));
    expect(Object.keys(load().config.gateTexts)).toEqual(['ru', 'en']);
    put('20-b.toml', text('en', 'A'));
    expect(mistakes()).toBe('');
    put('20-b.toml', text('en', 'B'));
    expect(mistakes()).toBe(
      `${b}:1: gate.text.en has another value at ${join(folder, '10-a.toml')}:1: remove one of the two`,
    );
  });

  test('contradicts nothing that stands before it', () => {
    const a = put('10-a.toml', '[server]\nhost = "::1"\nport = 9001\n');
    expect(mistakes()).toBe(
      `${a}:3: server.port has another value at ${main}:2: remove one of the two`,
    );
  });

  test('does not move the data if it stands in the data directory', () => {
    const a = put('10-a.toml', 'data = "/elsewhere"\n');
    expect(() => loadConfig({ dataDir: join(main, '..') }, {})).toThrow(
      `${a}:1: data cannot be set by the file in the data directory`,
    );
    expect(load().config.dataDir).toBe('/elsewhere');
  });

  test('is checked for secrets that others can read, file by file', () => {
    chmodSync(main, 0o644);
    const a = put('10-a.toml', '[backup]\npassphrase = "open sesame"\n');
    expect(mistakes()).toBe('');
    chmodSync(a, 0o644);
    expect(mistakes()).toStartWith(`the file ${a} holds secrets and has mode 0644`);
  });
});

describe('a file that stops the start', () => {
  test.each([
    ['of another name', '20-gate.toml.bak'],
    ['of an editor', '.20-gate.toml.swp'],
    ['with a blank', '20 gate.toml'],
  ])('%s', (_, name) => {
    const file = put(name, '');
    expect(mistakes()).toBe(
      `${file} has no name such as 20-gate.toml: rename it, or move it out of the folder`,
    );
  });

  test('a symbolic link, also one that leads nowhere, and a folder', () => {
    const target = put(join(folder, '../target.toml'), '[server]\nhost = "::1"\n');
    symlinkSync(target, join(folder, '10-a.toml'));
    symlinkSync('/nowhere', join(folder, '20-b.toml'));
    mkdirSync(join(folder, '30-c.toml'));
    const link = 'it is a symbolic link: put the file itself there';
    expect(mistakes().split('\n  ').slice(1)).toEqual([
      `cannot read ${join(folder, '10-a.toml')}: ${link}`,
      `cannot read ${join(folder, '20-b.toml')}: ${link}`,
      `${join(folder, '30-c.toml')} is no regular file: move it away`,
    ]);
  });

  test('one that others can change, and a folder that they can', () => {
    const a = put('10-a.toml', '', 0o660);
    const b = put('20-b.toml', '', 0o646);
    chmodSync(folder, 0o770);
    expect(mistakes().split('\n  ').slice(1)).toEqual([
      `${folder} has mode 0770, open to its group (to write): run 'chmod 750 ${folder}'`,
      `${a} has mode 0660, open to its group (to write): run 'chmod 640 ${a}'`,
      `${b} has mode 0646, open to all users (to write): run 'chmod 640 ${b}'`,
    ]);
  });

  test('no text, too much of it, too many files', () => {
    const a = put('10-a.toml', new Uint8Array([0xff]));
    const b = put('20-b.toml', '#'.repeat(1024 ** 2 + 1));
    const c = put('30-c.toml', 'prot = 1\n');
    expect(mistakes().split('\n  ').slice(1)).toEqual([
      `${a} is not text in UTF-8`,
      `${b} is larger than 1 MiB`,
      `${c}:1: there is no setting prot; the nearest is server.port`,
    ]);
    for (let count = 0; count <= 100; count += 1) put(`${count}.toml`, '');
    expect(mistakes()).toBe(`${folder} has more than 100 files: join some of them`);
  });

  const isRoot = process.getuid?.() === 0;

  test.skipIf(!isRoot)('one of another user than root, beside a file of root', () => {
    const a = put('10-a.toml', '');
    chownSync(a, 54_322, 54_322);
    expect(mistakes()).toBe(`${a} belongs to user 54322, not to user 0: run 'chown 0 ${a}'`);
    // The owner of the file may own those beside it.
    chownSync(main, 54_322, 54_322);
    expect(mistakes()).toBe('');
    chownSync(a, 54_323, 54_323);
    expect(mistakes()).toBe(
      `${a} belongs to user 54323, not to user 0 or 54322: run 'chown 0 ${a}'`,
    );
  });
});

test('a file of another kind, and none, has no folder', () => {
  put('10-a.toml', 'nonsense = 1\n');
  expect(loadConfig({ configFile: 'none' }, {}).files).toEqual([]);
  expect(existsSync(folder)).toBe(true);
  expect(readdirSync(folder)).toEqual(['10-a.toml']);
});
