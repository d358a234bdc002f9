/** Host names in the form of bindings: lower case, ASCII, no port, no final dot. */

/** A label of RFC 1123, and `_`, which existing names have too. */
export const HOST_LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${HOST_LABEL}(?:\\.${HOST_LABEL})*$`);
/** A text without characters that have a meaning in URLs. */
const MAYBE_HOST = /^[A-Za-z0-9._\x80-\u{10ffff}-]{1,253}$/u;
/** The end of an IPv4 address, as no host name ends that a URL parser has normalised. */
const ADDRESS = /\.\d+$/;
const ASCII = /^[\x20-\x7e]*$/;
const PORT_MAX = 65_535;

/**
 * Reads a host name or an IPv4 address with an optional port: ASCII stays as given, international
 * names get their ASCII form (UTS 46). Returns null for all others, such as a scheme, a path, a
 * final dot, an IPv6 address, or a name that URL parsers change.
 *
 * @example readHost('пример.рф') // 'xn--e1afmkfd.xn--p1ai'
 */
export function readHost(value: string): string | null {
  const [, host = '', port] = /^([^:]+)(?::([1-9][0-9]{0,4}))?$/.exec(value) ?? [];
  if (!MAYBE_HOST.test(host) || Number(port ?? 0) > PORT_MAX) return null;
  const url = `http://${host}`;
  if (!URL.canParse(url)) return null;
  const { hostname } = new URL(url);
  // URL parsers read a name whose last label is a number as an IPv4 address.
  const isAsGiven = ASCII.test(host) ? hostname === host.toLowerCase() : !ADDRESS.test(hostname);
  if (!isAsGiven || !HOST_NAME.test(hostname)) return null;
  const name = ASCII.test(host) ? host : hostname;
  return port === undefined ? name : `${name}:${port}`;
}

/** The final dot of a name. */
const LAST_DOT = /\.(?=$|:)/;

/**
 * Reads the host of a `Host` header or a setting in the form of bindings, without its port. Returns
 * null as {@link readHost} does.
 *
 * @example hostName('Sub.Example.org.') // 'sub.example.org'
 */
export function hostName(value: string): string | null {
  const host = readHost(value.replace(LAST_DOT, ''));
  return host === null ? null : host.replace(/:\d+$/, '').toLowerCase();
}

/** Returns the domain hash of a name that {@link hostName} has read. */
export function hostHash(name: string): string {
  return Bun.SHA256.hash(name, 'hex');
}
