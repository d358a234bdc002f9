/**
 * Signed tokens of subscriptions. Panels make a new one at each read of a user; the user in the
 * token is the key of the link. Other spellings are refused: a panel that accepts one would open a
 * link that Gatepost did not judge.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedForm } from './key-form.ts';

interface PanelToken {
  readonly panel: SignedForm;
  /** The key of the link: see {@link SignedForm.rule}. */
  readonly key: string;
  /** The part of the token that is signed. */
  readonly signed: string;
  readonly signature: string;
  readonly signedAtMs: number;
  /** `mac`: HMAC-SHA256. `digest`: 10 characters of SHA-256 over the text and the secret. */
  readonly form: 'mac' | 'digest';
}

/** The panels make no shorter tokens; a name has at most 128 characters. */
const TOKEN = /^[\w.-]{15,512}$/;
/** The head of each JWT of the panels' first versions. */
const JWT_HEAD = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.';
const MAC_LENGTH = 43;
const DIGEST_LENGTH = 10;
const NAME = /^[\w@.-]{1,128}$/;
/** `NAME,SECONDS`: all users of a panel without numbers, and those of old tokens. */
const NAME_AND_TIME = /^([\w@.-]{1,128}),(\d{1,12})$/;

/** Parses a token without checking its signature; null: the panel makes no such token. */
export function readPanelToken(panel: SignedForm, text: string): PanelToken | null {
  if (!TOKEN.test(text)) return null;
  if (text.startsWith(JWT_HEAD)) return readJwt(panel, text);
  const dot = panel.hasMac ? text.lastIndexOf('.') : -1;
  const end = dot < 0 ? text.length - DIGEST_LENGTH : dot;
  const signed = text.slice(0, end);
  const signature = text.slice(dot < 0 ? end : end + 1);
  if (dot >= 0 && signature.length !== MAC_LENGTH) return null;
  const user = userIn(panel, decodedText(signed));
  const form = dot < 0 ? 'digest' : 'mac';
  return user === null ? null : { panel, ...user, signed, signature, form };
}

/** Reads the user and the time of a token. */
function userIn(
  panel: SignedForm,
  text: string | null,
): Pick<PanelToken, 'key' | 'signedAtMs'> | null {
  const byId = panel.idAndTime?.exec(text ?? '');
  const [, user = '', seconds] = byId ?? NAME_AND_TIME.exec(text ?? '') ?? [];
  if (!byId && !NAME.test(user)) return null;
  const key = byId ? panel.keyOfUser(user) : panel.keyOfName(user);
  return { key, signedAtMs: Number(seconds) * 1_000 };
}

/**
 * Returns the user in the key of an old token that has a name, although the panel knows its users
 * by number; null: another key.
 */
export function oldNameIn({ oldNames }: SignedForm, key: string): string | null {
  return oldNames !== null && key.startsWith(oldNames) ? key.slice(oldNames.length) : null;
}

function readJwt(panel: SignedForm, text: string): PanelToken | null {
  const [head, payload, signature, ...more] = text.split('.');
  if (payload === undefined || signature?.length !== MAC_LENGTH || more.length > 0) return null;
  const claims = claimsIn(decodedText(payload));
  const { access, iat, sub, ...others } = claims ?? {};
  // The panels write no other fields; their library would judge a time or an audience.
  const isOfPanel = access === 'subscription' && typeof iat === 'number';
  if (!isOfPanel || Object.keys(others).length > 0) return null;
  if (typeof sub !== 'string' || !NAME.test(sub)) return null;
  const key = panel.keyOfName(sub);
  const signedAtMs = Math.floor(iat * 1_000);
  return { panel, key, signedAtMs, signed: `${head}.${payload}`, signature, form: 'mac' };
}

function claimsIn(text: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const claims: unknown = JSON.parse(text ?? '');
    return typeof claims === 'object' ? (claims as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

/** Returns the text of base64url without padding; null: another encoding of it exists. */
function decodedText(encoded: string): string | null {
  const bytes = Buffer.from(encoded, 'base64url');
  return bytes.toString('base64url') === encoded ? bytes.toString('latin1') : null;
}

/**
 * Makes keys that no user has: a key of any text, and for a panel that signs, a token with a wrong
 * signature. Nothing in them tells Gatepost from an app.
 */
export function strangersKeys(form: SignedForm | null): string[] {
  const any = crypto.randomUUID();
  return form === null ? [any] : [strangersToken(form), any];
}

function strangersToken({ hasMac, strangersText }: SignedForm): string {
  const [random = 0, more = 0] = crypto.getRandomValues(new Uint32Array(2));
  const signature = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
  // A time of some year since 2020.
  const text = Buffer.from(strangersText(random, 1_600_000_000 + (more % 150_000_000)));
  const end = hasMac ? `.${signature}` : signature.slice(0, DIGEST_LENGTH);
  return `${text.toString('base64url')}${end}`;
}

/** Returns whether the panel that has the secret signed a token, in constant time. */
export function isSigned({ panel, form, signed, signature }: PanelToken, secret: string): boolean {
  if (form === 'mac') {
    return isSame(createHmac('sha256', secret).update(signed).digest('base64url'), signature);
  }
  const digest = createHash('sha256')
    .update(signed + secret)
    .digest();
  const isByText = isSame(digest.toString('base64url').slice(0, DIGEST_LENGTH), signature);
  const isByHex = isSame(digest.toString('hex').slice(0, DIGEST_LENGTH), signature);
  return isByText || (panel.digestsInHex && isByHex);
}

/** The length of a signature is no secret. */
function isSame(right: string, given: string): boolean {
  return right.length === given.length && timingSafeEqual(Buffer.from(right), Buffer.from(given));
}
