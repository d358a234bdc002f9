/** Outgoing calls and their ends. */

import type { Destination } from './proxy.ts';

/**
 * The origin of an address. An address of the `operator` is trusted. An `untrusted` one comes from
 * a provider or a device: its name is resolved, every IP address is checked, and the call connects
 * to a checked one.
 */
type Trust = 'operator' | 'untrusted';

export interface OutgoingCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The purpose, from which its proxy follows. */
  destination: Destination;
  /** Absolute. A problem repeats no more of it than the host. */
  url: string;
  trust: Trust;
  /**
   * The owner of the call. Each party has its own places, pace and connections at an origin, so
   * that it takes none from another party with a receiver on the same host. Absent: they are
   * shared.
   */
  party?: string;
  /**
   * Calls by HTTP/2 only, to an https address of the operator, on connections of this pool: a
   * server may bind a connection to the credentials of its first call. Absent: by HTTP/1.1.
   */
  http2?: { pool: string };
  /** Names in lower case, without `host` and `content-length`. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer> | null;
  /** The timeout of the exchange, ms, after up to 5 s for a place. */
  timeoutMs: number;
  /** Most bytes of the answer's body that are kept; 0: the status suffices. */
  answerBytesMax: number;
  /**
   * The group of calls that takes turns with others for places, and never gets all of them. Absent:
   * the call is its own group.
   */
  turn?: string;
  /** Most calls to its origin at a time. */
  originConcurrency: number;
  /** Most calls to its origin in a second; absent: `[outgoing] origin_rate` if untrusted. */
  originRate?: number;
}

/** An answer of any status; a redirect is not followed. */
export interface OutgoingAnswer {
  status: number;
  /** Returns a header by its name in lower case; the first if there are several. */
  header(name: string): string | null;
  /** The part of the body that was kept, as UTF-8; empty if it is compressed. */
  text: string;
  /** False: after the status, the body was too long or broke off. */
  isWhole: boolean;
  /** The wait that `Retry-After` asks for; null: none. */
  retryAfterMs: number | null;
}

/**
 * The reason why there is no answer:
 *
 * | kind | |
 * |---|---|
 * | `address` | the address may not be called; nothing was sent |
 * | `name` | the name has no address; an untrusted one, none that may be called |
 * | `unreachable` | no connection could be opened |
 * | `tls` | the certificate is not trusted, or the handshake failed |
 * | `timeout` | the time is over |
 * | `reset` | the connection broke; the call may have arrived |
 * | `protocol` | the answer is no HTTP, or its head is too large |
 * | `busy` | no place became free in time; nothing was sent |
 * | `stopped` | the signal was aborted |
 * | `unsendable` | the address or a header cannot be sent as it is |
 */
export type FailureKind =
  | 'address'
  | 'name'
  | 'unreachable'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'busy'
  | 'stopped'
  | 'unsendable';

/** A call that got no answer. */
export class OutgoingFailure {
  constructor(
    readonly kind: FailureKind,
    /** One sentence, with no more of the address than its host. */
    readonly problem: string,
  ) {}
}
