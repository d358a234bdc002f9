/** Calls out, and how they end. */

/**
 * By whom an address was chosen. One that `anybody` may have supplied is looked up, checked, and
 * connected to as checked; one of the `operator` is believed.
 */
export type Trust = 'operator' | 'anybody';

export interface OutgoingCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Absolute; neither it nor a part of it but the host comes back in a problem. */
  url: string;
  trust: Trust;
  /**
   * On whose behalf: each has places, pace and connections of its own at an origin, so that nobody
   * takes those of another who has a receiver on the same host. Absent: they are everybody's.
   */
  party?: string;
  /**
   * By HTTP/2 alone, for an https address of the operator's, on connections that only calls with
   * the same pool share, as a server may take a connection for whom it saw there first. Absent: by
   * HTTP/1.1.
   */
  http2?: { pool: string };
  /** Names in lower case; `host` and `content-length` are written here. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array<ArrayBuffer> | null;
  /** Longest time for the whole exchange, ms; before it a place is waited for, for 5 s at most. */
  timeoutMs: number;
  /** Bytes of the answer's body that are kept; 0: its status says enough. */
  answerBytesMax: number;
  /**
   * Who takes turns with others for the places there, of which one is never the same one's. Absent:
   * each call on its own, as they come.
   */
  turn?: string;
  /** Most calls to its origin that are under way at a time. */
  originConcurrency: number;
  /** Most calls to its origin in a second; absent: `[outgoing] origin_rate` for anybody's. */
  originRate?: number;
}

/** An answer, whatever its status: a redirect is one too, and is not followed. */
export interface OutgoingAnswer {
  status: number;
  /** A header by its name in lower case; the first if there are several. */
  header(name: string): string | null;
  /** The body as far as it was read, as UTF-8; empty if it is compressed: nobody asked for it. */
  text: string;
  /** False: the body was longer, or broke off, after the status had come. */
  isWhole: boolean;
  /** As the other side asked by `Retry-After`; null: it did not. */
  retryAfterMs: number | null;
}

/**
 * Why there is no answer. `address`: it may not be called, and nothing was sent. `name`: it has no
 * address, or, if anybody may have supplied it, none that may be called. `unreachable`: no
 * connection came about. `tls`: the other side is not who it should be. `timeout`; `reset`: the
 * connection broke off; it may have heard all of it. `protocol`: it answers what is no HTTP, or
 * too much head. `busy`: no place became free in time, and nothing was sent. `stopped`: the signal
 * said so. `unsendable`: the address or a header cannot go out as it is.
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
    /** One sentence in plain English with no more of the address than its host. */
    readonly problem: string,
  ) {}
}
