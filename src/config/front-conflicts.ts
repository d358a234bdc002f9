/**
 * Settings of `proxy_protocol`, `server.socket` and `limits.shared_addresses` that contradict each
 * other, with the reason.
 */

import type { TrustedProxies } from '../http/request/address.ts';
import type { Config } from './settings/index.ts';

const isLoopback = (address: string) => /^(?:127\.|::1$)/.test(address);
const addressIn = (network: string) => network.split('/', 1)[0] ?? '';

/**
 * Returns a sentence for each conflict. `proxies`: the networks of `server.trusted_proxies` and
 * `gate.proxies`.
 */
export function frontConflicts(config: Config, proxies: readonly string[]): string[] {
  const { host, proxyLoopback, proxyNetworks, proxySocket, socket, socketGroup } = config;
  const { texts } = proxyNetworks;
  const bases = texts.map(addressIn);
  const here = ['127.0.0.1', '::1', ...bases.filter(isLoopback)];
  const hasLoopback = here.some((address) => proxyNetworks.includes(address));
  const { gateProxies, sharedAddresses, trustedProxies } = config;
  const isBoth = (at: number) => (proxies: TrustedProxies | null) =>
    proxies?.includes(bases[at] ?? '');
  const shared = [
    ...texts.filter((_, at) => [trustedProxies, gateProxies].some(isBoth(at))),
    ...proxies.filter((network) => proxyNetworks.includes(addressIn(network))),
  ];
  const isTrusted = (address: string) =>
    trustedProxies.includes(address) || gateProxies?.includes(address) === true;
  const exits = [
    ...sharedAddresses.texts.filter((network) => isTrusted(addressIn(network))),
    ...proxies.filter((network) => sharedAddresses.includes(addressIn(network))),
  ];
  const sentences: [boolean, string][] = [
    [
      exits.length > 0,
      `${exits[0] ?? ''} is in limits.shared_addresses, and in server.trusted_proxies or gate.proxies: ` +
        'what a customer of that exit writes into headers would count as the word of a proxy',
    ],
    [
      hasLoopback && !proxyLoopback,
      'proxy_protocol.networks has addresses of this machine, from which customers of a tunnel ' +
        'that ends here may come too: use server.socket with proxy_protocol.socket, or agree by ' +
        'proxy_protocol.loopback = true (docs/proxy-protocol.md)',
    ],
    [proxyLoopback && texts.length === 0, 'proxy_protocol.loopback needs proxy_protocol.networks'],
    [
      texts.length > 0 && !hasLoopback && (host === 'localhost' || isLoopback(host)),
      `server.host = "${host}" admits this machine alone, and proxy_protocol.networks has no address ` +
        'of it: set server.host to the address that the proxies reach',
    ],
    [
      shared.length > 0,
      `${shared[0] ?? ''} is in proxy_protocol.networks, and in server.trusted_proxies or gate.proxies: ` +
        'behind a header each caller is a client and no proxy; name it in one of them',
    ],
    [proxySocket && socket === '', 'proxy_protocol.socket needs server.socket'],
    [socketGroup !== '' && socket === '', 'server.socket_group needs server.socket'],
  ];
  return sentences.filter(([isMet]) => isMet).map(([, sentence]) => sentence);
}
