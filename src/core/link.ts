/** Addresses that a message may carry to a device. */

/**
 * Schemes that no link may have: they run code in the app that opens them, or read what is on the
 * device. `javascript`, `data`, `file` and `vbscript` and their kin.
 */
const DENIED_SCHEMES: ReadonlySet<string> = new Set([
  'javascript',
  'vbscript',
  'livescript',
  'mocha',
  'data',
  'file',
  'filesystem',
  'blob',
  'content',
  'about',
  'view-source',
  'jar',
]);

/** RFC 3986 section 3.1; one letter alone is a Windows drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):(.+)$/i;

/** URL parsers drop some of these and stop at others, so that two of them can disagree. */
const BLANK_CONTROL_OR_BACKSLASH = /[\s\p{Cc}\\]/u;

/** An absolute `http` or `https` URL, international names and paths included. */
export function isWebUrl(value: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(value) && isUrl(value);
}

/** An absolute `http` or `https` URL, or a deep link into an app such as `tg:` or `happ:`. */
export function isLink(value: string): boolean {
  const [, scheme = '', rest = ''] = SCHEME.exec(value) ?? [];
  if (/^https?$/i.test(scheme)) return isWebUrl(value);
  // In `example.com:8443/pay` the scheme was forgotten, although it reads like one.
  const isHostAndPort = scheme.includes('.') && /^\d+([/?#]|$)/.test(rest);
  return (
    scheme !== '' && !isHostAndPort && !DENIED_SCHEMES.has(scheme.toLowerCase()) && isUrl(value)
  );
}

function isUrl(value: string): boolean {
  return !BLANK_CONTROL_OR_BACKSLASH.test(value) && value.isWellFormed() && URL.canParse(value);
}

const HOST_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${HOST_LABEL}(?:\\.${HOST_LABEL})*$`);
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);

/**
 * A host name (RFC 1123) or an IPv4 address, without scheme, port, path or trailing dot;
 * international names in their ASCII form.
 */
export function isHostName(value: string): boolean {
  // Where the last label is a number, every URL parser takes the name for an IPv4 address.
  return /(^|\.)\d+$/.test(value) ? IPV4.test(value) : HOST_NAME.test(value);
}
