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
    const { address, bits, family } = readNetwork(network);
    list.addSubnet(address, bits, family);
  }
  return { includes: (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') };
}

interface NetworkParts {
  address: string;
  /** The length of the prefix. */
  bits: number;
  family: 'ipv4' | 'ipv6';
}

/** Reads a network or a single address. Throws RangeError. */
function readNetwork(network: string): NetworkParts {
  const [address = '', prefix, ...rest] = network.split('/');
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const longest = family === 'ipv6' ? 128 : 32;
  const bits = prefix === undefined ? longest : Number(prefix);
  const isPrefix = prefix !== '' && Number.isInteger(bits) && bits >= 0 && bits <= longest;
  if (isIP(address) === 0 || !isPrefix || rest.length > 0)
    throw new RangeError(`'${network}' is not a network`);
  return { address, bits, family };
}

/** Networks of exits: each of their addresses is that of many customers. */
export interface SharedAddresses {
  readonly isNone: boolean;
  /** The networks, as the setting has them. */
  readonly texts: readonly string[];
  /** Returns the network of a client, as the setting has it; null: it is in none. */
  networkOf(client: string): string | null;
  /** Returns whether a client, as {@link countedAs} names it, is in one of the networks. */
  includes(client: string): boolean;
}

const NONE_SHARED: SharedAddresses = {
  isNone: true,
  texts: [],
  networkOf: () => null,
  includes: () => false,
};

/** The shortest prefixes of shared networks: no exit has more addresses, but a carrier has. */
const SHORTEST = { ipv4: 16, ipv6: 32 };
/** Clients with IPv6 are counted by networks of this length. */
const COUNTED_BITS = 64;

/**
 * Parses the networks of exits. One of IPv6 that is smaller than a /64 stands for that /64, because
 * clients are counted by it. Throws RangeError, also for a network that only a carrier can have.
 */
export function parseSharedAddresses(networks: readonly string[]): SharedAddresses {
  if (networks.length === 0) return NONE_SHARED;
  const lists = networks.map((text) => {
    const { address, bits, family } = readNetwork(text);
    if (bits < SHORTEST[family]) {
      const most = `/${SHORTEST[family]}`;
      throw new RangeError(`'${text}' is wider than ${most}: name the addresses of exits alone`);
    }
    const list = new BlockList();
    list.addSubnet(address, family === 'ipv6' ? Math.min(bits, COUNTED_BITS) : bits, family);
    return { text, list };
  });
  const networkOf = (client: string) => {
    const address = client.replace(/::\/64$/, '::');
    if (isIP(address) === 0) return null;
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    return lists.find(({ list }) => list.check(address, family))?.text ?? null;
  };
  return {
    isNone: false,
    texts: networks,
    networkOf,
    includes: (client) => networkOf(client) !== null,
  };
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
