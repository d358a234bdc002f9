/**
 * Sends Close frames of WebSockets by FFI. Bun ends the connection in the instant of its Close
 * frame, and a client that is busy then learns no code: aiohttp says 1006 where it should say 4002,
 * and comes back into a loop. A frame that goes out beside Bun leaves the connection open until the
 * peer's own Close has come.
 *
 * The socket is found among those of the process by the addresses of both ends. A search takes 2 us
 * of the processor for each open one, and 2 % of the time at most. Beyond that, with more than
 * 10,000 open ones, with TLS of this program, and on other systems than Linux with glibc, Bun's own
 * close is used. It is used too where two sockets have the same peer and port: they differ in the
 * address of this machine alone, which Bun does not tell.
 */

import { dlopen, ptr } from 'bun:ffi';
import { readdirSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';

/** The least pause after a search for sockets, ms, and how many times the search it lasts. */
const SEARCH_PAUSE_MS = 100;
const SEARCH_PAUSE_TIMES = 50;
/** The most open files of the process that are searched. */
const OPEN_MAX = 10_000;
const MSG_DONTWAIT_NOSIGNAL = 0x4040;
const AF_INET = 2;
const AF_INET6 = 10;
/** The begin of a mapped IPv4 address. */
const MAPPED = `${'0'.repeat(20)}ffff`;
/** struct sockaddr_in6; that of IPv4 is shorter. */
const ADDRESS_BYTES = 28;
/** The most bytes of a reason (RFC 6455, 5.5). */
const REASON_BYTES_MAX = 123;
const FIN_CLOSE = 0x88;

/** Both ends of a connection. */
export interface Ends {
  localPort: number;
  address: string;
  port: number;
  /** The steady time since which it is open. */
  sinceMs: number;
}

/** In place of a socket: several have its ends, or none. */
const SEVERAL = -1;

/** The frame of a server: it is not masked. */
function closeFrame(code: number, reason: string): Uint8Array {
  const text = new TextEncoder().encode(reason).subarray(0, REASON_BYTES_MAX);
  return new Uint8Array([FIN_CLOSE, 2 + text.length, code >> 8, code & 0xff, ...text]);
}

function loadSockets() {
  try {
    const name = { args: ['i32', 'ptr', 'ptr'], returns: 'i32' } as const;
    return dlopen('libc.so.6', {
      getsockname: name,
      getpeername: name,
      send: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
    }).symbols;
  } catch {
    return null;
  }
}

/** Returns the 16 bytes of an address as hex; an IPv4 address is mapped. */
function hexOf(address: string): string {
  if (!address.includes(':')) {
    return `${MAPPED}${Buffer.from(address.split('.').map(Number)).toString('hex')}`;
  }
  const dotted = /^(.*:)([\d.]+)$/.exec(address);
  if (dotted?.[2]?.includes('.')) return hexOf(dotted[2]);
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = (text: string) =>
    text === ''
      ? ''
      : text
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join('');
  const end = groups(tail ?? '');
  return groups(head).padEnd(32 - end.length, '0') + end;
}

/** Sends Close frames; a process has one for all its streams. */
export class CloseFrames {
  readonly #sockets = process.platform === 'linux' ? loadSockets() : null;
  readonly #address = Buffer.alloc(ADDRESS_BYTES);
  readonly #length = new Int32Array(1);
  /** The sockets of the last search, by their peers. */
  #found = new Map<string, number>();
  /** The time of that search. */
  #foundAtMs = Number.NEGATIVE_INFINITY;
  /** The time of the next search. */
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Pick<Clock, 'steadyMs'>) {}

  /** Sends a frame on the connection with these ends. Returns false if it is not found. */
  send(ends: Ends, code: number, reason: string): boolean {
    const sockets = this.#sockets;
    if (sockets === null) return false;
    const peer = `${hexOf(ends.address)} ${ends.port}`;
    // A later search knows of every socket with this peer: two may have it.
    const isKnown = ends.sinceMs <= this.#foundAtMs && this.#isIt(ends, peer);
    if (!isKnown && !this.#search(ends.localPort)) return false;
    if (!this.#isIt(ends, peer)) return false;
    const fd = this.#found.get(peer) ?? SEVERAL;
    const frame = closeFrame(code, reason);
    return Number(sockets.send(fd, ptr(frame), frame.length, MSG_DONTWAIT_NOSIGNAL)) > 0;
  }

  /** Returns whether the socket that was found has these ends still: numbers are used again. */
  #isIt({ localPort }: Ends, peer: string): boolean {
    const fd = this.#found.get(peer) ?? SEVERAL;
    return fd !== SEVERAL && this.#isAt(fd, localPort) && this.#peerOf(fd) === peer;
  }

  /** Finds the connections of a port. Returns false if the last search was a moment ago. */
  #search(localPort: number): boolean {
    const beganMs = this.clock.steadyMs();
    if (beganMs < this.#nextMs) return false;
    this.#found = new Map();
    const open = descriptors();
    for (const fd of open.length > OPEN_MAX ? [] : open) {
      const peer = this.#isAt(fd, localPort) ? this.#peerOf(fd) : null;
      if (peer !== null) this.#found.set(peer, this.#found.has(peer) ? SEVERAL : fd);
    }
    const endedMs = this.clock.steadyMs();
    this.#foundAtMs = beganMs;
    const pauseMs = SEARCH_PAUSE_TIMES * (endedMs - beganMs);
    this.#nextMs = endedMs + Math.max(SEARCH_PAUSE_MS, pauseMs);
    return true;
  }

  #isAt(fd: number, localPort: number): boolean {
    return this.#read('getsockname', fd) && this.#address.readUInt16BE(2) === localPort;
  }

  /** Returns address and port of the peer; null: it is no connection by IP. */
  #peerOf(fd: number): string | null {
    if (!this.#read('getpeername', fd)) return null;
    const address = this.#address;
    const hex =
      address.readUInt16LE(0) === AF_INET
        ? `${MAPPED}${address.toString('hex', 4, 8)}`
        : address.toString('hex', 8, 24);
    return `${hex} ${address.readUInt16BE(2)}`;
  }

  /** Reads the name of an end of a socket. Returns false unless it is one by IP. */
  #read(name: 'getsockname' | 'getpeername', fd: number): boolean {
    this.#length[0] = ADDRESS_BYTES;
    if (this.#sockets?.[name](fd, this.#address, this.#length) !== 0) return false;
    const family = this.#address.readUInt16LE(0);
    return family === AF_INET || family === AF_INET6;
  }
}

function descriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}
