/** Keys that sign for APNs and Web Push (ES256): both are of the curve P-256. */

import { createPrivateKey, type KeyObject } from 'node:crypto';

/** Reads the text of a signing key; or returns what is wrong with it, behind the file's name. */
export function readSigningKey(text: string): KeyObject | string {
  try {
    const key = createPrivateKey(text);
    const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return isP256 ? key : 'holds another kind of key: it must be one of the curve P-256';
  } catch {
    return 'holds no private key in PEM';
  }
}
