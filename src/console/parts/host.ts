/**
 * Hashes a domain in the browser: the server does not receive the name unless the form sends it.
 */

/** Returns the host of the input, also of a whole URL; null: it has none. */
export function hostIn(typed: string): string | null {
  const text = typed.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) return null;
  // The browser converts the host to lower case and ASCII, like the server and the apps.
  const host = new URL(url).hostname.replace(/\.$/, '');
  return /^[a-z0-9_][a-z0-9._-]{0,252}$/.test(host) ? host : null;
}

/** Returns the SHA-256, hexadecimal. */
export async function hashOf(host: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(host));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
