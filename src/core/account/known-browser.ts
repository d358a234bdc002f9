/**
 * The mark of a browser in which an account signed in before, as a cookie. It says only that, and
 * only to those who have its key: which account it is of stands in it as a MAC. A change of the
 * account's sign-in methods, and a reset, make it void.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Core } from '../core.ts';
import type { Account } from '../port/account.ts';
import { accountOwner, type Browser, openSession } from './session.ts';

export const MARK_MS = 30 * 24 * 3_600_000;
const MARK = /^[0-9a-z]{1,9}\.[-_A-Za-z0-9]{43}$/;

/** A sign-in by all that the account asks for: the token of its session, and the mark. */
export interface FullSignIn {
  token: string;
  mark: string;
}

/** Opens a session after a full sign-in. */
export async function openFully(
  core: Core,
  browser: Browser,
  account: Account,
  method: 'password' | 'passkey',
  nowMs: number,
): Promise<FullSignIn> {
  const token = await openSession(core, browser, await accountOwner(core, account), method, nowMs);
  const until = (nowMs + MARK_MS).toString(36);
  return { token, mark: `${until}.${(await macOf(core, account, until)).toString('base64url')}` };
}

/** Returns whether a mark is the account's and not over. Without an account it takes as long. */
export async function isMarkOf(
  core: Core,
  account: Account | null,
  mark: string,
  nowMs: number,
): Promise<boolean> {
  if (!MARK.test(mark)) return false;
  const [until = '', mac = ''] = mark.split('.');
  const leftMs = Number.parseInt(until, 36) - nowMs;
  // Of a clock that went ahead and came back, none is good for longer.
  if (leftMs <= 0 || leftMs > MARK_MS) return false;
  const expected = await macOf(core, account ?? NO_ACCOUNT, until);
  return timingSafeEqual(Buffer.from(mac, 'base64url'), expected) && account !== null;
}

type Marked = Omit<Account, 'totpStep' | 'recovery' | 'createdAtMs' | 'signedInAtMs'>;
const NO_ACCOUNT: Marked = {
  id: 0,
  name: '',
  passwordHash: null,
  totpSecret: null,
  totpSinceMs: null,
};

async function macOf({ store }: Core, account: Marked, until: string): Promise<Buffer> {
  const { id, name, passwordHash, totpSecret, totpSinceMs } = account;
  const passkeys = (await store.listPasskeys(id)).map(({ credentialId }) => credentialId);
  const factor = totpSinceMs === null ? null : Buffer.from(totpSecret ?? []).toString('hex');
  const methods = JSON.stringify(['mark', passwordHash, factor, passkeys]);
  const key = createHmac('sha256', await store.readSigningKey())
    .update(methods)
    .digest();
  return createHmac('sha256', key).update(`${name}\n${until}`).digest();
}
