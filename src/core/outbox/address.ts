/**
 * Addresses from providers and devices: calls go to the public Internet, and to the networks that
 * the operator allows. The ranges are those of the IANA registries of special-purpose addresses
 * (RFC 6890).
 */

import { type Misfit, malformed } from '../outcome.ts';
import type { Network, Reach } from '../port/reach.ts';

interface Address {
  isV6: boolean;
  value: bigint;
}

const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** The first 96 bits of an IPv4-mapped IPv6 address. */
const MAPPED = 0xffffn;

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address. Returns null if the text is malformed. */
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

/** IPv4 that is not public. */
const SPECIAL_V4 = networks(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // The services of a cloud under an address that looks public.
  '168.63.129.16/32',
);
/** Routed IPv6: excludes `::1`, NAT64, ULA, link-local and multicast too. */
const GLOBAL_V6 = networks('2000::/3');
/** Special parts of it: protocols, Teredo, documentation, 6to4. */
const SPECIAL_V6 = networks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/**
 * Returns true if an IP address, without brackets, is public or in an allowed network; false for a
 * malformed one. An IPv4-mapped address (`::ffff:…`) counts as IPv4.
 */
export function isCallable(address: string, allow: readonly Network[]): boolean {
  const read = parseAddress(address);
  if (read === null) return false;
  if (isIn(read, allow)) return true;
  return read.isV6 ? isIn(read, GLOBAL_V6) && !isIn(read, SPECIAL_V6) : !isIn(read, SPECIAL_V4);
}

/** Longest URL: push services need some hundred characters. */
const URL_LENGTH_MAX = 2048;
/** A URL without characters that URL parsers drop or convert. */
const WEB_URL = /^https?:\/\/[^\s\p{Cc}\\/?#][^\s\p{Cc}\\]*$/iu;

/**
 * Reads a URL from a provider or a device. Returns a misfit as {@link readOperatorUrl} does, and
 * for a URL without TLS that needs it, or with an address that is not public. Host names are
 * checked at each call instead.
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

/** Reads a URL of the operator. Returns a misfit unless it is http or https without a user. */
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
 * Returns the address of a URL's host without a look-up and without brackets; null: the host is a
 * name that needs a look-up.
 */
export function addressOf(hostname: string): string | null {
  const host = bareHost(hostname);
  if (parseAddress(host) !== null) return host;
  // RFC 6761: this name is never looked up.
  return /(?:^|\.)localhost\.?$/i.test(host) ? '127.0.0.1' : null;
}

/** Returns the host of a URL without the brackets of IPv6. */
export const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

/** Returns the 4 or 16 bytes of an IP address without brackets; null: it is none. */
export function addressBytes(address: string): Uint8Array | null {
  const read = parseAddress(address);
  if (read === null) return null;
  return Uint8Array.fromHex(read.value.toString(16).padStart(read.isV6 ? 32 : 8, '0'));
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
  // URL parsers normalise addresses to groups of hexadecimal digits.
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
