/** Each call is served by the surfaces that its record names, by those who may make it there. */

import { expect, test } from 'bun:test';
import type { Command } from 'commander';
import { RECORDS } from '../../src/call/table.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { OWN, OWN_LOOK } from '../../src/core/account/roles.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { committedFiles, readText } from '../support/tree.ts';

const commandsOf = (command: Command, path = ''): string[] =>
  command.commands.flatMap((one) => {
    const name = `${path} ${one.name()}`.trim();
    return [name, ...commandsOf(one, name)];
  });

/** Returns what a pattern finds in the files of a folder. */
const namesIn = (folder: string, pattern: RegExp): string[] =>
  committedFiles()
    .filter((file) => file.startsWith(folder))
    .flatMap((file) => [...readText(file).matchAll(pattern)].map(([, name = '']) => name));

test('the API serves the calls that name a path, and no other endpoint has it', () => {
  const paths = RECORDS.flatMap(([, { serves }]) => serves.api?.path ?? []);
  expect(paths.length).toBeGreaterThan(5);
  expect(new Set(paths).size).toBe(paths.length);
  const made = namesIn('src/http/endpoints/', /callEndpoint\(\w+\['([\w.-]+)'\]/g);
  const named = RECORDS.flatMap(([name, { serves }]) => (serves.api ? [name] : []));
  expect(made.sort()).toEqual([...named].sort());
  for (const path of paths) {
    expect([path, endpoints.filter((one) => one.path === path).length]).toEqual([path, 1]);
  }
});

test('a key opens what the roles of the console may: the main key what owners alone may', () => {
  for (const [name, { may, serves }] of RECORDS) {
    if (serves.api === undefined) continue;
    const isOwners = may === OWN || may === OWN_LOOK;
    expect([name, serves.api.needs === 'main']).toEqual([name, isOwners]);
    const reads = (may ?? []).includes('reader');
    expect([name, serves.api.needs === 'read']).toEqual([name, reads]);
  }
});

test('commands make the calls that name them, and those are commands', () => {
  const commands = commandsOf(buildProgram({} as never));
  const named = RECORDS.flatMap(([name, { serves }]) => (serves.commands ? [name] : []));
  const of = RECORDS.flatMap(([, { serves }]) => serves.commands ?? []);
  expect(of.filter((command) => !commands.includes(command))).toEqual([]);
  expect(new Set(of).size).toBe(of.length);
  const made = namesIn('src/cli/', /\bmake\(\s*'([\w.-]+)'/g);
  expect([...new Set(made)].sort()).toEqual([...named].sort());
});

test('what reads leaves no entry in the audit log, and nothing is for nobody', () => {
  const looks = /\.(?:list|show|read|find|csv|final|opens|settings|source|preview|chain)$/;
  for (const [name, { audit, may }] of RECORDS) {
    if (looks.test(name)) expect([name, ...audit]).toEqual([name]);
    expect([name, may?.length]).not.toEqual([name, 0]);
  }
});

test('the page makes each call', () => {
  const made = new Set(namesIn('src/console/', /'([a-z]+\.[a-z-]+)'/g));
  expect(RECORDS.flatMap(([name]) => (made.has(name) ? [] : [name]))).toEqual([]);
});
