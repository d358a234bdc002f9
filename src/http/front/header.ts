/**
 * The header of the PROXY protocol, versions 1 and 2: the bytes in which a proxy that passes on
 * connections says who made one. Only addresses are read; extensions (TLVs) are not.
 */

import { isIP, isIPv4, isIPv6 } from 'node:net';
import { plainIPv4 } from '../request/address.ts';

/** Longest header, bytes: 16 and the 520 that version 2 recommends as the most that follow. */
const HEADER_BYTES_MAX = 536;
/** Longest header of version 1, bytes. */
const LINE_BYTES_MAX = 107;
const V1 = Buffer.from('PROXY ');
const V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Bytes of version 2 before the addresses. */
const V2_FIXED_BYTES = 16;
const V2_ADDRESSES: Readonly<Record<number, { bytes: number; read(at: Buffer): string }>> = {
  17: { bytes: 12, read: (at) => at.subarray(0, 4).join('.') },
  33: { bytes: 36, read: (at) => plainIPv6(groupsOf(at.subarray(0, 16))) },
};
/** Families and transports of version 2 that are no TCP: unknown, and Unix sockets. */
const V2_WITHOUT_ADDRESS = new Set([0x00, 0x31, 0x32]);

/**
 * The nature of the first bytes of a connection: part of a header, none, or one of `length` bytes.
 * The address is null if the proxy asks for itself (`LOCAL`), or does not know the client.
 */
type HeaderRead =
  | 'part'
  | 'none'
  | { malformed: string }
  | { address: string | null; length: number };

/** Reads the header at the beginning of `bytes`. */
export function readHeader(bytes: Buffer): HeaderRead {
  if (beginsWith(bytes, V1)) return readLine(bytes);
  if (beginsWith(bytes, V2)) return readBinary(bytes);
  const isPart = beginsWith(V1, bytes) || beginsWith(V2, bytes);
  return isPart ? 'part' : 'none';
}

const beginsWith = (bytes: Buffer, with_: Buffer) =>
  bytes.length >= with_.length && bytes.subarray(0, with_.length).equals(with_);

const malformed = (why: string): HeaderRead => ({ malformed: why });

function readLine(bytes: Buffer): HeaderRead {
  const line = bytes.subarray(0, LINE_BYTES_MAX);
  const end = line.indexOf('\r\n');
  if (end < 0) return line.length < LINE_BYTES_MAX ? 'part' : malformed('too long');
  const length = end + 2;
  const [, family, from = '', to = '', ...ports] = line.toString('latin1', 0, end).split(' ');
  if (family === 'UNKNOWN') return { address: null, length };
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isBareIPv6 : null;
  if (isAddress === null) return malformed('no TCP');
  const isWhole = isAddress(from) && isIP(to) !== 0 && ports.length === 2 && ports.every(isPort);
  if (!isWhole) return malformed('no addresses');
  return { address: family === 'TCP4' ? from : plainIPv6(from), length };
}

const isPort = (text: string) => /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;
/** The zone of an address is free text. */
const isBareIPv6 = (text: string) => isIPv6(text) && !text.includes('%');

function readBinary(bytes: Buffer): HeaderRead {
  if (bytes.length < V2_FIXED_BYTES) return 'part';
  const [command, family] = [bytes.readUInt8(12), bytes.readUInt8(13)];
  const length = V2_FIXED_BYTES + bytes.readUInt16BE(14);
  if (command !== 0x20 && command !== 0x21) return malformed('unknown version or command');
  if (length > HEADER_BYTES_MAX) return malformed('too long');
  const addresses = V2_ADDRESSES[family];
  if (addresses === undefined && !V2_WITHOUT_ADDRESS.has(family)) return malformed('no TCP');
  if (length < V2_FIXED_BYTES + (addresses?.bytes ?? 0)) return malformed('no addresses');
  if (bytes.length < length) return 'part';
  const isLocal = command === 0x20 || addresses === undefined;
  return { address: isLocal ? null : addresses.read(bytes.subarray(V2_FIXED_BYTES)), length };
}

function groupsOf(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':');
}

/** Returns the usual form of an IPv6 address, or the IPv4 address that it stands for. */
function plainIPv6(address: string): string {
  const usual = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  return plainIPv4(usual ?? address);
}
