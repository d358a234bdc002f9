/** The address of a client, from the connection and from trusted proxies. */

import { BlockList, isIP, isIPv6 } from 'node:net';

/** Networks whose `X-Forwarded-For` is trusted. */
export interface TrustedProxies {
  includes(address: string): boolean;
}

/** No network: checking an empty BlockList costs as much as checking a long one. */
const NONE: TrustedProxies = { includes: () => false };

/** Parses CIDR networks (`10.0.0.0/8`, `fd00::/8`) or single addresses. Throws RangeError. */
export function parseTrustedProxies(networks: readonly string[]): TrustedProxies {
  if (networks.length === 0) return NONE;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix, ...rest] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const longest = family === 'ipv6' ? 128 : 32;
    const bits = prefix === undefined ? longest : Number(prefix);
    const isPrefix = prefix !== '' && Number.isInteger(bits) && bits >= 0 && bits <= longest;
    if (isIP(address) === 0 || !isPrefix || rest.length > 0)
      throw new RangeError(`'${network}' is not a network`);
    list.addSubnet(address, bits, family);
  }
  return { includes: (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') };
}

/**
 * Returns the client's address: the peer's, or, if the peer is a trusted proxy, the last address in
 * `X-Forwarded-For` that is no trusted proxy. The header of an untrusted peer is not even read:
 * reading one header makes Bun parse all of them.
 */
export function clientAddress(
  peer: string,
  request: Pick<Request, 'headers'>,
  trusted: TrustedProxies,
): string {
  let address = plainIPv4(peer);
  let hops: string[] | undefined;
  while (trusted.includes(address)) {
    hops ??= (request.headers.get('x-forwarded-for') ?? '').split(',');
    const hop = withoutPort((hops.pop() ?? '').trim());
    // Proxies write addresses only. At anything else the search ends with the proxy that sent it.
    // The zone of an IPv6 address is free text, so it must not reach a count or a log.
    if (isIP(hop) === 0 || hop.includes('%')) break;
    address = plainIPv4(hop);
  }
  return address;
}

/**
 * Returns the name under which refused phones share an address; null: only the address of a proxy
 * is known.
 */
export function sharedAddress(
  peer: string,
  request: Pick<Request, 'headers'>,
  trusted: TrustedProxies,
): string | null {
  const address = clientAddress(peer, request, trusted);
  return address === '' || trusted.includes(address) ? null : countedAs(address);
}

/** Removes the port that some proxies add: `198.51.100.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

/**
 * Returns the plain form of an IPv4 address that dual-stack sockets show as `::ffff:192.0.2.1`.
 *
 * @example plainIPv4('::ffff:c000:201') // '192.0.2.1'
 */
export function plainIPv4(address: string): string {
  // First, since it runs for every request.
  if (!address.startsWith('::')) return address;
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted) return dotted;
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/i.exec(address) ?? [];
  if (high === undefined || low === undefined) return address;
  const [left, right] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [left >> 8, left & 255, right >> 8, right & 255].join('.');
}

/**
 * Returns the name under which a client is counted: its IPv4 address, or the /64 of its IPv6
 * address, because a client usually owns the whole /64.
 *
 * @example countedAs('2001:db8::1') // '2001:db8:0:0::/64'
 */
export function countedAs(address: string): string {
  // First, since nearly all are IPv4 and the full check is slow.
  if (!address.includes(':') || !isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = address.includes('::')
    ? [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
    : left;
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

/**
 * Returns the network around a client as {@link countedAs} names it: the /24 of an IPv4 address,
 * the /48 of a /64. Another name is its own.
 *
 * @example networkOf('2001:db8:0:7::/64') // '2001:db8:0::/48'
 */
export function networkOf(client: string): string {
  if (isIP(client) === 4) return `${client.slice(0, client.lastIndexOf('.'))}.0/24`;
  const groups = client.endsWith('::/64') ? client.split(':') : [];
  return groups.length === 6 ? `${groups.slice(0, 3).join(':')}::/48` : client;
}

/** Returns whether an address is one of the loopback interface. */
export const isLoopback = (address: string) =>
  address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
