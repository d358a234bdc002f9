/**
 * Which addresses somebody else may have us call: those of the public Internet, and those that the
 * operator lists. Ranges by the IANA registries of special-purpose addresses (RFC 6890).
 */

import { type Misfit, malformed } from '../outcome.ts';
import type { Network, Reach } from '../port/reach.ts';

interface Address {
  isV6: boolean;
  value: bigint;
}

const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** The first 96 bits of IPv4 in IPv6 clothes. */
const MAPPED = 0xffffn;

/** Reads `10.0.0.0/8`, `fd00::/8`, or a single address; null: it is none of them. */
export function readNetwork(text: string): Network | null {
  const [, head = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(head);
  if (address === null) return null;
  const width = address.isV6 ? 128 : 32;
  const length = Number(bits ?? width);
  if (length > width) return null;
  const shift = BigInt(width - length);
  return { isV6: address.isV6, prefix: address.value >> shift, shift };
}

/** IPv4 that is nobody's on the Internet, or a machine's way to speak to its own provider. */
const SPECIAL_V4 = networks(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // A cloud's own services, under an address that reads like a public one.
  '168.63.129.16/32',
);
/** All IPv6 that is routed; outside are also `::1`, NAT64, ULA, link-local and multicast. */
const GLOBAL_V6 = networks('2000::/3');
/** Parts of it that are special: protocols, Teredo, documentation, 6to4. */
const SPECIAL_V6 = networks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/**
 * Tells whether an IP address, as text without brackets, is a public one or in a network that the
 * operator lists. One that cannot be read is not. IPv4 in IPv6 clothes (`::ffff:…`) is judged as
 * what it is.
 */
export function isCallable(address: string, allow: readonly Network[]): boolean {
  const read = parseAddress(address);
  if (read === null) return false;
  if (isIn(read, allow)) return true;
  return read.isV6 ? isIn(read, GLOBAL_V6) && !isIn(read, SPECIAL_V6) : !isIn(read, SPECIAL_V4);
}

/** Longest address: push services need some hundred signs. */
const URL_LENGTH_MAX = 2048;
/** An address without anything that URL parsers drop, turn round or stop at. */
const WEB_URL = /^https?:\/\/[^\s\p{Cc}\\/?#][^\s\p{Cc}\\]*$/iu;

/**
 * Reads an address that anybody supplied, before it is stored: by its form alone, as a name is
 * looked up and checked whenever it is called. Refuses what is no address of the web, has a user in
 * it, needs TLS and has none, or leads to this machine or a private network on the face of it.
 */
export function readPublicUrl(text: string, reach: Reach): URL | Misfit {
  const url = readOperatorUrl(text);
  if (!(url instanceof URL)) return url;
  if (url.protocol !== 'https:' && !reach.outgoingAllowHttp) {
    return malformed('is not an https address');
  }
  if (url.hostname.endsWith('.')) return malformed('has a host name that ends in a dot');
  const address = addressOf(url.hostname);
  if (address !== null && !isCallable(address, reach.outgoingAllow)) {
    return malformed('leads to a network that is not public');
  }
  return url;
}

/** Reads an address that the operator chose: any http or https one without a user in it. */
export function readOperatorUrl(text: string): URL | Misfit {
  const fits = text.length <= URL_LENGTH_MAX && WEB_URL.test(text) && text.isWellFormed();
  const url = fits ? URL.parse(text) : null;
  if (url === null) {
    return malformed(`is not an http or https address of up to ${URL_LENGTH_MAX} characters`);
  }
  if (url.username !== '' || url.password !== '') return malformed('has a user in it');
  return url;
}

/**
 * The address that a URL's host name stands for without any look-up, without brackets. Null: it is
 * a name that has to be looked up.
 */
export function addressOf(hostname: string): string | null {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (parseAddress(host) !== null) return host;
  // RFC 6761: never looked up, wherever it seems to lead.
  return /(?:^|\.)localhost\.?$/i.test(host) ? '127.0.0.1' : null;
}

function networks(...texts: string[]): Network[] {
  return texts.flatMap((text) => readNetwork(text) ?? []);
}

function isIn(address: Address, among: readonly Network[]): boolean {
  return among.some(
    ({ isV6, prefix, shift }) => isV6 === address.isV6 && address.value >> shift === prefix,
  );
}

function parseAddress(text: string): Address | null {
  if (V4.test(text)) return { isV6: false, value: numberOf(text.split('.').map(Number), 8n) };
  if (!/^[\da-f:.]{2,45}$/i.test(text) || !text.includes(':')) return null;
  // A URL parser writes groups of hexadecimal digits, whatever form it read.
  const host = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
  if (host === undefined) return null;
  const [head = [], tail = []] = host.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  const groups = [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
  const value = numberOf(groups, 16n);
  return value >> 32n === MAPPED
    ? { isV6: false, value: value & 0xffffffffn }
    : { isV6: true, value };
}

function numberOf(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);
}
