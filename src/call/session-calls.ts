/** Calls of the console about signing in, sessions, and the sign-in methods of an account. */

import type { FullSignIn } from '../core/account/known-browser.ts';
import {
  addPasskey,
  beginPasskey,
  beginPasskeySignIn,
  removePasskey,
  renamePasskey,
  signInByPasskey,
} from '../core/account/passkeys.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
} from '../core/account/second-factor.ts';
import { endSession, hasWayIn } from '../core/account/session.ts';
import {
  setPassword,
  signInByEntry,
  signInByInvitation,
  signInByKey,
  signInByPassword,
} from '../core/account/sign-in.ts';
import { Refused } from '../core/outcome.ts';
import {
  accountCall,
  type Caller,
  freshAccountCall,
  type Owner,
  openCall,
  selfCall,
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
  callsOf: Caller['callsOf'],
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
  'session.key': openCall(
    ['session.open'],
    inputOf({ code: text(64), key: text(64) }),
    (caller, given) =>
      entering(caller, signInByKey(caller.core, caller.browser, given, caller.nowMs)),
  ),
  'session.password': openCall(
    ['session.open', 'account.use-recovery-code'],
    inputOf({ name: text(64), password: text(200), code: text(64) }),
    (caller, given) => {
      const { browser, core, guesses, mark, nowMs } = caller;
      const typed = { ...given, mark };
      return entering(caller, signInByPassword(core, guesses, browser, typed, nowMs));
    },
  ),
  'session.entry': openCall(['session.open'], inputOf({ secret: text(64) }), (caller, { secret }) =>
    entering(caller, signInByEntry(caller.core, caller.browser, secret, caller.nowMs)),
  ),
  'session.invited': openCall(
    ['account.add', 'session.open'],
    inputOf({ secret: text(64), name: text(64) }),
    (caller, given) =>
      entering(caller, signInByInvitation(caller.core, caller.browser, given, caller.nowMs)),
  ),
  'session.passkey-challenge': openCall([], inputOf({}), async ({ core, nowMs, site }) =>
    beginPasskeySignIn(core, site, nowMs),
  ),
  'session.passkey': openCall(
    ['session.open'],
    inputOf({ response: proof }),
    (caller, { response }) =>
      entering(
        caller,
        signInByPasskey(caller.core, caller.site, caller.browser, response, caller.nowMs),
      ),
  ),
  'session.me': openCall([], inputOf({}), async ({ callsOf, core, nowMs, signedIn }) =>
    signedIn === null ? null : { ...(await meOf(core, signedIn, callsOf)), nowMs },
  ),
  'session.leave': selfCall(
    ['session.end'],
    inputOf({}),
    async ({ core, nowMs, setToken, signedIn }) => {
      const { session } = signedIn;
      await endSession(core, session, session.id, nowMs);
      setToken(null);
      return 'ok' as const;
    },
  ),
  'session.list': selfCall([], inputOf({}), async ({ core, signedIn: { session } }) => {
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
  'session.end': selfCall(['session.end'], inputOf({ id }), ({ core, nowMs, signedIn }, given) =>
    endSession(core, signedIn.session, given.id, nowMs),
  ),
};

export const accountCalls = {
  'account.password': freshAccountCall(
    ['account.set-password'],
    inputOf({ password: text(200) }),
    ({ account, browser, core, guesses, nowMs, signedIn }, { password }) => {
      const of = { account, session: signedIn.session, client: browser.client };
      return setPassword(core, guesses, of, password, nowMs);
    },
  ),
  'account.totp-begin': freshAccountCall(
    ['account.set-second-factor'],
    inputOf({}),
    async (caller) => beginSecondFactor(caller.core, caller.account, caller.nowMs),
  ),
  'account.totp-confirm': freshAccountCall(
    ['account.set-second-factor'],
    inputOf({ code: text(16) }),
    async (caller, { code }) =>
      confirmSecondFactor(caller.core, caller.account, code, caller.nowMs),
  ),
  'account.totp-remove': freshAccountCall(
    ['account.set-second-factor'],
    inputOf({}),
    async (caller) => removeSecondFactor(caller.core, caller.account.id, caller.nowMs),
  ),
  'account.passkeys': accountCall([], inputOf({}), async ({ account, core }) => {
    const all = await core.store.listPasskeys(account.id);
    return all.map(({ createdAtMs, id: own, name, usedAtMs }) => ({
      id: own,
      name,
      createdAtMs,
      usedAtMs,
    }));
  }),
  'account.passkey-begin': freshAccountCall([], inputOf({}), async (caller) =>
    beginPasskey(caller.core, caller.site, caller.account, caller.nowMs),
  ),
  'account.passkey-add': freshAccountCall(
    ['account.add-passkey'],
    inputOf({ name: text(64), response: proof }),
    async (caller, given) =>
      addPasskey(caller.core, caller.site, caller.account, given, caller.nowMs),
  ),
  'account.passkey-rename': accountCall(
    ['account.rename-passkey'],
    inputOf({ id, name: text(64) }),
    ({ account, core, nowMs }, given) => renamePasskey(core, account, given, nowMs),
  ),
  'account.passkey-remove': freshAccountCall(
    ['account.remove-passkey'],
    inputOf({ id }),
    ({ account, core, nowMs }, given) => removePasskey(core, account, given.id, nowMs),
  ),
};
