/** Deeds about accounts, sessions and keys for a part of the API: see ./deeds.ts. */

import { isoTime } from '../calendar.ts';
import type { Account, Grant } from '../port/account.ts';
import type { ProviderKey } from '../port/provider-key.ts';
import type { OneTime, SignInMethod } from '../port/session.ts';
import { keyFingerprint } from '../secret.ts';
import { changesOf, type Deed } from './entry.ts';

export const addAccount = (id: number, { role }: Grant): Deed => ({
  action: 'account.add',
  object: { id, role },
});

export const changeRole = (id: number, before: Grant, after: Grant): Deed => ({
  action: 'account.change-role',
  object: { id },
  change: { role: [before.role, after.role] },
});

export const removeRole = (id: number, { role }: Grant): Deed => ({
  action: 'account.remove-role',
  object: { id, role },
});

export const setPassword = (id: number, isSet: boolean): Deed => ({
  action: 'account.set-password',
  object: { id, password: isSet ? 'set' : 'removed' },
});

/** Null: the second factor is stored, but not confirmed. */
export function setSecondFactor(before: Account, totpSinceMs: number | null): Deed | null {
  const change = changesOf({ since: isoTime(before.totpSinceMs) }, { since: isoTime(totpSinceMs) });
  return change && { action: 'account.set-second-factor', object: { id: before.id }, change };
}

export const useRecoveryCode = (id: number, left: number): Deed => ({
  action: 'account.use-recovery-code',
  object: { id, left },
});

export const addPasskey = (id: number, passkey: number): Deed => ({
  action: 'account.add-passkey',
  object: { id, passkey },
});

export const renamePasskey = (id: number, passkey: number): Deed => ({
  action: 'account.rename-passkey',
  object: { id, passkey },
  change: { name: 'changed' },
});

export const removePasskey = (id: number, passkey: number): Deed => ({
  action: 'account.remove-passkey',
  object: { id, passkey },
});

export const addOneTime = ({ kind, accountId, role, untilMs }: OneTime): Deed => ({
  action: 'account.invite',
  object: { kind, account: accountId, role, until: isoTime(untilMs) },
});

export const openSession = (id: number, method: SignInMethod): Deed => ({
  action: 'session.open',
  object: { id, method },
});

export const endSessions = (count: number): Deed => ({ action: 'session.end', object: { count } });

type NewKey = Omit<ProviderKey, 'firstUsedAtMs'>;

export const addKey = ({ id, scope, keyHash, untilMs }: NewKey): Deed => ({
  action: 'key.add',
  object: { id, key: keyFingerprint(keyHash), scope, until: isoTime(untilMs) },
});

export const removeKey = ({ id, scope, keyHash }: ProviderKey): Deed => ({
  action: 'key.remove',
  object: { id, key: keyFingerprint(keyHash), scope },
});
