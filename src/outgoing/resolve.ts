/** Resolves host names. */

import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** Returns the IP addresses of a host name in lower case. Throws if there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Two rounds of the name servers, about 6 s. */
const PATIENCE = { timeout: 2_500, tries: 2 } as const;

/**
 * Makes a resolver that reads the hosts file, else asks the machine's name servers by c-ares. The
 * system's resolver has few threads: names whose servers never answer held up every other name for
 * half a minute. Each look-up makes a new `Resolver`, which reads the name servers when it is made:
 * an old one may have been made before the network was up.
 */
export function resolveWith(hostsFile: string): Resolve {
  return async (name) => {
    const listed = addressesIn(await readFile(hostsFile, 'utf8').catch(() => ''), name);
    if (listed.length > 0) return listed;
    const resolver = new Resolver(PATIENCE);
    // IPv6 addresses come last, as many machines cannot reach them.
    const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = asked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0) {
      const failed = asked.find((answer) => answer.status === 'rejected');
      throw new Error('the name has no address', { cause: failed?.reason });
    }
    return found;
  };
}

/** Resolves by the machine's hosts file and name servers. */
export const systemResolve = resolveWith('/etc/hosts');

/** Returns the addresses of a name in a hosts file. */
function addressesIn(hosts: string, name: string): string[] {
  // A hosts file that blocks advertisements has a hundred thousand lines.
  if (!hosts.toLowerCase().includes(name)) return [];
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return names.some((one) => one.toLowerCase() === name) ? [address] : [];
  });
}
