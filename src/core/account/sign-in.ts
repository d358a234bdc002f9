/** The sign-in methods of the console. A refusal does not reveal which input was wrong. */

import { actAt } from '../audit/entry.ts';
import { actingAs, type Core } from '../core.ts';
import { readDeviceToken } from '../formats.ts';
import { isRefused, type Misfit, Refused } from '../outcome.ts';
import type { Grant } from '../port/account.ts';
import { authenticate } from '../provider.ts';
import { hashKey, randomToken, sameHash } from '../secret.ts';
import { readAccountName } from './formats.ts';
import { isGoodCode } from './second-factor.ts';
import { accountOwner, type Browser, openSession, providerActor } from './session.ts';

/** The time for which an entry or invitation is valid, ms. */
const LINK_MS = 600_000;
/** The most valid entries and invitations. */
const LINKS_MAX = 1_000;
/** The most accounts with a role at a provider, or at the appliance. */
const ACCOUNTS_MAX = 100;

/** Hashes and compares passwords, a few at a time, in turns by party. */
export interface Passwords {
  /** Returns the hash; null: the queue is full. */
  hash(party: string, password: string): Promise<string | null>;
  /** Compares; without a hash it takes the same time. Returns null if the queue is full. */
  verify(party: string, password: string, hash: string | null): Promise<boolean | null>;
}

/** Limits wrong codes of the second factor by account: their sender knows the password. */
interface WrongCodes {
  /** Counts an attempt while it runs, and then if it `counts`. Null: there were too many. */
  attempt<T>(
    name: string,
    nowMs: number,
    act: () => Promise<T>,
    counts: (done: T) => boolean,
  ): Promise<T | null>;
}

type Wrong = Refused<'sign_in_wrong'>;
const wrong = (): Wrong => new Refused('sign_in_wrong');

/** Signs a provider in as its owner. Refuses a key of a scope, and the key before a rotation. */
export async function signInByKey(
  core: Core,
  browser: Browser,
  { code, key }: { code: string; key: string },
  nowMs: number,
): Promise<string | Wrong> {
  const authentic = await authenticate(core, code, key, nowMs);
  if (authentic === null) return wrong();
  const { provider, keyHash } = authentic;
  // A key of a scope has another hash too.
  if (!sameHash(provider.keyHash, keyHash)) return wrong();
  const owner = { accountId: null, providerId: provider.id, keyHash };
  return openSession(core, browser, { owner, actor: providerActor(provider) }, 'key', nowMs);
}

interface Typed {
  name: string;
  password: string;
  /** A code of the authenticator app, or a recovery code; empty: none. */
  code: string;
}

/**
 * Signs an account in. Refuses `code_needed` if the password is right and the code missing,
 * `too_many_requests` if too many passwords wait or too many codes were wrong.
 */
export async function signInByPassword(
  core: Core,
  { passwords, wrongCodes }: { passwords: Passwords; wrongCodes: WrongCodes },
  browser: Browser,
  typed: Typed,
  nowMs: number,
): Promise<string | Wrong | Refused<'code_needed' | 'code_wrong' | 'too_many_requests'>> {
  const name = readAccountName(typed.name);
  const account = isRefused(name) ? null : await core.store.findAccount(name);
  const hash = account?.passwordHash ?? null;
  const isRight = await passwords.verify(browser.client, typed.password, hash);
  if (isRight === null) return new Refused('too_many_requests');
  if (!isRight || account === null) return wrong();
  const signedIn = await accountOwner(core, account);
  if (account.totpSinceMs !== null) {
    if (typed.code === '') return new Refused('code_needed');
    const as = actingAs(core, () => ({ ...signedIn.actor, from: browser.client }));
    const isGood = await wrongCodes.attempt(
      account.name,
      nowMs,
      () => isGoodCode(as, account, typed.code, nowMs),
      (good) => !good,
    );
    if (isGood === null) return new Refused('too_many_requests');
    if (!isGood) return new Refused('code_wrong', { recordId: account.id });
  }
  return openSession(core, browser, signedIn, 'password', nowMs);
}

/** Signs in to the account of an entry, once. Refuses an unknown, used or expired entry. */
export async function signInByEntry(
  core: Core,
  browser: Browser,
  givenSecret: string,
  nowMs: number,
): Promise<string | Wrong> {
  const secret = readDeviceToken(givenSecret);
  if (isRefused(secret)) return wrong();
  const entry = await core.store.takeOneTime('entry', hashKey(secret), nowMs);
  const account = entry?.accountId == null ? null : await core.store.readAccount(entry.accountId);
  if (account === null) return wrong();
  return openSession(core, browser, await accountOwner(core, account), 'link', nowMs);
}

/**
 * Adds the account of an invitation and signs it in. Refuses an invalid invitation; returns
 * `account_exists` or `account_limit_reached`.
 */
export async function signInByInvitation(
  core: Core,
  browser: Browser,
  { secret: givenSecret, name: givenName }: { secret: string; name: string },
  nowMs: number,
): Promise<string | Wrong | Misfit | Refused<'account_exists' | 'account_limit_reached'>> {
  const secret = readDeviceToken(givenSecret);
  if (isRefused(secret)) return wrong();
  const name = readAccountName(givenName);
  if (isRefused(name)) return name;
  const actor = { kind: 'account', name } as const;
  const as = actingAs(core, () => ({ ...actor, from: browser.client }));
  const draft = {
    name,
    grant: { providerId: null, role: 'observer' } as const,
    countMax: ACCOUNTS_MAX,
    createdAtMs: nowMs,
    invitation: { secretHash: hashKey(secret), nowMs },
  };
  const added = await core.store.addAccount(draft, actAt(as, nowMs));
  if (added === 'invitation_used') return wrong();
  if (typeof added === 'string') return new Refused(added);
  const signedIn = await accountOwner(core, { id: added.id, name });
  return openSession(core, browser, signedIn, 'link', nowMs);
}

/** Makes an invitation to a role. Returns its secret, shown once, or `one_time_limit_reached`. */
export function invite(
  core: Core,
  { providerId, role }: Grant,
  nowMs: number,
): Promise<string | Refused<'one_time_limit_reached'>> {
  return addLink(core, { kind: 'invitation', accountId: null, providerId, role }, nowMs);
}

/** Makes an entry for an account, for the operator only. Returns its secret. */
export async function makeEntry(core: Core, accountId: number, nowMs: number): Promise<string> {
  const link = { kind: 'entry', accountId, providerId: null, role: null } as const;
  const made = await addLink(core, link, nowMs, Number.MAX_SAFE_INTEGER);
  if (isRefused(made)) throw new Error('entries have no limit');
  return made;
}

async function addLink(
  core: Core,
  link: Pick<
    Parameters<Core['store']['addOneTime']>[0],
    'kind' | 'accountId' | 'role' | 'providerId'
  >,
  nowMs: number,
  countMax = LINKS_MAX,
): Promise<string | Refused<'one_time_limit_reached'>> {
  const secret = randomToken();
  const bounds = { untilMs: nowMs + LINK_MS, countMax, nowMs };
  const draft = { ...link, ...bounds, secretHash: hashKey(secret) };
  const outcome = await core.store.addOneTime(draft, actAt(core, nowMs));
  return outcome === 'ok' ? secret : new Refused(outcome);
}
