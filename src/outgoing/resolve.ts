/** Look-ups of host names. */

/** Finds the IP addresses of a host name. Throws if there are none, or nobody knows. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * Asks the machine's name servers and its file of hosts. By c-ares, which waits for answers without
 * a thread: the system's own look-up has few, and names whose servers never answer would hold up
 * every other name.
 */
export const systemResolve: Resolve = async (name) => {
  const found = await Bun.dns.lookup(name, { backend: 'c-ares' });
  // Many machines have no way to IPv6 although names have such addresses.
  const sorted = found.toSorted((one, other) => one.family - other.family);
  return [...new Set(sorted.map(({ address }) => address))];
};
