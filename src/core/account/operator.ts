/** Accounts on the operator's command line: first access and recovery. */

import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import { isRefused, type Misfit, Refused } from '../outcome.ts';
import type { Account } from '../port/account.ts';
import { readAccountName } from './formats.ts';
import { makeEntry } from './sign-in.ts';

/**
 * Makes an entry for an operator's account, and the account if the name is new. Returns a misfit
 * for an invalid name.
 */
export async function makeOperatorEntry(
  core: Core,
  givenName: string,
  nowMs: number,
): Promise<{ name: string; secret: string } | Misfit> {
  const name = readAccountName(givenName);
  if (isRefused(name)) return name;
  const known = await core.store.findAccount(name);
  const id = known?.id ?? (await addOperator(core, name, nowMs));
  return { name, secret: await makeEntry(core, id, nowMs) };
}

async function addOperator(core: Core, name: string, nowMs: number): Promise<number> {
  const grant = { providerId: null, role: 'operator' } as const;
  const terms = { countMax: Number.MAX_SAFE_INTEGER, createdAtMs: nowMs, invitation: null };
  const added = await core.store.addAccount({ name, grant, ...terms }, actAt(core, nowMs));
  if (typeof added !== 'string') return added.id;
  // Another command added the account meanwhile.
  return (await core.store.findAccount(name))?.id ?? 0;
}

/**
 * Removes every way in to an account, as the port says. Returns a new entry, or
 * `account_not_found`.
 */
export async function resetAccount(
  core: Core,
  name: string,
  nowMs: number,
): Promise<string | Refused<'account_not_found'>> {
  const account = await find(core, name);
  if (isRefused(account)) return account;
  if (!(await core.store.resetAccount(account.id, actAt(core, nowMs)))) {
    return new Refused('account_not_found');
  }
  return makeEntry(core, account.id, nowMs);
}

/** Ends all sessions of an account. Returns their number, or `account_not_found`. */
export async function endAllSessions(
  core: Core,
  name: string,
  nowMs: number,
): Promise<number | Refused<'account_not_found'>> {
  const account = await find(core, name);
  if (isRefused(account)) return account;
  const owner = { accountId: account.id, providerId: null };
  return core.store.endSessions(owner, null, actAt(core, nowMs));
}

async function find(core: Core, name: string): Promise<Account | Refused<'account_not_found'>> {
  const known = readAccountName(name);
  const account = isRefused(known) ? null : await core.store.findAccount(known);
  return account ?? new Refused('account_not_found');
}
