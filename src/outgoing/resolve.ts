/** Look-ups of host names. */

import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** Finds the IP addresses of a host name in lower case. Throws if nobody knows any. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Two rounds of the name servers: after some 6 s they are given up. */
const PATIENCE = { timeout: 2_500, tries: 2 } as const;

/**
 * Asks the file of hosts, else the machine's name servers, by c-ares, as tried in the compiled
 * executable. The system's own look-up has a few threads: names whose servers never answer held up
 * every other name for half a minute. A resolver of its own for each look-up: one that is kept
 * stays with the name servers of the moment at which it was made, say before the network was up.
 */
export function resolveWith(hostsFile: string): Resolve {
  return async (name) => {
    const listed = addressesIn(await readFile(hostsFile, 'utf8').catch(() => ''), name);
    if (listed.length > 0) return listed;
    const resolver = new Resolver(PATIENCE);
    // Many machines have no way to IPv6 although names have such addresses: they come last.
    const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = asked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0) throw new Error('nobody knows the name');
    return found;
  };
}

/** The machine's own way. */
export const systemResolve = resolveWith('/etc/hosts');

/** The addresses that a file of hosts has for a name. */
function addressesIn(hosts: string, name: string): string[] {
  // Such files can have a hundred thousand lines of what is not to be reached.
  if (!hosts.toLowerCase().includes(name)) return [];
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return names.some((one) => one.toLowerCase() === name) ? [address] : [];
  });
}
