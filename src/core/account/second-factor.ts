/** The second factor of a password: codes of an authenticator app (TOTP), and recovery codes. */

import { createTOTPKeyURI, generateHOTP } from '@oslojs/otp';
import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import { Refused } from '../outcome.ts';
import type { Account } from '../port/account.ts';
import { paramsHash, randomCode } from '../secret.ts';

const STEP_S = 30;
const DIGITS = 6;
const SECRET_BYTES = 20;
/**
 * Time steps before and after the present one that are accepted, because clocks of phones differ.
 */
const STEPS_BESIDE = 1;
const RECOVERY_COUNT = 10;
/** The length of a recovery code in letters and digits: 71 bits. */
const RECOVERY_LENGTH = 12;

/** Stores a new secret; it applies once a code of it confirms it. */
export async function beginSecondFactor(
  core: Core,
  { id, name, totpSinceMs }: Account,
  nowMs: number,
): Promise<{ uri: string } | Refused<'second_factor_exists'>> {
  if (totpSinceMs !== null) return new Refused('second_factor_exists');
  const totpSecret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const factor = { totpSecret, totpSinceMs: null, recovery: [] };
  await core.store.setSecondFactor(id, factor, actAt(core, nowMs));
  return { uri: createTOTPKeyURI('Gatepost', name, totpSecret, STEP_S, DIGITS) };
}

/** Confirms the secret. Returns the recovery codes, which are shown once. */
export async function confirmSecondFactor(
  core: Core,
  account: Account,
  code: unknown,
  nowMs: number,
): Promise<{ recovery: string[] } | Refused<'second_factor_exists' | 'code_wrong'>> {
  const { id, totpSecret, totpSinceMs } = account;
  if (totpSinceMs !== null) return new Refused('second_factor_exists');
  if (!(await isFreshCode(core, account, code, nowMs))) return new Refused('code_wrong');
  const recovery = Array.from({ length: RECOVERY_COUNT }, () => randomCode(RECOVERY_LENGTH));
  const factor = { totpSecret, totpSinceMs: nowMs, recovery: recovery.map(recoveryHash) };
  await core.store.setSecondFactor(id, factor, actAt(core, nowMs));
  return { recovery };
}

/** Removes the second factor. */
export async function removeSecondFactor(core: Core, id: number, nowMs: number): Promise<'ok'> {
  const none = { totpSecret: null, totpSinceMs: null, recovery: [] };
  await core.store.setSecondFactor(id, none, actAt(core, nowMs));
  return 'ok';
}

/** Checks a code of the app or a recovery code, and uses it up. Returns false for a wrong code. */
export async function isGoodCode(
  core: Core,
  account: Account,
  code: string,
  nowMs: number,
): Promise<boolean> {
  const plain = code.replace(/[\s-]/g, '');
  if (/^\d{6}$/.test(plain)) return isFreshCode(core, account, plain, nowMs);
  const hash = recoveryHash(plain);
  if (!account.recovery.includes(hash)) return false;
  return core.store.useRecoveryCode(account.id, hash, actAt(core, nowMs));
}

/** Uses up the time step of a code. Returns false for a wrong code and for a used one. */
async function isFreshCode(
  { store }: Core,
  { id, totpSecret }: Account,
  code: unknown,
  nowMs: number,
): Promise<boolean> {
  if (totpSecret === null) return false;
  const present = Math.floor(nowMs / 1_000 / STEP_S);
  const steps = Array.from({ length: 2 * STEPS_BESIDE + 1 }, (_, n) => present - STEPS_BESIDE + n);
  const step = steps.find((one) => generateHOTP(totpSecret, BigInt(one), DIGITS) === code);
  return step !== undefined && store.useTotpStep(id, step);
}

const recoveryHash = (code: string) => paramsHash(code);
