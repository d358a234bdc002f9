/** Checks what strangers learn of this server: a censor probes each address that it can find. */

import { about, type Finding } from '../base/finding.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/settings/index.ts';
import { isBehindProxies } from './fronts.ts';

const say = about('strangers');
const EXAMPLE = 'bot.example.com';

/**
 * Offers the quiet answer where strangers can reach the server, and says at which hosts Gatepost
 * itself answers. `names`: those of the certificate; null: there is none.
 */
export function checkStrangers(
  loaded: Pick<LoadedConfig, 'config' | 'sources'>,
  { gateUpstreams, host, ownHosts, strangers }: Config,
  names: readonly string[] | null,
): Finding[] {
  const isOpen = !/^(127\.|::1$|localhost$)/.test(host);
  const isReached = isOpen || gateUpstreams.length > 0 || isBehindProxies(loaded);
  if (!isReached) return [];
  const isOfPanel = new Set(gateUpstreams.map((upstream) => upstream.host));
  const known = (names ?? []).filter((name) => !name.startsWith('*') && !isOfPanel.has(name));
  const hosts = JSON.stringify(known.length > 0 ? known : [EXAMPLE]);
  const all = 'every host by which bots, apps and people reach Gatepost itself';
  if (strangers === 'answer') {
    return [
      say.warning(
        'strangers_answered',
        'one request for a wrong path shows each prober that this server is Gatepost',
        `set strangers = "quiet" and hosts = ${hosts} in [server]: name ${all}, or they stop`,
      ),
    ];
  }
  if (ownHosts.length === 0) {
    return [
      say.warning(
        'hosts_not_named',
        'server.hosts is empty: the console, /docs and the API answer at each host that is of no panel, and by the address',
        `set hosts = ${hosts} in [server]: name ${all}, or they stop`,
      ),
    ];
  }
  const named = ownHosts.join(', ');
  return [say.ok(`strangers get one answer; bots, apps and people reach Gatepost at ${named}`)];
}
