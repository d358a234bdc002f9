/**
 * Signed tokens of subscriptions, in the forms that Marzban and PasarGuard write
 * (`app/utils/jwt.py` of each). Both make a new token at each read of a user; the user in the token
 * is the key of the link. Other spellings are refused: a panel that accepts one would open a link
 * that Gatepost did not judge.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The kinds of key in a path: the key itself, a UUID of Hiddify, or a token of a panel. */
export const PANEL_KEYS = ['plain', 'marzban', 'pasarguard', 'hiddify'] as const;
export type PanelKey = (typeof PANEL_KEYS)[number];
type SigningPanel = Exclude<PanelKey, 'plain' | 'hiddify'>;

/** Returns true for a panel that signs the user into each token. */
export const signs = (key: PanelKey): key is SigningPanel => key !== 'plain' && key !== 'hiddify';

interface PanelToken {
  readonly panel: SigningPanel;
  /** The key of the link: `marzban/NAME`, `pasarguard/ID` or `pasarguard/name/NAME`. */
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
/** `NAME,SECONDS`: all users of Marzban, and those of PasarGuard before its ids. */
const NAME_AND_TIME = /^([\w@.-]{1,128}),(\d{1,12})$/;
const ID_AND_TIME = /^v[23],([1-9]\d{0,14}),(\d{1,12})$/;

/** Parses a token without checking its signature; null: the panel makes no such token. */
export function readPanelToken(panel: SigningPanel, text: string): PanelToken | null {
  if (!TOKEN.test(text)) return null;
  if (text.startsWith(JWT_HEAD)) return readJwt(panel, text);
  const dot = panel === 'pasarguard' ? text.lastIndexOf('.') : -1;
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
  panel: SigningPanel,
  text: string | null,
): Pick<PanelToken, 'key' | 'signedAtMs'> | null {
  const byId = panel === 'pasarguard' ? ID_AND_TIME.exec(text ?? '') : null;
  const [, user, seconds] = byId ?? NAME_AND_TIME.exec(text ?? '') ?? [];
  const key =
    byId === null
      ? keyOfName(panel, user)
      : keyOfPanelUser({ panel: 'pasarguard', id: user ?? '' });
  return key === null ? null : { key, signedAtMs: Number(seconds) * 1_000 };
}

/** The prefix of names of PasarGuard, because a name may look like an id. */
const OF_OLD_NAMES = 'pasarguard/name/';

function keyOfName(panel: SigningPanel, name: unknown): string | null {
  if (typeof name !== 'string' || !NAME.test(name)) return null;
  return panel === 'marzban' ? keyOfPanelUser({ panel, name }) : OF_OLD_NAMES + name;
}

/**
 * Returns the user in the key of an old token of PasarGuard, which signed names until version 3.1;
 * null: another key.
 */
export function oldNameIn(key: string): string | null {
  return key.startsWith(OF_OLD_NAMES) ? key.slice(OF_OLD_NAMES.length) : null;
}

/**
 * Returns the key of a user's link as in the panel's current tokens: for Marzban the name in its
 * database, for PasarGuard the number of the user.
 */
export function keyOfPanelUser(
  user: { panel: 'marzban'; name: string } | { panel: 'pasarguard'; id: string },
): string {
  return user.panel === 'marzban' ? `marzban/${user.name}` : `pasarguard/${user.id}`;
}

function readJwt(panel: SigningPanel, text: string): PanelToken | null {
  const [head, payload, signature, ...more] = text.split('.');
  if (payload === undefined || signature?.length !== MAC_LENGTH || more.length > 0) return null;
  const claims = claimsIn(decodedText(payload));
  const { access, iat, sub, ...others } = claims ?? {};
  // The panels write no other fields; their library would judge a time or an audience.
  const isOfPanel = access === 'subscription' && typeof iat === 'number';
  if (!isOfPanel || Object.keys(others).length > 0) return null;
  const key = keyOfName(panel, sub);
  if (key === null) return null;
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
export function strangersKeys(key: PanelKey): string[] {
  const any = crypto.randomUUID();
  return signs(key) ? [strangersToken(key), any] : [any];
}

function strangersToken(panel: SigningPanel): string {
  const [random = 0, more = 0] = crypto.getRandomValues(new Uint32Array(2));
  const signature = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
  // A time of some year since 2020.
  const time = 1_600_000_000 + (more % 150_000_000);
  if (panel === 'marzban') {
    const user = `${random.toString(36)},${time}`;
    return `${Buffer.from(user).toString('base64url')}${signature.slice(0, DIGEST_LENGTH)}`;
  }
  return `${Buffer.from(`v3,${random + 1},${time}`).toString('base64url')}.${signature}`;
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
  return isByText || (panel === 'pasarguard' && isByHex);
}

/** The length of a signature is no secret. */
function isSame(right: string, given: string): boolean {
  return right.length === given.length && timingSafeEqual(Buffer.from(right), Buffer.from(given));
}
