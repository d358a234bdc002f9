/** Accounts of panels: a name and a password, and the tokens that panels give for them. */

import { recordIn } from './record.ts';

export interface PanelAccount {
  readonly name: string;
  readonly password: string;
}

export const ACCOUNT_RULE =
  'two lines, the name of an account and its password, each of 1 to 256 characters';

/** Reads the text of a file with an account; null: it breaks the rule. */
export function readAccount(text: string): PanelAccount | null {
  const [name = '', password = '', ...more] = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const isFit = [name, password].every((line) => /^[^\p{Cc}]{1,256}$/u.test(line));
  return isFit && more.length === 0 ? { name, password } : null;
}

/** How a panel gives a token for an account. */
export interface PanelSignIn {
  readonly path: string;
  /** The form that it takes by POST. */
  formOf(account: PanelAccount): Readonly<Record<string, string>>;
  /** Reads the token; null: the answer has none. */
  tokenIn(answer: unknown): string | null;
}

/** The sign-in of FastAPI, which Marzban and PasarGuard have at the same path. */
export const OAUTH_SIGN_IN: PanelSignIn = {
  path: '/api/admin/token',
  formOf: ({ name, password }) => ({ grant_type: 'password', username: name, password }),
  tokenIn(answer) {
    const { access_token: token } = recordIn(answer);
    return typeof token === 'string' && /^[\x21-\x7e]{8,4096}$/.test(token) ? token : null;
  },
};

/** Returns when a token ends, ms, if it is a JWT that says so; null: it does not say. */
export function tokenEndMs(token: string): number | null {
  const [, claims, signature, ...more] = token.split('.');
  if (claims === undefined || signature === undefined || more.length > 0) return null;
  try {
    const { exp } = recordIn(JSON.parse(Buffer.from(claims, 'base64url').toString()));
    return typeof exp === 'number' && Number.isFinite(exp) ? Math.floor(exp * 1_000) : null;
  } catch {
    return null;
  }
}
