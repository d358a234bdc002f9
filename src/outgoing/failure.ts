/** From codes of faults to failures, in plain words. A fault's own message is never passed on. */

import { type FailureKind, OutgoingFailure } from './call.ts';

/** What went wrong with one connection, by the code of its fault. */
export class Trouble {
  constructor(
    readonly code: string,
    /** True: the connection had been used before, and may have been closed by then. */
    readonly isReused = false,
  ) {}
}

/** The code of a fault; a fault without one is only UNKNOWN. */
export function codeOf(fault: unknown): string {
  const code = typeof fault === 'object' && fault !== null && 'code' in fault ? fault.code : null;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'UNKNOWN';
}

/** Faults before anything was sent: another address of the same name may do better. */
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

const TLS: Readonly<Record<string, string>> = {
  EPROTO: 'it speaks no TLS, or no HTTP/2 where that is needed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is of another name',
  CERT_HAS_EXPIRED: 'its certificate is over',
  CERT_NOT_YET_VALID: 'its certificate does not hold yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself alone',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is of an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an authority that is not known here',
};
/** Codes of a handshake that came to nothing; EPROTO is Bun's for a server without TLS. */
const TLS_CODE = /^(?:EPROTO$|ERR_(?:TLS|SSL|BORINGSSL)|CERT_|UNABLE_TO_|DEPTH_|SELF_SIGNED)/;

const RESET =
  /^(?:ECONNRESET|EPIPE|ECONNABORTED|CLOSED|HTTP2(?:GoAway|StreamReset|RefusedStream))$/;

/** Tells whether nothing was sent, as there was no connection. */
export function isUnreachable({ code }: Trouble): boolean {
  return Object.hasOwn(UNREACHABLE, code);
}

/** Tells whether a connection that was kept open had been closed by the other side. */
export function isStale({ code, isReused }: Trouble): boolean {
  return isReused && RESET.test(code);
}

/** Tells whether a certificate is of an authority that is not believed; nothing was sent. */
export function isDistrusted({ code }: Trouble): boolean {
  return /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code);
}

/** The failure of a call to a host. */
export function failureOf({ code }: Trouble, host: string): OutgoingFailure {
  const why = UNREACHABLE[code];
  if (why !== undefined) return failure('unreachable', `cannot connect to ${host}: ${why}`);
  if (TLS_CODE.test(code)) {
    const known = TLS[code] ?? `the TLS handshake failed (${code})`;
    return failure('tls', `cannot trust ${host}: ${known}`);
  }
  if (RESET.test(code)) return failure('reset', `${host} broke the connection off`);
  if (code === 'HTTP2Unsupported') return failure('protocol', `${host} does not speak HTTP/2`);
  if (code === 'HPE_HEADER_OVERFLOW') {
    return failure('protocol', `the answer of ${host} has too many headers`);
  }
  if (code.startsWith('HPE_')) return failure('protocol', `${host} answers what is no HTTP`);
  if (code.startsWith('HTTP2')) return failure('protocol', `${host} breaks HTTP/2 (${code})`);
  if (/^ERR_(?:INVALID|HTTP_INVALID|UNESCAPED)/.test(code)) {
    return failure('unsendable', `the call to ${host} has signs that cannot be sent`);
  }
  if (/^(?:ENOTFOUND|EAI_\w+|ENODATA|DNS\w*)$/.test(code)) {
    return failure('name', `${host} has no address`);
  }
  if (code === 'ETIMEDOUT') return failure('timeout', `${host} does not answer`);
  return failure('reset', `the call to ${host} failed (${code})`);
}

/** A failure of a kind. */
export function failure(kind: FailureKind, problem: string): OutgoingFailure {
  return new OutgoingFailure(kind, problem);
}
