/** Sessions of the console. A session ends after 12 hours without use, and after 30 days. */

import { actAt } from '../audit/entry.ts';
import { actingAs, type Core } from '../core.ts';
import { readDeviceToken } from '../formats.ts';
import { isRefused, Refused } from '../outcome.ts';
import type { Account, NamedGrant } from '../port/account.ts';
import type { Actor } from '../port/audit.ts';
import type { Provider } from '../port/provider.ts';
import type { Session, SessionOwner, SignInMethod } from '../port/session.ts';
import { hashKey, keyFingerprint, randomToken, sameHash } from '../secret.ts';

const HOUR_MS = 3_600_000;
const IDLE_MAX_MS = 12 * HOUR_MS;
export const SESSION_MAX_MS = 30 * 24 * HOUR_MS;
/** The least time between two saved uses of a session, ms. */
const TOUCH_MS = 60_000;
/** The time after a sign-in in which an account may change its sign-in methods, ms. */
const FRESH_MS = 600_000;
/** The most sessions of an account, or of a provider with its key. */
const SESSIONS_MAX = 20;
const AGENT_LENGTH_MAX = 120;

/** The browser of a sign-in. */
export interface Browser {
  /** The client's address, in the form of the limits. */
  client: string;
  agent: string;
}

/** The owner of a valid session. */
export interface SignedIn {
  session: Session;
  /** The account; null: a provider that signed in with its key. */
  account: Account | null;
  grants: readonly NamedGrant[];
  /** The actor in the audit log, without the address. */
  actor: Omit<Actor, 'from'>;
}

/** Opens a session. Returns its token; only its hash is stored. */
export async function openSession(
  core: Core,
  { client, agent }: Browser,
  signedIn: { owner: SessionOwner; actor: SignedIn['actor'] },
  method: SignInMethod,
  nowMs: number,
): Promise<string> {
  const token = randomToken();
  const as = actingAs(core, () => ({ ...signedIn.actor, from: client }));
  const draft = {
    owner: signedIn.owner,
    tokenHash: hashKey(token),
    method,
    client,
    agent: agent.slice(0, AGENT_LENGTH_MAX),
    createdAtMs: nowMs,
    untilMs: nowMs + IDLE_MAX_MS,
    countMax: SESSIONS_MAX,
  };
  await core.store.openSession(draft, actAt(as, nowMs));
  return token;
}

/** Ends a session of the same owner. Refuses `session_not_found`. */
export async function endSession(
  core: Core,
  own: Session,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'session_not_found'>> {
  const isEnded = await core.store.endSession(own, id, actAt(core, nowMs));
  return isEnded ? 'ok' : new Refused('session_not_found');
}

/** Returns whether an account can sign in without a link from another person. */
export const hasWayIn = async (
  { store }: Pick<Core, 'store'>,
  { id, passwordHash }: Pick<Account, 'id' | 'passwordHash'>,
): Promise<boolean> => passwordHash !== null || (await store.listPasskeys(id)).length > 0;

/** Returns the actor of an account with these roles, at least one. */
const accountActor = (
  { name }: Pick<Account, 'name'>,
  grants: readonly NamedGrant[],
): SignedIn['actor'] => ({
  kind: 'account',
  name,
  staffOf: grants.every(({ providerId }) => providerId !== null)
    ? (grants[0]?.providerCode ?? null)
    : null,
});

/** Returns an account as the owner of a new session. */
export async function accountOwner(
  { store }: Core,
  account: Pick<Account, 'id' | 'name'>,
): Promise<{ owner: SessionOwner; actor: SignedIn['actor'] }> {
  return {
    owner: ownerOf(account),
    actor: accountActor(account, await store.listGrants(account.id)),
  };
}

const ownerOf = ({ id }: Pick<Account, 'id'>): SessionOwner => ({
  accountId: id,
  providerId: null,
  keyHash: null,
});

export const providerActor = ({ code, keyHash }: Provider): SignedIn['actor'] => ({
  kind: 'provider',
  name: code,
  key: keyFingerprint(keyHash),
});

/**
 * Finds the owner of a session and saves its use. Returns null if there is no session, or it has
 * ended.
 */
export async function findSignedIn(
  core: Core,
  givenToken: string | null,
  nowMs: number,
): Promise<SignedIn | null> {
  const { store } = core;
  const signedIn = await lookSignedIn(core, givenToken, nowMs);
  if (signedIn !== null && nowMs - signedIn.session.seenAtMs >= TOUCH_MS) {
    const { session } = signedIn;
    const untilMs = Math.min(nowMs + IDLE_MAX_MS, session.createdAtMs + SESSION_MAX_MS);
    await store.touchSession(session.id, nowMs, untilMs);
  }
  return signedIn;
}

/**
 * Finds the owner of a session without extending it, for streams of open pages. Returns null as
 * {@link findSignedIn}.
 */
export async function lookSignedIn(
  { store }: Core,
  givenToken: string | null,
  nowMs: number,
): Promise<SignedIn | null> {
  const token = readDeviceToken(givenToken);
  if (isRefused(token)) return null;
  const session = await store.findSession(hashKey(token));
  if (session === null || nowMs >= session.untilMs) return null;
  return ownedBy(store, session);
}

async function ownedBy(store: Core['store'], session: Session): Promise<SignedIn | null> {
  const { accountId, providerId, providerCode, keyHash } = session;
  if (accountId !== null) {
    const [account, grants] = await Promise.all([
      store.readAccount(accountId),
      store.listGrants(accountId),
    ]);
    return account && { session, account, grants, actor: accountActor(account, grants) };
  }
  if (providerCode === null || keyHash === null) return null;
  const provider = await store.findProvider(providerCode);
  // A rotation of the key, or the removal of the provider, ends its sessions.
  if (provider === null || !sameHash(provider.keyHash, keyHash)) return null;
  const { name: providerName } = provider;
  const grant = { providerId, role: 'owner', providerCode, providerName } as const;
  return { session, account: null, grants: [grant], actor: providerActor(provider) };
}

/** Returns whether an account has a role at the appliance. */
export const isOfAppliance = ({ grants }: SignedIn): boolean =>
  grants.some(({ providerId }) => providerId === null);

/** Returns whether the sign-in is recent enough to change sign-in methods. */
export function isFresh({ session }: SignedIn, nowMs: number): boolean {
  return nowMs - session.createdAtMs < FRESH_MS;
}
