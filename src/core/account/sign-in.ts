/** The sign-in methods of the console. A refusal does not reveal which input was wrong. */

import { actAt } from '../audit/entry.ts';
import { actingAs, type Core } from '../core.ts';
import { readDeviceToken } from '../formats.ts';
import { fromStore, isRefused, type Misfit, Refused } from '../outcome.ts';
import type { Account, Grant } from '../port/account.ts';
import type { NewOneTime, Session } from '../port/session.ts';
import { authenticate } from '../provider.ts';
import { hashKey, randomToken, sameHash } from '../secret.ts';
import { readAccountName, readNewPassword } from './formats.ts';
import { type FullSignIn, isMarkOf, openFully } from './known-browser.ts';
import { isGoodCode } from './second-factor.ts';
import { accountOwner, type Browser, openSession, providerActor } from './session.ts';

/** The time for which an entry or invitation is valid, ms. */
const LINK_MS = 600_000;
/** The most accounts with a role at a provider, or at the appliance. */
const ACCOUNTS_MAX = 100;
/** The most open invitations to a place: as many as accounts. */
const INVITATIONS_MAX = ACCOUNTS_MAX;
/** As many more that the operator may make at a provider whose own are used up. */
const RESERVED_MAX = 20;

/** The caller of a hash. */
export interface Hashing {
  client: string;
  /** The name that was typed; empty: it can be none. */
  account: string;
  /** True for a caller that has shown to belong to the account: it waits for no stranger. */
  isKnown: boolean;
}

/** Hashes and compares passwords, a few at a time, in turns by network, address and account. */
export interface Passwords {
  /** Returns the hash; null: the queue is full. */
  hash(of: Hashing, password: string): Promise<string | null>;
  /** Compares; without a hash it takes the same time. Returns null if the queue is full. */
  verify(of: Hashing, password: string, hash: string | null): Promise<boolean | null>;
}

/** Limits failed attempts. */
interface Tries {
  /**
   * Counts an attempt while it runs, and then if it `counts`. `from`: the client, or who else could
   * fill the table of names. Null: there were too many.
   */
  attempt<T>(
    name: string,
    nowMs: number,
    act: () => Promise<T>,
    counts: (done: T) => boolean,
    from?: string,
  ): Promise<T | null>;
}

/** The bounds of guesses at passwords and codes. */
export interface GuessBounds {
  passwords: Passwords;
  /** Wrong codes of the second factor by account: their sender knows the password. */
  wrongCodes: Tries;
  /** Wrong tries of browsers without a mark, by name of account. */
  wrongTries: Tries;
  /** Wrong tries of browsers with a mark, by mark, which is void after them. */
  markTries: Tries;
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
  /** The mark of the browser; null: it has none. */
  mark: string | null;
}

type Denied = Wrong | Refused<'code_needed' | 'code_wrong' | 'too_many_requests'>;

const isGuess = (said: FullSignIn | Denied): boolean =>
  isRefused(said) && (said.says === 'sign_in_wrong' || said.says === 'code_wrong');

/**
 * Signs an account in. Refuses `code_needed` if the password is right and the code missing,
 * `too_many_requests` if too many passwords wait or too many tries were wrong. A browser with the
 * mark of the account has tries of its own: those of strangers cost it nothing.
 */
export async function signInByPassword(
  core: Core,
  bounds: GuessBounds,
  browser: Browser,
  typed: Typed,
  nowMs: number,
): Promise<FullSignIn | Denied> {
  const read = readAccountName(typed.name);
  const name = isRefused(read) ? '' : read;
  const account = name === '' ? null : await core.store.findAccount(name);
  const { client } = browser;
  const { mark } = typed;
  const attempt = (isKnown: boolean) => () => {
    const of = { client, account: name, isKnown };
    return tryPassword(core, bounds, { browser, account, of }, typed, nowMs);
  };
  if (mark !== null && (await isMarkOf(core, account, mark, nowMs))) {
    const said = await bounds.markTries.attempt(mark, nowMs, attempt(true), isGuess, name);
    if (said !== null) return said;
  }
  const said = await bounds.wrongTries.attempt(name, nowMs, attempt(false), isGuess, client);
  return said ?? new Refused('too_many_requests');
}

async function tryPassword(
  core: Core,
  { passwords, wrongCodes }: GuessBounds,
  { browser, account, of }: { browser: Browser; account: Account | null; of: Hashing },
  { password, code }: Typed,
  nowMs: number,
): Promise<FullSignIn | Denied> {
  const isRight = await passwords.verify(of, password, account?.passwordHash ?? null);
  if (isRight === null) return new Refused('too_many_requests');
  if (!isRight || account === null) return wrong();
  if (account.totpSinceMs !== null) {
    if (code === '') return new Refused('code_needed');
    const { actor } = await accountOwner(core, account);
    const as = actingAs(core, () => ({ ...actor, from: browser.client }));
    const check = () => isGoodCode(as, account, code, nowMs);
    const isGood = of.isKnown
      ? await check()
      : await wrongCodes.attempt(account.name, nowMs, check, (good) => !good, browser.client);
    if (isGood === null) return new Refused('too_many_requests');
    if (!isGood) return new Refused('code_wrong', { recordId: account.id });
  }
  return openFully(core, browser, account, 'password', nowMs);
}

/**
 * Sets the password of an account, and ends its other sessions. Returns a misfit, or
 * `too_many_requests` if too many passwords wait.
 */
export async function setPassword(
  core: Core,
  { passwords }: Pick<GuessBounds, 'passwords'>,
  { account, session, client }: { account: Account; session: Session; client: string },
  given: string,
  nowMs: number,
): Promise<'ok' | Misfit | Refused<'too_many_requests'>> {
  const password = readNewPassword(given);
  if (isRefused(password)) return password;
  const hash = await passwords.hash({ client, account: account.name, isKnown: true }, password);
  if (hash === null) return new Refused('too_many_requests');
  await core.store.setPassword(account.id, hash, session.id, actAt(core, nowMs));
  return 'ok';
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

/**
 * Makes an invitation to a role. Returns its secret, shown once, or `one_time_limit_reached`.
 * `isOperators`: the operator makes it.
 */
export async function invite(
  core: Core,
  { providerId, role, isOperators }: Grant & { isOperators: boolean },
  nowMs: number,
): Promise<string | Refused<'one_time_limit_reached'>> {
  const draft = { kind: 'invitation', accountId: null, providerId, role } as const;
  const countMax = INVITATIONS_MAX + (isOperators ? RESERVED_MAX : 0);
  return (await addLink(core, { ...draft, countMax }, nowMs)) ?? LINKS_FULL;
}

/** Gives an account another role at its place. Refuses as the port says. */
export const changeRole = async (core: Core, accountId: number, grant: Grant, nowMs: number) =>
  fromStore(await core.store.changeRole(accountId, grant, actAt(core, nowMs)));

/** Takes the role of an account at a provider, or at the appliance (null). */
export const removeRole = async (
  core: Core,
  accountId: number,
  providerId: number | null,
  nowMs: number,
) => fromStore(await core.store.removeRole(accountId, providerId, actAt(core, nowMs)));

/** Makes an entry for an account, for the operator only. Returns its secret. */
export async function makeEntry(core: Core, accountId: number, nowMs: number): Promise<string> {
  const draft = { kind: 'entry', accountId, providerId: null, role: null } as const;
  const made = await addLink(core, { ...draft, countMax: Number.MAX_SAFE_INTEGER }, nowMs);
  if (made === null) throw new Error('entries have no limit');
  return made;
}

const LINKS_FULL = new Refused('one_time_limit_reached');

/** Returns the secret; null: there are `countMax`. */
async function addLink(
  core: Core,
  link: Omit<NewOneTime, 'secretHash' | 'untilMs' | 'nowMs'>,
  nowMs: number,
): Promise<string | null> {
  const secret = randomToken();
  const draft = { ...link, secretHash: hashKey(secret), untilMs: nowMs + LINK_MS, nowMs };
  const outcome = await core.store.addOneTime(draft, actAt(core, nowMs));
  return outcome === 'ok' ? secret : null;
}
