/**
 * Cross-origin calls of browsers (CORS), for `/device/*` only: pages of a provider call the device
 * protocol from their own origin. No answer allows credentials: a device authenticates by a token,
 * never by a cookie. Other paths allow no other origin.
 */

/** Headers of every answer to a device. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-error-detail, x-request-id, x-wait-max',
};

/** The answer to a preflight; a browser caches it for a day at most. */
const PREFLIGHT_HEADERS = new Headers({
  ...CORS_HEADERS,
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'authorization, content-type, x-frame-max',
  'access-control-max-age': '86400',
});

/** Returns whether a request is a preflight. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method');
}

/** Builds the answer to a preflight. */
export function answerPreflight(): Response {
  return new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
}
