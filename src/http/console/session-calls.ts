/** Calls of the console about signing in, sessions, and the sign-in methods of an account. */

import { readLabel, readNewPassword } from '../../core/account/formats.ts';
import type { FullSignIn } from '../../core/account/known-browser.ts';
import {
  addPasskey,
  beginPasskey,
  beginPasskeySignIn,
  signInByPasskey,
} from '../../core/account/passkeys.ts';
import { callsOf } from '../../core/account/roles.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
} from '../../core/account/second-factor.ts';
import { hasWayIn } from '../../core/account/session.ts';
import {
  signInByEntry,
  signInByInvitation,
  signInByKey,
  signInByPassword,
} from '../../core/account/sign-in.ts';
import { actAt } from '../../core/audit/entry.ts';
import { isRefused, Refused } from '../../core/outcome.ts';
import {
  accountCall,
  type Caller,
  freshAccountCall,
  type Owner,
  openCall,
  ownerCall,
} from './call.ts';
import { id, inputOf, proof, text } from './inputs.ts';

/** Sets the cookies of the session and, after a full sign-in, the mark; or returns the refusal. */
async function entering<R extends Refused<string>>(
  { setMark, setToken }: Caller,
  signingIn: Promise<string | FullSignIn | R>,
): Promise<{ isIn: true } | R> {
  const signedIn = await signingIn;
  if (signedIn instanceof Refused) return signedIn;
  if (typeof signedIn === 'string') {
    setToken(signedIn);
  } else {
    setToken(signedIn.token);
    setMark(signedIn.mark);
  }
  return { isIn: true };
}

const meOf = async (
  core: Owner['core'],
  { account, grants, session, actor }: Owner['signedIn'],
) => ({
  name: actor.name,
  isAccount: account !== null,
  hasWayIn: account === null || (await hasWayIn(core, account)),
  hasPassword: account?.passwordHash != null,
  hasTotp: account?.totpSinceMs != null,
  method: session.method,
  grants: grants.map(({ role, providerCode, providerName }) => ({
    role,
    code: providerCode,
    name: providerName,
    calls: callsOf(role),
  })),
});

export const sessionCalls = {
  'session.key': openCall(inputOf({ code: text(64), key: text(64) }), (caller, given) =>
    entering(caller, signInByKey(caller.core, caller.browser, given, caller.nowMs)),
  ),
  'session.password': openCall(
    inputOf({ name: text(64), password: text(200), code: text(64) }),
    (caller, given) => {
      const { browser, core, guesses, mark, nowMs } = caller;
      const typed = { ...given, mark };
      return entering(caller, signInByPassword(core, guesses, browser, typed, nowMs));
    },
  ),
  'session.entry': openCall(inputOf({ secret: text(64) }), (caller, { secret }) =>
    entering(caller, signInByEntry(caller.core, caller.browser, secret, caller.nowMs)),
  ),
  'session.invited': openCall(inputOf({ secret: text(64), name: text(64) }), (caller, given) =>
    entering(caller, signInByInvitation(caller.core, caller.browser, given, caller.nowMs)),
  ),
  'session.passkey-challenge': openCall(inputOf({}), async ({ core, nowMs, site }) =>
    beginPasskeySignIn(core, site, nowMs),
  ),
  'session.passkey': openCall(inputOf({ response: proof }), (caller, { response }) =>
    entering(
      caller,
      signInByPasskey(caller.core, caller.site, caller.browser, response, caller.nowMs),
    ),
  ),
  'session.me': openCall(inputOf({}), async ({ core, nowMs, signedIn }) =>
    signedIn === null ? null : { ...(await meOf(core, signedIn)), nowMs },
  ),
  'session.leave': ownerCall(inputOf({}), async ({ core, nowMs, setToken, signedIn }) => {
    const { session } = signedIn;
    await core.store.endSession(session, session.id, actAt(core, nowMs));
    setToken(null);
    return 'ok' as const;
  }),
  'session.list': ownerCall(inputOf({}), async ({ core, signedIn: { session } }) => {
    const all = await core.store.listSessions(session);
    return all.map(({ agent, client, createdAtMs, id: own, method, seenAtMs }) => ({
      id: own,
      agent,
      client,
      createdAtMs,
      method,
      seenAtMs,
      isThis: own === session.id,
    }));
  }),
  'session.end': ownerCall(inputOf({ id }), async ({ core, nowMs, signedIn }, given) => {
    const isEnded = await core.store.endSession(signedIn.session, given.id, actAt(core, nowMs));
    return isEnded ? ('ok' as const) : new Refused('session_not_found');
  }),
};

export const accountCalls = {
  'account.password': freshAccountCall(
    inputOf({ password: text(200) }),
    async ({ account, browser, core, guesses, nowMs, signedIn }, { password: given }) => {
      const password = readNewPassword(given);
      if (isRefused(password)) return password;
      const of = { client: browser.client, account: account.name, isKnown: true };
      const hash = await guesses.passwords.hash(of, password);
      if (hash === null) return new Refused('too_many_requests');
      await core.store.setPassword(account.id, hash, signedIn.session.id, actAt(core, nowMs));
      return 'ok' as const;
    },
  ),
  'account.totp-begin': freshAccountCall(inputOf({}), async (caller) =>
    beginSecondFactor(caller.core, caller.account, caller.nowMs),
  ),
  'account.totp-confirm': freshAccountCall(inputOf({ code: text(16) }), async (caller, { code }) =>
    confirmSecondFactor(caller.core, caller.account, code, caller.nowMs),
  ),
  'account.totp-remove': freshAccountCall(inputOf({}), async (caller) =>
    removeSecondFactor(caller.core, caller.account.id, caller.nowMs),
  ),
  'account.passkeys': accountCall(inputOf({}), async ({ account, core }) => {
    const all = await core.store.listPasskeys(account.id);
    return all.map(({ createdAtMs, id: own, name, usedAtMs }) => ({
      id: own,
      name,
      createdAtMs,
      usedAtMs,
    }));
  }),
  'account.passkey-begin': freshAccountCall(inputOf({}), async (caller) =>
    beginPasskey(caller.core, caller.site, caller.account, caller.nowMs),
  ),
  'account.passkey-add': freshAccountCall(
    inputOf({ name: text(64), response: proof }),
    async (caller, given) =>
      addPasskey(caller.core, caller.site, caller.account, given, caller.nowMs),
  ),
  'account.passkey-rename': accountCall(
    inputOf({ id, name: text(64) }),
    async ({ account, core, nowMs }, given) => {
      const name = readLabel(given.name);
      if (isRefused(name)) return name;
      const act = actAt(core, nowMs);
      const isRenamed = await core.store.renamePasskey(account.id, given.id, name, act);
      return isRenamed ? ('ok' as const) : new Refused('passkey_not_found');
    },
  ),
  'account.passkey-remove': freshAccountCall(
    inputOf({ id }),
    async ({ account, core, nowMs }, given) => {
      const isRemoved = await core.store.removePasskey(account.id, given.id, actAt(core, nowMs));
      return isRemoved ? ('ok' as const) : new Refused('passkey_not_found');
    },
  ),
};
