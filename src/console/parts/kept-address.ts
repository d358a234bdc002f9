/** The subscription address that was typed last for each provider, in this browser only. */

const keyOf = (at: string) => `subscription of ${at}`;

/** Returns the address; empty if there is none, or the browser stores nothing. */
export function keptAddress(at: string): string {
  try {
    return localStorage.getItem(keyOf(at)) ?? '';
  } catch {
    return '';
  }
}

export function keepAddress(at: string, url: string): void {
  try {
    localStorage.setItem(keyOf(at), url);
  } catch {
    // The browser stores nothing.
  }
}
