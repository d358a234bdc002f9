/** The cases in `conformance/`: their form, and what they are about. */

import { expect, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import { FREE_CALLERS } from '../../src/conformance/case.ts';
import { allCases, FILES, GIVEN, RECORDS } from '../../src/conformance/cases.ts';
import { CaseFile } from '../../src/conformance/format.ts';
import { DRAWS, KINDS } from '../../src/conformance/words.ts';
import { SPEC_MESSAGES, SPEC_NOTICES } from '../http/scenarios/spec-messages.ts';
import { committedFiles, readText } from '../support/tree.ts';
import { FAULTS } from './faults.ts';

const CASES = allCases();

test('each file is of the form that the README describes, and embedded', () => {
  const all = { ...FILES, given: GIVEN };
  const wrong = Object.entries(all).flatMap(([name, file]) =>
    [...Value.Errors(CaseFile, file)].map(({ path, message }) => `${name}${path}: ${message}`),
  );
  expect(wrong).toEqual([]);
  const there = committedFiles().filter((path) => /^conformance\/.*\.json$/.test(path));
  const known = Object.keys(all).map((name) => `conformance/${name}.json`);
  expect(known.sort()).toEqual(there.sort());
});

test('each name is there once, and every record and given is used', () => {
  const names = CASES.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  // As the command prints them, in a column.
  expect(Math.max(...names.map((name) => name.length))).toBe(34);
  const text = JSON.stringify(FILES);
  const parts = [...Object.keys(GIVEN.given ?? {}), ...Object.keys(RECORDS)];
  expect(parts.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});

test('what only reads is a list, or refused before anything is looked at', () => {
  const writing = CASES.filter(({ reads }) => reads).flatMap(({ name, steps }) =>
    steps
      .filter(({ as, call = '' }) => {
        const isList = /^GET \/+(?:api\/+list-|remote\/list)/.test(call);
        const isRegistration = call.endsWith('/device/register');
        return !isList && (isRegistration || (as !== 'stranger' && as !== 'none'));
      })
      .map(({ call }) => `${name}: ${call}`),
  );
  expect(writing).toEqual([]);
});

/** The calls of the public contract. */
const CONTRACT = [
  ...['add-install', 'update-install', 'list-install', 'list-hwid', 'delete-hwid'],
  ...['add-domain', 'delete-domain', 'list-domain'],
].map((name) => `/api/${name}`);
const REMOTE = ['notification', 'command', 'cancel', 'list'].map((name) => `/remote/${name}`);
const DEVICES = ['/install', '/provider', '/device/register', '/device/inbox', '/device/ack'];

test.each([...CONTRACT, ...REMOTE])(
  '%s: each text of the contract is the answer of a case',
  (path) => {
    const texts = CASES.flatMap(({ steps }) => steps)
      .filter(({ call = '' }) => call.split(' ')[1] === path)
      .map(({ answer }) => (typeof answer === 'string' ? answer : (answer?.msg ?? 'Ok')));
    const own = ['Ok', ...(SPEC_NOTICES[path] ?? []), ...(SPEC_MESSAGES[path] ?? [])];
    expect(own.filter((text) => !texts.includes(text))).toEqual([]);
  },
);

test('each call and the stream of devices has a case that succeeds', () => {
  const steps = CASES.flatMap((one) => one.steps);
  const succeeds = (path: string) =>
    steps.some(({ answer, call }) => call?.endsWith(` ${path}`) && (answer?.rc ?? 1) === 1);
  expect(DEVICES.filter((path) => !succeeds(path))).toEqual([]);
  expect(steps.some(({ frame, open }) => open === '/device/stream' || frame?.data)).toBe(true);
});

test('the README has every caller, pattern and word', () => {
  const readme = readText('conformance/README.md');
  const callers = new Set(CASES.flatMap((one) => one.callers));
  const words = [
    ...[...callers, ...FREE_CALLERS].map((name) => `\`${name}\``),
    ...Object.keys(KINDS).map((kind) => `\`<${kind}>\``),
    ...Object.keys(DRAWS).map((name) => `\`{${name}}\``),
  ];
  expect(words.filter((word) => !readme.includes(word))).toEqual([]);
});

test('each planted fault has its text in its file exactly once', () => {
  const wrong = FAULTS.filter(({ file, text }) => readText(file).split(text).length !== 2);
  expect(wrong).toEqual([]);
  expect(FAULTS.length).toBeGreaterThanOrEqual(30);
});
