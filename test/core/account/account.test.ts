/** Accounts without HTTP: keys, the second factor, the way back in, and what a session keeps. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { addKey, opens } from '../../../src/core/account/keys.ts';
import { makeOperatorEntry, resetAccount } from '../../../src/core/account/operator.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  isGoodCode,
} from '../../../src/core/account/second-factor.ts';
import { findSignedIn } from '../../../src/core/account/session.ts';
import { signInByEntry } from '../../../src/core/account/sign-in.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { ACT } from '../../support/actor.ts';
import { type Engine, makeProvider, openEngine } from '../../support/delivery.ts';
import { codeAt } from '../../support/totp.ts';

const STEP_MS = 30_000;

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const nowMs = () => engine.clock.nowMs();

/** Takes an outcome that must be no refusal. */
function good<T>(outcome: T): Exclude<T, { says: string }> {
  if (isRefused(outcome)) throw new Error(outcome.says);
  return outcome as Exclude<T, { says: string }>;
}

async function account() {
  good(await makeOperatorEntry(engine.core, 'anna', nowMs()));
  const found = await engine.core.store.findAccount('anna');
  if (found === null) throw new Error('no account');
  return found;
}

test('a key reads, and opens its own part besides; the main key opens all', () => {
  const needs = ['read', 'links', 'send', 'main'] as const;
  const open = (has: (typeof needs)[number]) => needs.filter((need) => opens(has, need));
  expect(open('read')).toEqual(['read']);
  expect(open('links')).toEqual(['read', 'links']);
  expect(open('send')).toEqual(['read', 'send']);
  expect(open('main')).toEqual([...needs]);
});

test('a key ends in the future', async () => {
  const provider = await makeProvider(engine);
  const add = (untilMs: number | null) =>
    addKey(engine.core, provider.id, { name: 'bot', scope: 'read', untilMs }, nowMs());
  expect(await add(nowMs())).toMatchObject({ says: 'malformed' });
  expect(isRefused(await add(nowMs() + 1))).toBe(false);
  expect(isRefused(await add(null))).toBe(false);
});

test('a code is good in its time step and the two beside it, once, also with blanks', async () => {
  const { core } = engine;
  const { uri } = good(await beginSecondFactor(core, await account(), nowMs()));
  const code = (steps: number) => codeAt(uri, nowMs() + steps * STEP_MS);
  const { recovery } = good(await confirmSecondFactor(core, await account(), code(-1), nowMs()));
  const isGood = async (text: string) => isGoodCode(core, await account(), text, nowMs());
  for (const steps of [-2, 2]) expect(await isGood(code(steps))).toBe(false);
  // Those of an earlier step than one that was used are used too.
  expect(await isGood(code(-1))).toBe(false);
  expect(await isGood(code(0).replace(/^.../, '$& '))).toBe(true);
  expect(await isGood(code(0))).toBe(false);
  expect(await isGood(code(1))).toBe(true);
  const [first = ''] = recovery;
  expect(await isGood(first)).toBe(true);
  expect(await isGood(first)).toBe(false);
});

test('a recovery code that two callers show at once is used once', async () => {
  const { core } = engine;
  const { uri } = good(await beginSecondFactor(core, await account(), nowMs()));
  const shown = codeAt(uri, nowMs());
  const { recovery } = good(await confirmSecondFactor(core, await account(), shown, nowMs()));
  const owner = await account();
  const both = [0, 1].map(() => isGoodCode(core, owner, recovery[1] ?? '', nowMs()));
  expect((await Promise.all(both)).sort()).toEqual([false, true]);
});

test('a reset takes the password and the second factor', async () => {
  const { core } = engine;
  const { id } = await account();
  await core.store.setPassword(id, 'a hash', 1, ACT);
  const { uri } = good(await beginSecondFactor(core, await account(), nowMs()));
  good(await confirmSecondFactor(core, await account(), codeAt(uri, nowMs()), nowMs()));
  good(await resetAccount(core, 'anna', nowMs()));
  expect(await account()).toMatchObject({
    passwordHash: null,
    totpSecret: null,
    totpSinceMs: null,
    recovery: [],
  });
});

test('a session notes its use once a minute, and keeps 120 characters of the agent', async () => {
  const { core, clock } = engine;
  const { secret } = good(await makeOperatorEntry(core, 'anna', nowMs()));
  const browser = { client: '127.0.0.1', agent: 'x'.repeat(200) };
  const token = String(good(await signInByEntry(core, browser, secret, nowMs())));
  const startMs = nowMs();
  const seen = async () => (await findSignedIn(core, token, nowMs()))?.session;
  expect((await seen())?.agent).toBe('x'.repeat(120));
  clock.advance(59_999);
  await seen();
  expect((await seen())?.seenAtMs).toBe(startMs);
  clock.advance(1);
  await seen();
  expect((await seen())?.seenAtMs).toBe(startMs + 60_000);
});
