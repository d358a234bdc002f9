/** `gatepost console link` and `gatepost account …`. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';
import { signInByEntry } from '../../src/core/account/sign-in.ts';
import type { Core } from '../../src/core/core.ts';
import { hashKey } from '../../src/core/secret.ts';
import { openCore } from '../../src/parts/open-core.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

let line: CommandLine;
beforeEach(() => {
  line = commandLine();
});
afterEach(() => line.close());

const secretIn = (output: string) => /#entry=([-_A-Za-z0-9]{43})$/m.exec(output)?.[1] ?? '';
/** Where the clock of the command line stands. */
const NOW_MS = Date.UTC(2026, 10, 20, 12);

/** Uses the data as a server beside the command line does. */
async function withCore<T>(use: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore(loadConfig({ dataDir: line.dataDir }, {}).config, false);
  try {
    return await use(core);
  } finally {
    await core.store.close();
  }
}

const BROWSER = { client: '127.0.0.1', agent: '' };

test('a link makes the account of the operator, once, and its secret is in the fragment', async () => {
  await line.run('provider', 'add', '--name', 'n');
  const first = await line.run('console', 'link');
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toContain('http://127.0.0.1:8080/console#entry=');
  const second = await line.run('console', 'link', '--url', 'https://gate.example.com/');
  expect(second.stdout).toContain('https://gate.example.com/console#entry=');
  const list = await line.run('account', 'list');
  expect(list.stdout).toContain('operator');
  expect(list.stdout.trim().split('\n')).toHaveLength(2);
  const misfit = await line.run('console', 'link', '--account', '!');
  expect(misfit).toMatchObject({ code: 2 });
});

test('a reset takes the password and the sessions; the new link is the way back in', async () => {
  await line.run('provider', 'add', '--name', 'n');
  const entry = secretIn((await line.run('console', 'link')).stdout);
  const token = await withCore(async (core) => {
    const opened = await signInByEntry(core, BROWSER, entry, NOW_MS);
    const account = await core.store.findAccount('operator');
    const act = { actor: core.actor(), atMs: NOW_MS };
    await core.store.setPassword(account?.id ?? 0, 'a hash', 1, act);
    return String(opened);
  });
  const reset = await line.run('account', 'reset', 'Operator');
  expect(secretIn(reset.stdout)).not.toBe(entry);
  await withCore(async ({ store }) => {
    expect(await store.findSession(hashKey(token))).toBeNull();
    expect(await store.findAccount('operator')).toMatchObject({ passwordHash: null });
  });
});

test('ends the sessions of an account, and says how many', async () => {
  await line.run('provider', 'add', '--name', 'n');
  const entry = secretIn((await line.run('console', 'link')).stdout);
  await withCore((core) => signInByEntry(core, BROWSER, entry, NOW_MS));
  const ended = await line.run('account', 'end-sessions', 'operator', '--json');
  expect(JSON.parse(ended.stdout)).toEqual({ account: 'operator', ended: 1 });
});
