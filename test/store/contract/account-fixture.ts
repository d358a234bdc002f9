/** Accounts, sessions and secrets to put into a store. */

import type { Grant, NewAccount } from '../../../src/core/port/account.ts';
import type { NewOneTime, NewSession } from '../../../src/core/port/session.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries, deedOf } from '../../support/audit.ts';
import { NOW_MS } from './fixture.ts';

export const OPERATOR: Grant = { providerId: null, role: 'operator' };

export function accountDraft(name: string, grant = OPERATOR): NewAccount {
  return { name, grant, countMax: 10, createdAtMs: NOW_MS, invitation: null };
}

export async function addAccount(store: Store, name: string, grant = OPERATOR): Promise<number> {
  const added = await store.addAccount(accountDraft(name, grant), ACT);
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

export function sessionDraft(token: string, accountId: number): NewSession {
  return {
    owner: { accountId, providerId: null, keyHash: null },
    tokenHash: hashKey(token),
    method: 'password',
    client: '192.0.2.1',
    agent: 'a browser',
    createdAtMs: NOW_MS,
    untilMs: NOW_MS + 1_000,
    countMax: 3,
  };
}

export function secretDraft(secret: string, more: Partial<NewOneTime> = {}): NewOneTime {
  return {
    kind: 'entry',
    accountId: null,
    providerId: null,
    role: null,
    secretHash: hashKey(secret),
    untilMs: NOW_MS + 1_000,
    countMax: 3,
    nowMs: NOW_MS,
    ...more,
  };
}

/** The deeds of accounts, sessions and keys, in their order. */
export async function deedsIn(store: Store): Promise<string[]> {
  const deeds = (await auditEntries({ store })).map(deedOf);
  return deeds.filter((deed) => /^(?:account|session|key)\./.test(deed));
}
