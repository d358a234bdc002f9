/** `gatepost conformance` against the executable, with the operator's own commands. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allCases } from '../../src/conformance/cases.ts';
import type { CaseVerdict } from '../../src/conformance/run.ts';
import {
  addProviderByCommand,
  cleanUp,
  run,
  type ServerProcess,
  startServe,
} from '../support/process.ts';

const CALLERS: Readonly<Record<string, readonly string[]>> = {
  own: [],
  other: [],
  pro: ['--plan', 'pro'],
  basic: ['--plan', 'basic'],
  full: ['--max-links', '1'],
  ended: ['--expires', '2020-01-01'],
};

let server: ServerProcess;
let file: string;
const keys: string[] = [];

beforeAll(async () => {
  server = await startServe();
  const callers: Record<string, unknown> = {};
  for (const [name, words] of Object.entries(CALLERS)) {
    const { code, authKey } = await addProviderByCommand(server.dataDir, ...words);
    callers[name] = { provider_code: code, auth_key: authKey };
    keys.push(authKey);
  }
  file = join(server.dataDir, 'providers.json');
  writeFileSync(file, JSON.stringify(callers), { mode: 0o600 });
});
afterAll(cleanUp);

const conformance = (...words: string[]) => run(['conformance', server.url, ...words]);

test('the executable has no difference, and what it cannot bring about is skipped', async () => {
  const { code, stderr, stdout } = await conformance('--write', '--providers', file, '--json');
  const verdicts: CaseVerdict[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const rest = verdicts.filter(({ verdict }) => verdict !== 'passed');
  const wanting = allCases()
    .filter(({ when }) => when.length > 0)
    .map(({ name }) => name);
  expect(rest.filter(({ case: name }) => !wanting.includes(name))).toEqual([]);
  expect(rest.map(({ at }) => at)).toEqual(
    wanting.map(() => 'it is for when nothing can be saved'),
  );
  expect(code).toBe(0);
  expect(keys.filter((key) => `${stdout}${stderr}`.includes(key))).toEqual([]);
  expect(server.troubles()).toEqual([]);
});

test('without --write nothing changes, and lines are for people', async () => {
  const { code, stdout } = await conformance();
  expect(stdout).toMatch(/^ok {4}add-install-auth +credentials that no provider has/m);
  expect(stdout).toMatch(/^skip {2}add-install +it writes$/m);
  expect(stdout).toMatch(/\n\d+ passed, 0 failed, \d+ skipped\n$/);
  expect(code).toBe(0);
});
