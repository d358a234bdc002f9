/** Each call is served by the surfaces that its record names, by those who may make it there. */

import { expect, test } from 'bun:test';
import type { Command } from 'commander';
import type { AnyCall } from '../../src/call/call.ts';
import { directCalls } from '../../src/call/direct-calls.ts';
import { RECORDS } from '../../src/call/table.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { CUT, OWN, OWN_LOOK } from '../../src/core/account/roles.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { committedFiles, readText } from '../support/tree.ts';

/** Each record: those of the console, and those of API and command line alone. */
const ALL = [...RECORDS, ...Object.entries<AnyCall>(directCalls)];

const commandsOf = (command: Command, path = ''): string[] =>
  command.commands.flatMap((one) => {
    const name = `${path} ${one.name()}`.trim();
    return one.commands.length === 0 ? [name] : commandsOf(one, name);
  });

/** Returns what a pattern finds in the files of a folder. */
const namesIn = (folder: string, pattern: RegExp): string[] =>
  committedFiles()
    .filter((file) => file.startsWith(folder))
    .flatMap((file) => [...readText(file).matchAll(pattern)].map(([, name = '']) => name));

test('the API serves the calls that name a path, and no other endpoint has it', () => {
  const paths = ALL.flatMap(([, { serves }]) => serves.api?.path ?? []);
  expect(paths.length).toBeGreaterThan(5);
  expect(new Set(paths).size).toBe(paths.length);
  const made = namesIn('src/http/endpoints/', /callEndpoint\(\w+\['([\w.-]+)'\]/g);
  const named = ALL.flatMap(([name, { serves }]) => (serves.api ? [name] : []));
  expect(made.sort()).toEqual([...named].sort());
  for (const path of paths) {
    expect([path, endpoints.filter((one) => one.path === path).length]).toEqual([path, 1]);
  }
});

test('a key opens what the roles of the console may: the main key, or one for ties or cut-offs, what owners alone may', () => {
  for (const [name, { may, serves }] of ALL) {
    if (serves.api === undefined) continue;
    const isOwners = may === OWN || may === OWN_LOOK || may === CUT;
    expect([name, ['main', 'ties', 'cuts'].includes(serves.api.needs)]).toEqual([name, isOwners]);
    const reads = (may ?? []).includes('reader');
    expect([name, serves.api.needs === 'read']).toEqual([name, reads]);
  }
});

test('commands make the calls that name them, and those are commands', () => {
  const commands = commandsOf(buildProgram({} as never));
  const named = ALL.flatMap(([name, { serves }]) => (serves.commands ? [name] : []));
  const of = ALL.flatMap(([, { serves }]) => serves.commands ?? []);
  expect(of.filter((command) => !commands.includes(command))).toEqual([]);
  const names = new Set(ALL.map(([name]): string => name));
  const made = namesIn('src/cli/', /'([a-z]+\.[a-z-]+)'/g).filter((name) => names.has(name));
  expect([...new Set(made)].sort()).toEqual([...named].sort());
});

test('what reads leaves no entry in the audit log, and nothing is for nobody', () => {
  const looks = /\.(?:list|show|read|find|csv|final|opens|settings|source|preview|chain)$/;
  for (const [name, { audit, may }] of ALL) {
    if (looks.test(name)) expect([name, ...audit]).toEqual([name]);
    expect([name, may?.length]).not.toEqual([name, 0]);
  }
});

test('the page makes each call', () => {
  const made = new Set(namesIn('src/console/', /'([a-z]+\.[a-z-]+)'/g));
  expect(RECORDS.flatMap(([name]) => (made.has(name) ? [] : [name]))).toEqual([]);
});

/** Why an endpoint of providers is on no record. */
const ENDPOINTS_BY_HAND: Readonly<Record<string, readonly string[]>> = {
  'of the contract: its names, order of checks and answers are written out': [
    ...['/api/add-install', '/api/update-install', '/api/list-install'],
    ...['/api/list-hwid', '/api/delete-hwid'],
    ...['/api/add-domain', '/api/delete-domain', '/api/list-domain'],
    ...['/remote/notification', '/remote/command', '/remote/list', '/remote/receipts'],
  ],
  'as the contract: cancels a message of /remote/list, by its names': ['/remote/cancel'],
  'reads, in pieces or with times in the zone of answers': [
    ...['/api/list-refused', '/api/stats', '/api/webhook-list', '/api/webhook-deliveries'],
  ],
};

test('each endpoint of providers is on a record, or is named with the reason', () => {
  const served = ALL.flatMap(([, { serves }]) => serves.api?.path ?? []);
  const ofProviders = endpoints.filter(({ audience }) => audience === 'provider');
  const rest = ofProviders.flatMap(({ path }) => (served.includes(path) ? [] : [path]));
  expect<string[]>(rest.sort()).toEqual(Object.values(ENDPOINTS_BY_HAND).flat().sort());
  const reads = ofProviders.flatMap(({ path, repeat }) => (repeat === 'reads' ? [path] : []));
  const READING = 'reads, in pieces or with times in the zone of answers';
  expect(reads).toEqual(expect.arrayContaining([...(ENDPOINTS_BY_HAND[READING] ?? [])]));
});

/** Why a command that changes something is on no record. */
const COMMANDS_BY_HAND: Readonly<Record<string, readonly string[]>> = {
  'about the installation: it opens no core, or its database is closed meanwhile': [
    ...['serve', 'demo', 'update', 'backup', 'restore', 'move-database'],
  ],
  'moves a whole panel or file in, in steps of its own, which the audit log counts': ['import'],
  'sends to a receiver of the test, and changes no row': [
    ...['gateway test', 'device simulate', 'device check', 'conformance'],
  ],
  'of the machine alone: neither console nor API has it': [
    'clock trust',
    'console link',
    'follow accept',
    'cuts resume',
  ],
  'the same as `device forget`': ['forget'],
};

/** Commands that change nothing. */
const READING_COMMANDS = [
  ...['provider list', 'provider show', 'domain list', 'link list', 'link show', 'link why'],
  ...[
    'bot list',
    'reminder list',
    'link phones',
    'link qr',
    'device list',
    'device show',
    'distribution list',
    'distribution show',
  ],
  ...['distribution receipts', 'gateway list', 'webhook list', 'webhook deliveries'],
  ...[
    'account list',
    'node list',
    'clock show',
    'follow list',
    'stats',
    'ready',
    'audit list',
    'audit verify',
    'cuts bars',
    'cuts list',
  ],
  ...['audit head', 'audit export', 'doctor', 'explain', 'export', 'config', 'openapi', 'version'],
];

test('each command makes a call of a record, or is named with the reason', () => {
  const served = ALL.flatMap(([, { serves }]) => serves.commands ?? []);
  const rest = commandsOf(buildProgram({} as never)).filter((name) => !served.includes(name));
  const named = [...Object.values(COMMANDS_BY_HAND).flat(), ...READING_COMMANDS];
  expect(rest.sort()).toEqual(named.sort());
});
