/**
 * The host of the subscriptions of each provider, in this browser only. An address of a customer is
 * a secret, and would be wrong for the next customer: it is never stored.
 */

const keyOf = (at: string) => `subscription host of ${at}`;

/** Versions before 0.18.0 stored the whole address under such a name. */
const WHOLE_ADDRESS = 'subscription of ';

/** Returns the start of an address, `https://sub.example.com/`; empty if none is stored. */
export function keptHost(at: string): string {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(WHOLE_ADDRESS)) localStorage.removeItem(name);
    }
    return localStorage.getItem(keyOf(at)) ?? '';
  } catch {
    return '';
  }
}

/** Stores scheme and host of an address. */
export function keepHost(at: string, url: string): void {
  try {
    localStorage.setItem(keyOf(at), `${new URL(url).origin}/`);
  } catch {
    // The browser stores nothing.
  }
}
