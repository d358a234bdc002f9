/** Texts that no database or encoding takes, in each field of each call: none is a fault. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import { RECORDS } from '../../../src/call/table.ts';
import { openSession } from '../../../src/core/account/session.ts';
import { ACT } from '../../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

const TEXTS = ['a\u0000', '\ud800', '\ufffe\u2028%_\\', "');--", ''];

let app: TestApp;
let at: string;
let accountId: number;
beforeAll(async () => {
  app = await startTestApp();
  at = (await seedProvider(app, { plan: 'enterprise' })).code;
  const grant = { providerId: null, role: 'operator' } as const;
  const draft = { name: 'anna', grant, countMax: 9, createdAtMs: 0, invitation: null };
  const added = await app.core.store.addAccount(draft, ACT);
  if (typeof added === 'string') throw new Error(added);
  accountId = added.id;
});
afterAll(() => app.close());

async function signedIn(): Promise<ConsoleBrowser> {
  const owner = { accountId, providerId: null, keyHash: null };
  const of = { owner, actor: { kind: 'account', name: 'anna' } } as const;
  const from = { client: '127.0.0.1', agent: '' };
  const browser = new ConsoleBrowser(app.url);
  const token = await openSession(app.core, from, of, 'link', app.clock.nowMs());
  browser.cookie = `__Host-gatepost=${token}`;
  return browser;
}

/** A value that fits but for its texts, each of which is `text`. */
function madeFor(schema: TSchema, text: string): unknown {
  const { anyOf, const: only, items, maxLength = 99, minimum = 1, properties, type } = schema;
  if (only !== undefined) return only;
  if (anyOf)
    return madeFor(
      anyOf.find((one: TSchema) => one['type'] !== 'null'),
      text,
    );
  if (type === 'object' && properties === undefined) return { [text]: text, body: text };
  if (type === 'object') {
    const entries = Object.entries<TSchema>(properties);
    return Object.fromEntries(
      entries.map(([name, one]) => [name, name === 'at' ? at : madeFor(one, text)]),
    );
  }
  if (type === 'array') return [madeFor(items, text)];
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number') return minimum;
  return type === 'null' ? null : text.slice(0, maxLength);
}

test.each(RECORDS)('%s', async (name, { input }) => {
  for (const text of TEXTS) {
    const given = madeFor(input, text) as never;
    const browser = await signedIn();
    const outcome = await browser.call(name, given);
    expect([name, text, outcome.refused === 'fault' ? outcome : 'no fault']).toEqual([
      ...[name, text, 'no fault'],
    ]);
  }
});

test.each(TEXTS)('a provider that is named %j is unknown', async (text) => {
  const browser = await signedIn();
  const given = { at: text.slice(0, 8) };
  expect(await browser.refusal('overview.read', given)).toBe('no_right');
  const { cookie } = browser;
  const path = `/console/stream?at=${encodeURIComponent(text.toWellFormed())}`;
  const answer = await fetch(`${app.url}${path}`, { headers: { cookie } });
  expect(await answer.json()).toMatchObject({ refused: 'no_right' });
});
