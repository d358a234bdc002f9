/**
 * Socket options of a port that Bun does not offer, set by FFI on the listeners of this process.
 *
 * Bun cannot change the certificate of a listener, and closing a listener resets the connections
 * that the kernel has accepted and Bun has not. The promises need the kernel:
 *
 * | promise | test | by plain means | here |
 * |---|---|---|---|
 * | a new certificate loses no request | tls.test.ts: 5 changes, 12 clients | 7 to 22 lost | 0 |
 * | a stop resets no connection | stop.test.ts: 32 clients, 7 runs | all reset in 5 runs | 0 |
 *
 * With SO_REUSEPORT but without steering, 0 to 5 requests were lost and new connections got the old
 * certificate.
 *
 * SO_REUSEPORT is set for the time of a change alone, so that until the first change no other
 * program can listen on the port. After it Linux still admits a program of the same user that asks
 * for SO_REUSEPORT; a second Gatepost never does.
 */

import { dlopen, ptr } from 'bun:ffi';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const SOL_SOCKET = 1;
const SO_REUSEPORT = 15;
/** Attaches a classic BPF program that returns how many bytes of each packet to accept. */
const SO_ATTACH_FILTER = 26;
/** Attaches a classic BPF program that selects a listener of the port (Linux 4.5). */
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** Instructions of linux/filter.h: return a constant, load a byte, skip one unless a bit is set. */
const BPF_RET_K = 0x06;
const BPF_LOAD_BYTE = 0x30;
const BPF_SKIP_UNLESS_SET = 0x45;
/** The byte of a TCP header with the flags, and the flag of a connection request. */
const TCP_FLAGS_AT = 13;
const TCP_SYN = 0x02;
/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';
/** The kernel numbers the listeners of a port in the order in which they joined. */
const NEWER = 1;

export interface PortHandover {
  /** Allows another listener of this user on `port`. Returns false if the kernel refuses. */
  open(port: number): boolean;
  /** Gives all new connections to the newer of two listeners. */
  steer(port: number): void;
  /** Allows no other listener, once one is left. */
  close(port: number): void;
  /**
   * Drops all connection requests from now on: the client repeats its request after a second, and
   * is refused once the listener has closed. Accepted connections continue, also those of which the
   * kernel awaits the first bytes (TCP_DEFER_ACCEPT, which Bun sets). False: the kernel refuses.
   */
  rejectNew(port: number): boolean;
}

/** Makes the handover of this system. Null: it is no Linux with glibc. */
export function makePortHandover(): PortHandover | null {
  if (process.platform !== 'linux') return null;
  const setOption = loadSetOption();
  if (setOption === null) return null;
  const setAll = (port: number, option: number, value: Uint8Array) => {
    const done = listenersOf(port).map((fd) => setOption(fd, option, value));
    return done.length > 0 && !done.includes(false);
  };
  return {
    open: (port) => setAll(port, SO_REUSEPORT, int32(1)),
    steer: (port) => {
      const [fd] = listenersOf(port);
      const program = programOf(instruction(BPF_RET_K, NEWER));
      if (fd !== undefined) setOption(fd, SO_ATTACH_REUSEPORT_CBPF, program);
    },
    close: (port) => {
      setAll(port, SO_REUSEPORT, int32(0));
    },
    rejectNew: (port) => setAll(port, SO_ATTACH_FILTER, programOf(DROP_SYN)),
  };
}

type SetOption = (fd: number, option: number, value: Uint8Array) => boolean;

function loadSetOption(): SetOption | null {
  try {
    const { symbols } = dlopen('libc.so.6', {
      setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    });
    return (fd, option, value) =>
      symbols.setsockopt(fd, SOL_SOCKET, option, ptr(value), value.byteLength) === 0;
  } catch {
    return null;
  }
}

/** The file descriptors of this process that listen on `port`; none without /proc. */
function listenersOf(port: number): number[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = ['tcp', 'tcp6']
    .flatMap((table) =>
      readOr('', () => readFileSync(`/proc/self/net/${table}`, 'latin1')).split('\n'),
    )
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENING && local?.endsWith(suffix));
  const sockets = new Set(rows.map((columns) => `socket:[${columns[9]}]`));
  return readOr<string[]>([], () => readdirSync('/proc/self/fd'))
    .filter((fd) => sockets.has(readOr('', () => readlinkSync(`/proc/self/fd/${fd}`))))
    .map(Number);
}

/** Reads from /proc; `fallback` if a file is missing: no IPv6, no /proc, or just closed. */
function readOr<T>(fallback: T, read: () => T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}

function int32(value: number): Uint8Array {
  return new Uint8Array(new Int32Array([value]).buffer);
}

/** struct sock_filter */
function instruction(code: number, constant: number, skipUnless = 0): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint16(0, code, true);
  bytes.setUint8(3, skipUnless);
  bytes.setUint32(4, constant, true);
  return new Uint8Array(bytes.buffer);
}

/** Accepts nothing of a packet that requests a connection, and all of every other packet. */
const DROP_SYN = Buffer.concat([
  instruction(BPF_LOAD_BYTE, TCP_FLAGS_AT),
  instruction(BPF_SKIP_UNLESS_SET, TCP_SYN, 1),
  instruction(BPF_RET_K, 0),
  instruction(BPF_RET_K, 0xffff_ffff),
]);

/** struct sock_fprog, on a 64-bit machine */
function programOf(instructions: Uint8Array): Uint8Array {
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, instructions.byteLength / 8, true);
  program.setBigUint64(8, BigInt(ptr(instructions)), true);
  return new Uint8Array(program.buffer);
}
