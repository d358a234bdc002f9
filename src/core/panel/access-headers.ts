/**
 * Headers for the API of a panel behind an access gateway, such as `CF-Access-Client-Secret`. They
 * are secret, as the token is.
 */

const HEADERS_MAX = 16;
const LINE =
  /^([\w!#$%&'*+.^`|~-]{1,64}):[ \t]*([\x21-\x7e](?:[\x20-\x7e]{0,2046}[\x21-\x7e])?)[ \t]*$/;
/** Headers of the connection, and those that Gatepost sends itself. */
const NOT_THEIRS = new RegExp(
  [
    '^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive',
    'proxy-.*|accept|accept-encoding)$',
  ].join('|'),
  'i',
);

export const ACCESS_HEADERS_RULE = `1 to ${HEADERS_MAX} lines NAME: VALUE of ASCII characters, of no header that Gatepost sends itself`;

/** Reads a text with a header in each line; empty lines are ignored. Null: it breaks the rule. */
export function readAccessHeaders(text: string): Readonly<Record<string, string>> | null {
  const headers: Record<string, string> = {};
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0 || lines.length > HEADERS_MAX) return null;
  for (const line of lines) {
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined || NOT_THEIRS.test(name)) return null;
    if (Object.hasOwn(headers, name.toLowerCase())) return null;
    headers[name.toLowerCase()] = value;
  }
  return headers;
}
