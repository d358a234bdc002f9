/** The address of a subscription that was typed last, for each provider, in this browser alone. */

const keyOf = (at: string) => `subscription of ${at}`;

/** Where the browser keeps nothing, the address is typed anew. */
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
    // See above.
  }
}
