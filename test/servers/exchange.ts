/** What a strict server and its services say to each other. */

/** A request, read to its end. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  /** By lower-case names, without the pseudo headers of HTTP/2. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  protocol: 'h1' | 'h2';
  /** Number of the TCP connection on which it came. */
  connection: number;
  /** The server's time, s since 1970; tests shift it. */
  nowS: number;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** What a service makes of a request that nothing goes wrong with. */
export interface Outcome {
  answer: Answer;
  /** Whom the request is for: a device's token, a hook; null: that could not be read. */
  to: string | null;
  /** The sender's id of what it sends: the same in each attempt. */
  id: string | null;
  /** Content as the receiver reads it, decrypted and parsed. */
  content: unknown;
  /** Whether this delivers, if the server lets it. */
  delivers: boolean;
}

export interface Service {
  handle(exchange: Exchange): Outcome;
  /** The service's own words for a refusal by its name or status; throws for one it never gives. */
  refusal(name: string): Answer;
}

/**
 * A request that the service refuses by itself. It is noted as a breach of the protocol, unless it
 * is what an operator gets wrong, such as a key.
 */
export class Violation extends Error {
  constructor(
    readonly answer: Answer,
    why: string,
    readonly isBreach = true,
  ) {
    super(why);
  }
}

/** An answer in JSON. */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8', ...headers },
    body: JSON.stringify(value),
  };
}

/** The outcome of a request that delivers nothing. */
export function undelivered(answer: Answer, to: string | null = null): Outcome {
  return { answer, to, id: null, content: null, delivers: false };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
