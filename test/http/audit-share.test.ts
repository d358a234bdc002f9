/**
 * A provider that repeats a deed at any door fills no more of the audit log than its share of the
 * day: deeds of the contract are answered as ever and fold; those about keys, staff, webhooks,
 * domains and settings are refused, so that each that was done has its own entry.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { AuditEntry } from '../../src/core/audit/entry.ts';
import { providerOf } from '../../src/core/audit/entry.ts';
import { verifyAudit } from '../../src/core/audit/verify.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { keepAuditBounded } from '../../src/jobs/keep.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { auditEntries } from '../support/audit.ts';
import { ConsoleBrowser } from '../support/console.ts';

/** With it a provider has a hundred entries a day, fifty of each kind. */
const ENTRIES_MAX = 1_000;
const HALF = 50;
const TIMES = 70;
const DAY_MS = 86_400_000;

/** A provider at the doors. */
interface Own {
  at: string;
  browser: ConsoleBrowser;
  /** Calls the API; returns the answer with its detail. */
  api(path: string, query?: Record<string, string | number>): Promise<Answer>;
  credentials: Credentials;
}

interface Answer {
  rc: number;
  id: number;
  msg: string;
  detail: string | null;
}

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ bounds: { auditEntriesMax: ENTRIES_MAX } });
});
afterAll(() => app.close());

async function makeOwn(): Promise<Own> {
  const credentials = await seedProvider(app);
  const browser = new ConsoleBrowser(app.url);
  return {
    at: credentials.code,
    browser,
    credentials,
    api: async (path, query) => {
      const { headers, json } = await call(app, path, credentials, query);
      return { ...json, detail: headers.get('x-error-detail') };
    },
  };
}

const key = ({ at, browser, credentials }: Own) =>
  browser.call('session.key', { code: at, key: credentials.authKey });

/** Makes what a case is about; returns its id. */
type Given = (own: Own) => Promise<number>;
/** Does a deed once more. Returns what the answer says; null: it was done. */
type Deed = (own: Own, id: number, n: number) => Promise<string | null>;

const said = ({ rc, msg, detail }: Answer) => (rc > 0 ? null : `${msg}: ${detail}`);
const refused = (outcome: { refused?: string | undefined; detail?: string | null }) =>
  outcome.refused === undefined ? null : `${outcome.refused}: ${outcome.detail}`;

const nothing: Given = async () => 0;
const aLink: Given = async (own) => (await own.api('/api/add-install', { install_limit: 1 })).id;
const HASH = 'a'.repeat(64);
const aDomain: Given = async (own) => (await own.api('/api/add-domain', { domain_hash: HASH })).id;
const HOOK = 'https://bot.example.com/hook';
const aWebhook: Given = async (own) => (await own.api('/api/webhook-add', { url: HOOK })).id;

async function entriesOf(code: string): Promise<AuditEntry[]> {
  return (await auditEntries(app.core)).filter((entry) => providerOf(entry) === code);
}

/** Repeats a deed; returns what was said, and the entries of the provider by the actor. */
async function repeat(given: Given, deed: Deed) {
  const own = await makeOwn();
  await key(own);
  const id = await given(own);
  const before = await entriesOf(own.at);
  const answers: (string | null)[] = [];
  for (let n = 0; n < TIMES; n++) answers.push(await deed(own, id, n));
  const entries = (await entriesOf(own.at)).slice(before.length);
  return { own, answers, before, entries };
}

const FOLDING: Record<string, [Given, Deed]> = {
  '/api/update-install': [
    aLink,
    async ({ api }, id, n) => said(await api('/api/update-install', { id, install_limit: n + 2 })),
  ],
  '/api/add-install': [
    nothing,
    async ({ api }) => said(await api('/api/add-install', { install_limit: 1 })),
  ],
  '/api/revoke-install': [
    aLink,
    async ({ api }, id) => said(await api('/api/revoke-install', { id })),
  ],
  '/api/add-install and /api/remove-install': [
    nothing,
    async ({ api }) => {
      const { id } = await api('/api/add-install', { install_limit: 1 });
      return said(await api('/api/remove-install', { id }));
    },
  ],
  '/api/delete-domain and /api/add-domain': [
    aDomain,
    async ({ api }, id, n) =>
      said(
        n % 2 === 0
          ? await api('/api/delete-domain', { id })
          : await api('/api/add-domain', { domain_hash: HASH }),
      ),
  ],
  'links.edit': [
    aLink,
    async ({ at, browser }, id, n) =>
      refused(await browser.call('links.edit', { at, id, limit: n + 2 })),
  ],
  'links.add and links.remove': [
    nothing,
    async ({ at, browser }) => {
      const { id } = await browser.get('links.add', { at, limit: 1, note: '' });
      return refused(await browser.call('links.remove', { at, id }));
    },
  ],
  'session.key': [nothing, async (own) => refused(await key(own))],
  'session.leave': [
    nothing,
    async (own) => {
      await key(own);
      return refused(await own.browser.call('session.leave', {}));
    },
  ],
};

/** The number of entries that count towards no share: new bindings have a cap. */
const cappedIn = (entries: readonly AuditEntry[]) =>
  entries.filter(({ action }) => action === 'domain.add').length;

describe('a deed that folds is answered at', () => {
  test.each(Object.entries(FOLDING))('%s', async (_, [given, deed]) => {
    const { own, answers, before, entries } = await repeat(given, deed);
    expect(answers).toEqual(answers.map(() => null));
    // The making of the provider is the operator's.
    expect(before.length - 1 - cappedIn(before) + entries.length).toBe(HALF);
    const laterMs = app.clock.nowMs() + 120_000;
    await keepAuditBounded(app.core, KEPT, laterMs, laterMs);
    expect(await entriesOf(own.at)).toHaveLength(before.length + entries.length);
  });
});

const ALONE: Record<string, [Given, Deed, string]> = {
  '/api/policy': [
    nothing,
    async ({ api }, _, n) => said(await api('/api/policy', { inactive_days: n + 1 })),
    'Unknown error',
  ],
  '/api/webhook-update': [
    aWebhook,
    async ({ api }, id, n) => said(await api('/api/webhook-update', { id, url: `${HOOK}/${n}` })),
    'Error save webhook',
  ],
  '/api/webhook-add and /api/webhook-remove': [
    nothing,
    async ({ api }) => {
      const added = await api('/api/webhook-add', { url: HOOK });
      return said(added) ?? said(await api('/api/webhook-remove', { id: added.id }));
    },
    'Error save webhook',
  ],
  'page.set': [
    nothing,
    async ({ at, browser }, _, n) => {
      const look = { my: 1, myName: `Shop ${n}`, myColor: '#0f766e', supportUrl: '' };
      return refused(await browser.call('page.set', { at, ...look }));
    },
    'too_many_requests',
  ],
  'keys.add and keys.remove': [
    nothing,
    async ({ at, browser }) => {
      const made = await browser.call('keys.add', { at, name: 'bot', scope: 'read', days: null });
      if (made.refused !== undefined) return refused(made);
      return refused(await browser.call('keys.remove', { at, id: (made.ok as { id: number }).id }));
    },
    'too_many_requests',
  ],
  'staff.invite': [
    nothing,
    async ({ at, browser }) => refused(await browser.call('staff.invite', { at, role: 'reader' })),
    'too_many_requests',
  ],
  'webhooks.edit': [
    aWebhook,
    async ({ at, browser }, id, n) =>
      refused(await browser.call('webhooks.edit', { at, id, isEnabled: n % 2 === 1 })),
    'webhook_save_error',
  ],
};

const KEPT = { auditDays: 365, auditEntriesMax: ENTRIES_MAX };
const WHY = 'the provider has changed as much as it may: try again in a minute, or tomorrow';

describe('a deed that never folds is refused in the end at', () => {
  test.each(Object.entries(ALONE))('%s', async (_, [given, deed, says]) => {
    const faults = app.logLines.filter((line) => line.includes('"level":"error"')).length;
    const { own, answers, before, entries } = await repeat(given, deed);
    const refusals = answers.filter((answer) => answer !== null);
    expect(new Set(refusals)).toEqual(new Set([`${says}: ${WHY}`]));
    const ofSession = before.filter(({ action }) => action === 'session.open');
    // The making of the provider is the operator's.
    const own50 = before.length - 1 - ofSession.length - cappedIn(before) + entries.length;
    expect(own50).toBe(HALF);
    expect(entries.some(({ object }) => 'folded' in object)).toBe(false);
    // Its links and messages go on, as does the operator, and the next day.
    expect((await own.api('/api/add-install', { install_limit: 1 })).rc).toBe(1);
    await app.core.store.updateProvider(own.at, { plan: 'pro' }, ACT);
    expect(app.logLines.filter((line) => line.includes('"level":"error"'))).toHaveLength(faults);
    app.clock.advance(DAY_MS);
    await key(own);
    const next = await deed(own, await given(own), 2);
    expect(next).toBeNull();
  });
});

test('the log verifies', async () => {
  const nowMs = app.clock.nowMs();
  await keepAuditBounded(app.core, KEPT, nowMs, nowMs);
  const measure = { ...KEPT, expected: [], nowMs };
  expect((await verifyAudit(app.core, measure)).problem).toBeNull();
});
