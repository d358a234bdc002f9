/**
 * Messages to the service manager (sd_notify(3)): this process still starts, is ready, reads its
 * settings again, stops, is alive. Bun has no unix datagram sockets, so libc is called.
 */

import { dlopen } from 'bun:ffi';
import { OperatorError } from './operator-error.ts';

export interface ServiceManager {
  /** Starting; one that waits, as for a first certificate, has not failed while the loop turns. */
  starting(): void;
  /** Ready for requests; people are shown `status`. Pings the watchdog from now on. */
  ready(status: string): void;
  /** Reading the settings again; call `ready` when that is done. */
  reloading(): void;
  /** Stopping; the watchdog is pinged until the process ends. */
  stopping(): void;
  /** Ends the pings, so that a test or an embedding process can end. */
  close(): void;
}

/** Variables that the manager puts into the environment of its services. */
export interface ServiceEnvironment {
  /** `NOTIFY_SOCKET`: a path, or `@` and an abstract name. */
  notifySocket: string | undefined;
  /** `WATCHDOG_USEC`: the time for which the process may be silent, microseconds. */
  watchdogUsec: string | undefined;
  /** `WATCHDOG_PID`: the process that the watchdog is for. */
  watchdogPid: string | undefined;
}

/** Interval at which a start that takes long says so, and the time that this gives it, ms. */
const START_PING_MS = 60_000;
const START_MORE_MS = 180_000;

const NO_MANAGER: ServiceManager = {
  starting: () => {},
  ready: () => {},
  reloading: () => {},
  stopping: () => {},
  close: () => {},
};

/**
 * The manager that started this process, or one that does nothing if none did. A watchdog is pinged
 * by a timer, three times in its period: a hung event loop is silent and gets restarted.
 */
export function serviceManager(
  environment: ServiceEnvironment,
  startPingMs = START_PING_MS,
): ServiceManager {
  const { notifySocket } = environment;
  if (!notifySocket) return NO_MANAGER;
  const send = datagramSender(notifySocket);
  const watchdogMs = watchdogPeriodMs(environment);
  let timer: ReturnType<typeof setInterval> | undefined;
  let startTimer: ReturnType<typeof setInterval> | undefined;
  return {
    starting: () => {
      const more = `EXTEND_TIMEOUT_USEC=${START_MORE_MS * 1000}\nSTATUS=starting: see the log`;
      startTimer ??= setInterval(() => send(more), startPingMs);
    },
    ready: (status) => {
      clearInterval(startTimer);
      send(`READY=1\nSTATUS=${oneLine(status)}`);
      if (watchdogMs !== null) timer ??= setInterval(() => send('WATCHDOG=1'), watchdogMs / 3);
    },
    reloading: () => send('RELOADING=1\nSTATUS=reading the settings again'),
    stopping: () => send('STOPPING=1\nSTATUS=finishing what runs'),
    close: () => {
      clearInterval(startTimer);
      clearInterval(timer);
    },
  };
}

/** The period of the watchdog, or null if it does not watch this process. */
function watchdogPeriodMs({ watchdogUsec, watchdogPid }: ServiceEnvironment): number | null {
  if (watchdogUsec === undefined || !/^[1-9]\d{0,14}$/.test(watchdogUsec)) return null;
  if (watchdogPid && watchdogPid !== String(process.pid)) return null;
  return Number(watchdogUsec) / 1000;
}

/** One line of a text: a line break would begin another assignment. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ');
}

// The numbers of Linux, the same on x86-64 and arm64.
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
/** Length of `sockaddr_un.sun_path`, bytes. */
const PATH_BYTES_MAX = 108;

/**
 * Sends texts as datagrams to a unix socket. A text that cannot be sent is dropped: a manager that
 * does not listen must not stop the service. Throws {@link OperatorError} for an address that is
 * none.
 */
function datagramSender(socket: string): (text: string) => void {
  const path = Buffer.from(socket);
  if (!/^[/@]./.test(socket) || path.length > PATH_BYTES_MAX || path.includes(0)) {
    const problem = 'is not the address of a unix socket';
    throw new OperatorError(`NOTIFY_SOCKET ${JSON.stringify(socket)} ${problem}`);
  }
  // An abstract name begins with a zero byte, and its length says where it ends.
  if (socket.startsWith('@')) path[0] = 0;
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  const address = Buffer.concat([family, path]);

  const { symbols: libc } = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    sendto: { args: ['i32', 'ptr', 'u64', 'i32', 'ptr', 'u32'], returns: 'i64' },
  });
  // One for the life of the process, not blocking: a manager that is slow holds up nobody.
  const descriptor = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  return (text) => {
    const bytes = Buffer.from(text);
    libc.sendto(descriptor, bytes, bytes.length, MSG_NOSIGNAL, address, address.length);
  };
}
