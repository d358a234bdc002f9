/** Turns codes of faults into failures. The message of a fault may hold secrets: it is dropped. */

import { TLS_WORDS } from '../base/errno.ts';
import { OutgoingFailure } from './call.ts';

/** The fault of one connection. */
export class ConnectionFault {
  constructor(
    readonly code: string,
    /** True: the connection was reused, and may have been closed before. */
    readonly isReused = false,
  ) {}
}

/** Returns the code of a fault; UNKNOWN if it has none. */
export function codeOf(fault: unknown): string {
  const code = typeof fault === 'object' && fault !== null && 'code' in fault ? fault.code : null;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'UNKNOWN';
}

/** Faults before the call was sent: another address of the name may be reachable. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection is refused',
  ConnectionRefused: 'the connection is refused',
  ENETUNREACH: 'there is no way to its network',
  EHOSTUNREACH: 'there is no way to it',
  ENETDOWN: 'the network is down',
  EADDRNOTAVAIL: 'this machine has no address for it',
  EAFNOSUPPORT: 'this machine has no address for it',
  EACCES: 'this machine does not allow it',
  EPERM: 'this machine does not allow it',
  EMFILE: 'this process has too many files open',
  ENFILE: 'this machine has too many files open',
};

/**
 * Faults of a proxy: nothing was sent to the host. The words leave the proxy out, as providers read
 * them.
 */
const PROXY: Readonly<Record<string, string>> = {
  PROXY_AWAY: 'no connection to its proxy can be opened',
  PROXY_LATE: 'its proxy gives no connection in time',
  PROXY_LOGIN: 'its proxy refuses the login',
  PROXY_REFUSED: 'its proxy refuses the connection, or cannot open it',
  PROXY_CLOSED: 'its proxy closes the connection',
  PROXY_MALFORMED: 'its proxy does not speak the protocol that is set',
};

/** Codes of failed handshakes; EPROTO is Bun's for a server without TLS. */
const TLS_CODE = /^(?:EPROTO$|ERR_(?:TLS|SSL|BORINGSSL)|CERT_|UNABLE_TO_|DEPTH_|SELF_SIGNED)/;

const RESET =
  /^(?:ECONNRESET|EPIPE|ECONNABORTED|CLOSED|HTTP2(?:GoAway|StreamReset|RefusedStream))$/;

/** Returns whether no connection to an address was opened: another one may be reachable. */
export function isUnreachable({ code }: ConnectionFault): boolean {
  return Object.hasOwn(UNREACHABLE, code) || code === 'PROXY_REFUSED';
}

/** Returns whether the other side had closed a reused connection. */
export function isStale({ code, isReused }: ConnectionFault): boolean {
  return isReused && RESET.test(code);
}

/** Returns whether the authority of a certificate is not trusted; nothing was sent. */
export function isDistrusted({ code }: ConnectionFault): boolean {
  return /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code);
}

/** Returns the failure of a call to a host. */
export function failureOf({ code }: ConnectionFault, host: string): OutgoingFailure {
  const why = UNREACHABLE[code] ?? PROXY[code];
  if (why !== undefined)
    return new OutgoingFailure('unreachable', `cannot connect to ${host}: ${why}`);
  if (TLS_CODE.test(code)) {
    const known = TLS_WORDS[code] ?? `the TLS handshake failed (${code})`;
    return new OutgoingFailure('tls', `cannot trust ${host}: ${known}`);
  }
  if (RESET.test(code)) return new OutgoingFailure('reset', `${host} broke the connection off`);
  if (code === 'HTTP2Unsupported')
    return new OutgoingFailure('protocol', `${host} does not speak HTTP/2`);
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new OutgoingFailure('protocol', `the answer of ${host} has too many headers`);
  }
  if (code.startsWith('HPE_'))
    return new OutgoingFailure('protocol', `${host} does not answer in HTTP`);
  if (code.startsWith('HTTP2'))
    return new OutgoingFailure('protocol', `${host} violates HTTP/2 (${code})`);
  if (/^ERR_(?:HTTP2?_)?(?:INVALID|UNESCAPED)/.test(code)) {
    return new OutgoingFailure(
      'unsendable',
      `the call to ${host} has characters that cannot be sent`,
    );
  }
  if (/^(?:ENOTFOUND|EAI_\w+|ENODATA|DNS\w*)$/.test(code)) {
    return new OutgoingFailure('name', `${host} has no address`);
  }
  if (code === 'ETIMEDOUT') return new OutgoingFailure('timeout', `${host} does not answer`);
  return new OutgoingFailure('reset', `the call to ${host} failed (${code})`);
}
