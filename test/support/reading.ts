/** A reading of a panel that nothing stops. */
export const READING = { signal: new AbortController().signal, onSign() {} };
