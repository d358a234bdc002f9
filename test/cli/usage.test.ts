/**
 * An invalid command line exits with 2 for every command; everything else that goes
 * wrong with 1. Read from the command line itself, so that new commands are asked too.
 */

import { afterAll, describe, expect, test } from 'bun:test';
import { commandTree } from '../../packaging/command-tree.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { commandLine } from '../support/command-line.ts';

const line = commandLine();
afterAll(() => line.close());

test('what makes a record takes each option of what changes it, but for its state', () => {
  const optionsOf = (words: string) =>
    commands.find(([name]) => name === words)?.[1].options.flatMap(({ names }) => names) ?? [];
  const without = (make: string, change: string) =>
    optionsOf(change).filter((option) => !optionsOf(make).includes(option));
  const states = ['--full', '--over', '--copied', '--active', '--disabled'];
  const figures = ['--ends-in', '--ended', '--traffic-over', '--unread'];
  const chosen = [...states, '--search', ...figures, '--all', '--yes'];
  expect(without('link add', 'link set')).toEqual([
    '--as-they-leave',
    '--status',
    '--no-key',
    ...chosen,
  ]);
  // The note and the key are in the file.
  const rows = ['--as-they-leave', '--note', '--status', '--key', '--no-key'];
  expect(without('link import', 'link set')).toEqual([...rows, ...chosen]);
  const page = ['--page', '--page-name', '--page-color', '--page-traffic', '--page-cut-off'];
  expect(without('provider add', 'provider set')).toEqual(page);
});

// Nothing is run: only names are read.
const program = buildProgram({} as Parameters<typeof buildProgram>[0]);
const commands = commandTree(program)
  .filter(({ children }) => children.length === 0)
  .map(({ path, ...facts }) => [path.join(' '), { path, ...facts }] as const);

/** Arguments that fit where something must stand. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'device show': ['phone'],
  'device forget': ['phone', '--yes'],
  forget: ['phone', '--yes'],
  'link show': ['LinkCode0001'],
  'link set': ['LinkCode0001', '--limit', '3'],
  'link import': ['links.csv'],
  'link free': ['LinkCode0001', 'phone'],
  'link revoke': ['LinkCode0001'],
  'link remove': ['LinkCode0001'],
  'link enable': ['LinkCode0001'],
  'link disable': ['LinkCode0001'],
  'link name': ['LinkCode0001', 'phone'],
  'link phones': ['LinkCode0001'],
  'link ignore-copies': ['LinkCode0001', 'phone'],
  'link tie': ['1'],
  'link untie': ['1'],
  'link cut-off': ['LinkCode0001'],
  'cuts cancel': ['1'],
  'cuts bars': ['LinkCode0001'],
  'cuts lift': ['LinkCode0001', 'phone'],
  'cuts resume': ['sub.example.org'],
  'link why': ['LinkCode0001', 'phone', '--domain', 'example.com'],
  'link qr': ['LinkCode0001', '--url', 'https://example.com/sub'],
  'domain add': ['example.com'],
  'domain remove': ['example.com'],
  notify: ['--all', '--body', 'x'],
  'command update-subscription': ['--all'],
  'command import-data': ['--all', '--value', 'x'],
  'command set-settings': ['--all', '--file', 'x'],
  'command sub-change': ['--all', '--value', 'example.com'],
  'distribution show': ['1'],
  'distribution cancel': ['1'],
  'distribution receipts': ['1'],
  'distribution block': ['1'],
  'provider show': ['Provide1'],
  'provider set': ['Provide1', '--plan', 'pro'],
  'provider suspend': ['Provide1'],
  'provider resume': ['Provide1'],
  'provider rotate-key': ['Provide1'],
  'provider remove': ['Provide1', '--yes'],
  'provider add': ['--name', 'n'],
  backup: ['copy.backup'],
  restore: ['copy.backup'],
  export: ['Provide1'],
  import: ['file.jsonl'],
  conformance: ['http://127.0.0.1:9'],
  'reminder add': ['traffic', '80%', '--text', 'en=Hi'],
  'reminder set': ['1', '--enabled', 'yes'],
  'reminder remove': ['1'],
  'webhook add': ['--url', 'https://bot.example.com/'],
  'webhook set': ['1', '--enable'],
  'webhook rotate': ['1'],
  'webhook test': ['1'],
  'webhook deliveries': ['1'],
  'webhook replay': ['1', '--event', '1'],
  'webhook remove': ['1', '--yes'],
  'account reset': ['anna'],
  'account end-sessions': ['anna'],
};

/** Where any text is as good as another, or the file decides. */
const FREE = [
  '--data',
  '--config',
  '--name',
  '--os',
  '--key-file',
  '--passphrase-file',
  '--host',
  '--against',
  '--token-file',
  '--providers',
  ...['--out', '--keys'],
  ...['--title', '--body', '--body-file', '--form', '--link', '--value', '--file'],
];

async function mistake(words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await line.run(...words);
  expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
  expect(stderr).toMatch(/^gatepost: .+\n\(see 'gatepost help', or --help after a command\)\n$/);
  return stderr;
}

describe.each(commands)('%s', (name, { path, options }) => {
  const whole = [...path, ...(ARGUMENTS[name] ?? [])];

  test('a word or an option too many', async () => {
    await mistake([...whole, '--no-such-option']);
    // It takes as many HWIDs as a link has.
    if (name !== 'link name') await mistake([...whole, 'one', 'two', 'three']);
  });

  if (whole.length > path.length) test('a missing word', () => mistake(path));

  test('values that do not fit', async () => {
    const valued = options.filter(
      ({ value, names }) => value !== null && !FREE.includes(names[0] ?? ''),
    );
    for (const { names } of valued) {
      for (const value of ['\u0001', 'x'.repeat(300)]) {
        await mistake([...whole, names[0] ?? '', value]);
      }
    }
  });
});

test.each([
  [['provider', 'set', 'Provide1'], 'nothing to change'],
  [['provider', 'set', 'Provide1', '--inactive-days', '3651'], 'from 0 to 3650, or default'],
  [['provider', 'set', 'Provide1', '--cool-down-hours', '0'], 'from 1 to 720, or default'],
  [['provider', 'add', '--name', 'n', '--when-full', 'all'], 'refuse, replace-oldest, default'],
  [['link', 'set', 'LinkCode0001'], 'nothing to change'],
  [['link', 'set', 'LinkCode0001', '--limit', '101'], 'a whole number from 1 to 100'],
  [['link', 'show', 'n'.repeat(65)], 'a part of a note is a text of 1 to 64 characters'],
  [['link', 'show', 'key:a/b'], 'key: with its subscription key'],
  [['link', 'why', 'LinkCode0001', 'phone'], 'required option'],
  [['provider', 'remove', 'short'], 'a provider code is 8 letters and digits'],
  [
    ['provider', 'add', '--name', 'n', '--key', 'k'.repeat(32), '--key-file', 'f'],
    'give either --key',
  ],
  [['device', 'simulate', '--link', 'LinkCode0001'], '--domain-hash is required with'],
  [['device', 'simulate', '--domain-hash', 'a'.repeat(64)], '--domain-hash is required with'],
  [['device', 'list', '--all', '--limit', '3'], "option '--all' cannot be used with"],
  [['export', 'Provide1', ''], 'the name of a file must not be empty'],
  [['audit', 'export', ''], 'the name of a file must not be empty'],
  [['backup', ''], 'the name of a file must not be empty'],
  [['restore', ''], 'the name of a file must not be empty'],
  [['import', ''], 'the name of a file must not be empty'],
  [['provider', 'add', '--name', 'n', '--key-file', ''], 'the name of a file must not be empty'],
  [['import', '--from', 'http://127.0.0.1', '--code', 'Provide1'], '--key or --key-file'],
  [['conformance', 'http://127.0.0.1:9', '--write'], '--write needs a test provider'],
  [['conformance', 'http://127.0.0.1:9', '--provider-code', 'Provide1'], 'go together'],
])('%j is a mistake of usage', async (words, part) => {
  expect(await mistake(words)).toContain(part);
});

test('an answer as YAML and JSON is a mistake of usage, in JSON', async () => {
  const message = "option '--yaml' cannot be used with option '--json'";
  const { code, stderr } = await line.run('openapi', '--yaml', '--json');
  expect({ code, error: JSON.parse(stderr) }).toEqual({
    code: 2,
    error: { error: { code: 'usage', message } },
  });
});

describe('a data directory that is not there is no mistake of usage', () => {
  const reading = commands.filter(([name]) =>
    /^(provider (?!add)|link|device (?!simulate|check)|distribution|audit|export)/.test(name),
  );
  test.each(reading)('%s', async (name, { path }) => {
    const { code, stdout, stderr } = await line.run(...path, ...(ARGUMENTS[name] ?? []));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`gatepost: the data directory ${line.dataDir} does not exist\n`);
  });
});
