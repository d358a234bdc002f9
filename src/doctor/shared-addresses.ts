/**
 * Checks whether calls come from exits, whose address many customers share. The running server
 * counts, and names only addresses of this machine and networks of the setting.
 */

import { about, type Finding } from '../base/finding.ts';
import { notedMonitor } from '../base/whereabouts.ts';
import { counted } from '../core/counted.ts';
import type { ServerState } from './server.ts';

const ANSWER_MAX_MS = 2_000;
const SAMPLE = /^gatepost_busy_address_links\{whose="(own|listed|other)",name="([^"]*)"\} (\d+)$/gm;
/** The server counts no more links of an address. */
const LINKS_MAX = 1_000;

const say = about('addresses');

/** Asks the server that runs on the data directory; says nothing unless it serves. */
export async function checkSharedAddresses(
  server: ServerState,
  dataDir: string,
): Promise<Finding[]> {
  const url = notedMonitor(dataDir);
  if (url === null || typeof server === 'string' || server.state !== 'serves') return [];
  const signal = AbortSignal.timeout(ANSWER_MAX_MS);
  const answer = await fetch(`${url}/metrics`, { signal }).catch(() => null);
  return findingsOf((await answer?.text().catch(() => '')) ?? '');
}

/** Returns a finding for each busy address in the metrics of a server. */
export function findingsOf(metrics: string): Finding[] {
  return [...metrics.matchAll(SAMPLE)].map(([, whose = '', name = '', count]) => {
    const links = linksOf(Number(count));
    if (whose === 'listed') {
      return say.ok(`devices of ${links} came from ${name} of limits.shared_addresses in a day`);
    }
    if (whose === 'other') {
      return say.ok(
        `devices of ${links} came in a day from one address that is not of this machine: if it is an exit of yours, list it in limits.shared_addresses; if it may be a carrier's, do not`,
      );
    }
    return say.warning(
      'exit_counts_as_one',
      `devices of ${links} came in a day from ${name}, an address of this machine: the customers of a tunnel that ends here count as one address`,
      `add the line  shared_addresses = ["${name}"]  to [limits], beside the networks that it has`,
      name,
    );
  });
}

const linksOf = (count: number) =>
  count < LINKS_MAX ? counted(count, 'link') : `${LINKS_MAX} links or more`;
