/** Headers on their way through: all but those of one connection (RFC 9110, section 7.6.1). */

/** Headers of one connection, of no request behind it. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Headers of a request that are ours to write: a body is not passed on, the host is judged. */
const OUR_OWN = new Set(['host', 'content-length', 'expect', 'http2-settings']);

/** Headers by which proxies tell where a request comes from. */
const FORWARDED = new Set([
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port'],
  ...['x-forwarded-proto', 'x-forwarded-server', 'x-real-ip'],
]);

/** Headers by which some servers take a request for another one than that which was judged. */
const OVERRIDING = new Set([
  ...['x-original-uri', 'x-original-url', 'x-rewrite-url', 'x-forwarded-uri'],
  ...['x-http-method', 'x-http-method-override', 'x-method-override'],
  ...['x-original-method', 'x-forwarded-method'],
]);

/** The way on which a request came. */
export interface Provenance {
  /** The peer's address. */
  peer: string;
  /** The client's address, behind the proxies that are trusted. */
  client: string;
  /** True if the peer is a proxy whose `X-Forwarded-*` are believed. */
  isTrusted: boolean;
  scheme: 'http' | 'https';
}

/** The headers for the upstream: the client's, none of them invented, and where it comes from. */
export function requestHeaders(
  { headers }: Request,
  hosts: { told: string; asked: string },
  { peer, client, isTrusted, scheme }: Provenance,
): Record<string, string> {
  const passed: Record<string, string> = { host: hosts.told };
  const named = namedHops(headers);
  headers.forEach((value, name) => {
    if (HOP_BY_HOP.has(name) || named.has(name) || OUR_OWN.has(name)) return;
    if (!FORWARDED.has(name) && !OVERRIDING.has(name)) passed[name] = value;
  });
  const before = isTrusted ? headers.get('x-forwarded-for') : null;
  const from = (name: string) => (isTrusted ? headers.get(name) : null);
  passed['x-forwarded-for'] = before ? `${before}, ${peer}` : peer;
  passed['x-forwarded-host'] = from('x-forwarded-host') ?? hosts.asked;
  passed['x-forwarded-proto'] = from('x-forwarded-proto') ?? scheme;
  passed['x-real-ip'] = client;
  return passed;
}

/**
 * The headers for the client, of names and values in turn; values keep their bytes. Null if one has
 * signs that no header may have.
 */
export function answerHeaders(raw: readonly string[]): Headers | null {
  const headers = new Headers();
  try {
    for (let at = 0; at + 1 < raw.length; at += 2) {
      headers.append(raw[at] as string, raw[at + 1] as string);
    }
  } catch {
    return null;
  }
  for (const name of [...namedHops(headers), ...HOP_BY_HOP]) headers.delete(name);
  return headers;
}

/** Headers that `Connection` names as the connection's own. */
function namedHops(headers: Headers): ReadonlySet<string> {
  const listed = headers.get('connection');
  if (listed === null) return NONE;
  const names = listed.split(',').map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => HEADER_NAME.test(name)));
}

const NONE: ReadonlySet<string> = new Set();
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
