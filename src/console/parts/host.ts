/** The hash of a domain, made in the browser: the server never sees the name unless it is given. */

/** The host of what was typed: also of a whole URL. Null: it is none. */
export function hostIn(typed: string): string | null {
  const text = typed.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) return null;
  // The browser makes lower case and ASCII of it, as the server and the apps do.
  const host = new URL(url).hostname.replace(/\.$/, '');
  return /^[a-z0-9_][a-z0-9._-]{0,252}$/.test(host) ? host : null;
}

/** SHA-256, hexadecimal. */
export async function hashOf(host: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(host));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
