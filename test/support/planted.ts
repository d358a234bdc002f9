/** Secrets that are planted to be searched for, in every form in which one could leak. */

import { createHash } from 'node:crypto';

/** The names of the secrets that `text` shows. */
export function shownIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets)
    .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
    .map(([name]) => name);
}

/** A secret in every form in which it could leak. */
export function formsOf(secret: string): string[] {
  const hash = createHash('sha256').update(secret).digest();
  return [
    ...rawFormsOf(secret),
    hash.toString('hex'),
    hash.toString('base64'),
    hash.toString('base64url'),
  ];
}

/** The secret itself, written in different ways: not even a store of hashes may hold these. */
export function rawFormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    percentEncoded(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
    [...secret].reverse().join(''),
  ];
}

/** Every byte as `%XX`. */
export function percentEncoded(text: string): string {
  return Buffer.from(text).toString('hex').toUpperCase().replace(/../g, '%$&');
}
