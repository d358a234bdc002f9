/** Answers of the page of users, with their headers. */

export interface Answered {
  /** The name under which the answer is counted. */
  says: string;
  response: Response;
  /** True if the answer tells a guesser that there is no such page. */
  isGuess?: boolean;
  /** The code of a link that the guess has; absent: none. */
  code?: string | undefined;
}

/** Returns the query of a request; the host of a client's URL may be invalid. */
export function queryOf({ url }: Request): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}

/** Returns true for a request by a page of another site: a form or a script there. */
export const isForeign = ({ headers }: Request): boolean =>
  ['cross-site', 'same-site'].includes(headers.get('sec-fetch-site') ?? '');

export const SAFE = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

const CLOSED = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The content security policy of a page with a script. */
const SCRIPTED = "script-src 'self'; connect-src 'self'; manifest-src 'self'; img-src 'self'";

/** Hashes of styles by colour, kept because each guess gets a page. */
const HASHES = new Map<string, string>();
const HASHES_MAX = 256;

function hashOf(style: string): string {
  const known = HASHES.get(style);
  if (known !== undefined) return known;
  const made = new Bun.CryptoHasher('sha256').update(style).digest('base64');
  if (HASHES.size >= HASHES_MAX) HASHES.clear();
  HASHES.set(style, made);
  return made;
}

/** Makes the answer of a page. */
export function page(
  { method }: Request,
  { text, style, isScripted = false }: { text: string; style: string; isScripted?: boolean },
  status = 200,
): Response {
  const policy = `style-src 'sha256-${hashOf(style)}'; ${CLOSED}`;
  const headers = {
    ...SAFE,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': isScripted ? `${policy}; ${SCRIPTED}; worker-src 'self'` : policy,
    vary: 'accept-language, x-device-locale',
  };
  return new Response(method === 'HEAD' ? null : text, { status, headers });
}
