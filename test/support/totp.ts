/** What an authenticator app shows. */

import { generateHOTP } from '@oslojs/otp';

/** Returns the code of an `otpauth:` address at a time. */
export const codeAt = (uri: string, nowMs: number) => {
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  return generateHOTP(base32(secret), BigInt(Math.floor(nowMs / 30_000)), 6);
};

function base32(text: string): Uint8Array {
  const digits = [...text.replace(/=+$/, '')].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = digits.join('').match(/.{8}/g) ?? [];
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
}
