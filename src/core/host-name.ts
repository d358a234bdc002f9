/**
 * Host names, in the one form in which a binding knows them: lower case, ASCII, without port and
 * dot at the end (decision 4.4).
 */

/** RFC 1123, and `_`, which names in use have although they should not. */
export const HOST_LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${HOST_LABEL}(?:\\.${HOST_LABEL})*$`);
/** A text that may become a host name: no sign in it makes a URL of it read otherwise. */
const MAYBE_HOST = /^[A-Za-z0-9._\x80-\u{10ffff}-]{1,253}$/u;
/** The end of an address, and of no host name that a URL parser has written. */
const ADDRESS = /\.\d+$/;
const ASCII = /^[\x20-\x7e]*$/;
const PORT_MAX = 65_535;

/**
 * A host name or an IPv4 address with an optional port: ASCII as given, an international name in
 * its ASCII form (UTS 46). Null for anything else, such as a scheme, a path, a trailing dot, an
 * IPv6 address, or a name that a URL parser would read as another one.
 */
export function readHost(value: string): string | null {
  const [, host = '', port] = /^([^:]+)(?::([1-9][0-9]{0,4}))?$/.exec(value) ?? [];
  if (!MAYBE_HOST.test(host) || Number(port ?? 0) > PORT_MAX) return null;
  const url = `http://${host}`;
  if (!URL.canParse(url)) return null;
  const { hostname } = new URL(url);
  // Where the last label is a number, a URL parser takes the name for an IPv4 address.
  const isAsGiven = ASCII.test(host) ? hostname === host.toLowerCase() : !ADDRESS.test(hostname);
  if (!isAsGiven || !HOST_NAME.test(hostname)) return null;
  const name = ASCII.test(host) ? host : hostname;
  return port === undefined ? name : `${name}:${port}`;
}

/** The dot that makes a name a whole one, at its end or before the port. */
const LAST_DOT = /\.(?=$|:)/;

/**
 * The host of a `Host` header or of a setting as a binding knows it, without its port. Null as for
 * {@link readHost}.
 */
export function hostName(value: string): string | null {
  const host = readHost(value.replace(LAST_DOT, ''));
  return host === null ? null : host.replace(/:\d+$/, '').toLowerCase();
}

/** The hash by which the host {@link hostName} is bound. */
export function hostHash(name: string): string {
  return Bun.SHA256.hash(name, 'hex');
}
