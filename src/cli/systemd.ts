/**
 * Notifications to the service manager (sd_notify(3)): starting, ready, reloading, stopping, alive.
 * Bun has no unix datagram sockets, so it calls libc.
 */

import { dlopen } from 'bun:ffi';
import { OperatorError } from '../base/operator-error.ts';

export interface ServiceManager {
  /** Starting; extends the timeout while it waits, as for a first certificate. */
  starting(): void;
  /** Ready, with a `status` to show. Pings the watchdog from now on. */
  ready(status: string): void;
  /** Reloading the settings; `ready` ends it. */
  reloading(): void;
  /** Stopping; still pings the watchdog. */
  stopping(): void;
  /** Ends the pings, for tests. */
  close(): void;
}

/** Variables that the manager sets for its services. */
export interface ServiceEnvironment {
  /** `NOTIFY_SOCKET`: a path, or `@` and an abstract name. */
  notifySocket: string | undefined;
  /** `WATCHDOG_USEC`: the longest time between pings, microseconds. */
  watchdogUsec: string | undefined;
  /** `WATCHDOG_PID`: the process that the watchdog is for. */
  watchdogPid: string | undefined;
}

/** Interval at which a long start extends its timeout, and the new timeout, ms. */
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
 * Returns the manager that started this process, or one that does nothing. A timer pings the
 * watchdog three times in its period: it restarts a process whose event loop hangs.
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

/** Returns the period of the watchdog, or null if it does not watch this process. */
function watchdogPeriodMs({ watchdogUsec, watchdogPid }: ServiceEnvironment): number | null {
  if (watchdogUsec === undefined || !/^[1-9]\d{0,14}$/.test(watchdogUsec)) return null;
  if (watchdogPid && watchdogPid !== String(process.pid)) return null;
  return Number(watchdogUsec) / 1000;
}

/** Replaces line breaks, which would begin another assignment. */
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
 * Returns a sender of datagrams to a unix socket. Drops a text that cannot be sent: the manager
 * must not stop the service. Throws {@link OperatorError} for an invalid address.
 */
function datagramSender(socket: string): (text: string) => void {
  const path = Buffer.from(socket);
  if (!/^[/@]./.test(socket) || path.length > PATH_BYTES_MAX || path.includes(0)) {
    const problem = 'is not the address of a unix socket';
    throw new OperatorError(`NOTIFY_SOCKET ${JSON.stringify(socket)} ${problem}`);
  }
  // An abstract name begins with a zero byte; its length marks its end.
  if (socket.startsWith('@')) path[0] = 0;
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  const address = Buffer.concat([family, path]);

  const { symbols: libc } = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    sendto: { args: ['i32', 'ptr', 'u64', 'i32', 'ptr', 'u32'], returns: 'i64' },
  });
  // Not blocking, so that a slow manager does not stop the event loop.
  const descriptor = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  return (text) => {
    const bytes = Buffer.from(text);
    libc.sendto(descriptor, bytes, bytes.length, MSG_NOSIGNAL, address, address.length);
  };
}
