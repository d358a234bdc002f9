/**
 * What Bun does not do with a port.
 *
 * Two listeners of this process on one, for the moment in which one takes over from the other: Bun
 * cannot change the certificate of a listener, and closing one resets the connections that the
 * kernel has not handed over yet: at 500 new connections a second one was lost at each change. So
 * both listen for a while, and the kernel is told to give every new connection to the newer one;
 * the older one closes when nobody is left on it.
 *
 * Until the first change the port is this program's alone: SO_REUSEPORT is set only here, and taken
 * back. After it Linux still lets a program of the same user join that asks for it; a second
 * Gatepost never does.
 *
 * The end of a listener: before it the kernel is told to make no new connection, which would be
 * reset with it.
 */

import { dlopen, ptr } from 'bun:ffi';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const SOL_SOCKET = 1;
const SO_REUSEPORT = 15;
/** A classic BPF program that says of each packet how much of it is let in. */
const SO_ATTACH_FILTER = 26;
/** A classic BPF program that chooses among the listeners of one port (Linux 4.5). */
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** Instructions, linux/filter.h: return a constant, load a byte, skip one unless a bit is set. */
const BPF_RET_K = 0x06;
const BPF_LOAD_BYTE = 0x30;
const BPF_SKIP_UNLESS_SET = 0x45;
/** The byte of a TCP header with its flags, and the flag of who asks for a connection. */
const TCP_FLAGS_AT = 13;
const TCP_SYN = 0x02;
/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';
/** The group of a port numbers its listeners in the order in which they joined. */
const NEWER = 1;

export interface PortHandover {
  /** Lets one more listener of this user's join on `port`. False if the kernel does not want to. */
  open(port: number): boolean;
  /** Gives all new connections to the listener that joined last. False if they are shared out. */
  steer(port: number): boolean;
  /** Lets no other join, once one listener is left. */
  close(port: number): void;
  /**
   * Takes no new connection any more, for good: who asks for one hears nothing, asks again after a
   * second, and is refused by then. What is made already goes on, also where the kernel waits for
   * its first bytes before it hands it over (TCP_DEFER_ACCEPT, which Bun asks for). False if the
   * kernel does not want to.
   */
  shutOut(port: number): boolean;
}

/** The handover of this system; null where there is none. */
export function makePortHandover(): PortHandover | null {
  if (process.platform !== 'linux') return null;
  const setOption = loadSetOption();
  if (setOption === null) return null;
  const share = (port: number, isShared: boolean) => {
    const fds = listenersOf(port);
    const done = fds.map((fd) => setOption(fd, SO_REUSEPORT, int32(isShared ? 1 : 0)));
    return done.length > 0 && !done.includes(false);
  };
  return {
    open: (port) => share(port, true),
    steer: (port) => {
      const [fd] = listenersOf(port);
      const instruction = alwaysReturn(NEWER);
      return fd !== undefined && setOption(fd, SO_ATTACH_REUSEPORT_CBPF, programOf(instruction));
    },
    close: (port) => {
      share(port, false);
    },
    shutOut: (port) => {
      const program = programOf(REFUSE_SYN);
      const done = listenersOf(port).map((fd) => setOption(fd, SO_ATTACH_FILTER, program));
      return done.length > 0 && !done.includes(false);
    },
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

/** The file descriptors of this process that listen on `port`. */
function listenersOf(port: number): number[] {
  const inodes = new Set(listenersIn(port).map((columns) => columns[9] ?? ''));
  return openFiles().filter((fd) => inodes.has(inodeOf(fd)));
}

function openFiles(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    // Without /proc, as in some chroots, nobody can be found: the change is made the other way.
    return [];
  }
}

/** The rows of /proc/net/tcp about who listens on `port`; of other processes too. */
function listenersIn(port: number): string[][] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['tcp', 'tcp6']
    .flatMap((table) => readTable(table).split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENING && local?.endsWith(suffix));
}

function readTable(name: string): string {
  try {
    return readFileSync(`/proc/self/net/${name}`, 'latin1');
  } catch {
    // Without IPv6 there is no tcp6, without /proc neither.
    return '';
  }
}

function inodeOf(fd: number): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? 'none';
  } catch {
    // Closed meanwhile, as the one that the folder was read with.
    return 'none';
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

const alwaysReturn = (index: number) => instruction(BPF_RET_K, index);

/** Lets in nothing of a packet that asks for a connection, all of every other one. */
const REFUSE_SYN = Buffer.concat([
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
