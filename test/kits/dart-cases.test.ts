/**
 * The cases of the kit in Dart for its parts that need no server, played on other kits: what they
 * expect is proved where no Dart is. kits/dart.test.ts plays them on the kit itself.
 */

import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { badUrl } from '../../sdk/typescript/src/fault.ts';
import { discover } from '../../sdk/typescript/src/index.ts';
import {
  actionOf,
  messageIn,
  plainText,
  textsOf,
  unknownIn,
} from '../../sdk/typescript/src/message.ts';
import {
  type Ack,
  headersOf,
  knowing,
  owing,
  readState,
  type State,
  without,
  writeState,
} from '../../sdk/typescript/src/state.ts';
import { PYTHON } from '../support/kits.ts';
import { ROOT } from '../support/process.ts';

const CASES = JSON.parse(readFileSync(join(ROOT, 'sdk/dart/test/cases.json'), 'utf8'));

type Step = (state: State, ack: Ack) => State;
const STEPS: Readonly<Record<string, Step>> = {
  knowing,
  owing,
  without: (state, ack) => without(state, [ack]),
};

function textsIn(given: unknown, locale: string) {
  const message = messageIn(given);
  if (message === null) return { none: true };
  return { ...textsOf(message, locale), action: actionOf(message), unknown: unknownIn(message) };
}

function stateAfter(text: string | null, hwid: string | null, steps: [string, Ack][]): unknown {
  const first = readState(text, hwid ?? undefined);
  const last = steps.reduce((state, [step, ack]) => STEPS[step]?.(state, ack) ?? state, first);
  return JSON.parse(writeState(last));
}

function baseAt(fetched: string, path: string | null): string | null {
  const found = discover(fetched, path === null ? {} : { 'x-device-server': path }, {});
  return found && `${found.url}${found.base}`;
}

test('the kit in TypeScript passes them', () => {
  for (const { html, plain } of CASES.plain) expect(plainText(html)).toBe(plain);
  for (const { why: _, message, locale, ...expected } of CASES.texts) {
    expect(textsIn(message, locale)).toEqual(expected);
  }
  for (const { text, hwid, steps, state } of CASES.states) {
    expect(stateAfter(text, hwid, steps)).toEqual(state);
  }
  for (const { url, base } of CASES.addresses) expect(badUrl(url) === null).toBe(base !== null);
  for (const { fetched, path, base } of CASES.discovery) expect(baseAt(fetched, path)).toBe(base);
  for (const { hwid, facts, headers } of CASES.headers) {
    expect(headersOf(hwid, facts)).toEqual(headers);
  }
});

const REFUSALS = `
import json, sys
from gatepost_device import _status
for case in json.load(sys.stdin):
    said = _status("refused", case["answer"])
    read = [said.reason or said.detail, said.text or said.detail, said.limit, said.free_url]
    assert read == [case[name] for name in ("word", "text", "limit", "free_url")], case
`;

test.skipIf(!existsSync(PYTHON))('the kit in Python reads refusals so', () => {
  const { stderr, exitCode } = Bun.spawnSync([PYTHON, '-c', REFUSALS], {
    cwd: join(ROOT, 'sdk/python'),
    stdin: Buffer.from(JSON.stringify(CASES.refusals)),
  });
  expect({ exitCode, said: String(stderr) }).toEqual({ exitCode: 0, said: '' });
});
