/** How a server misbehaves, on command. */

/** One way to misbehave. `delivers`: what was sent arrives nevertheless, as far as it was right. */
export type Misdeed =
  /** Refuses by a name or a status of the service's own table. */
  | { kind: 'refuse'; name: string; retryAfter?: string; delivers?: boolean }
  /** Answers with exactly this. */
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: string }
  /** HTTP/2: the last stream that will be served is the one before; closes soon afterwards. */
  | { kind: 'goaway' }
  /** HTTP/2: serves this one, but no more on this connection. */
  | { kind: 'goaway-after' }
  /** Begins an answer, then resets the stream (HTTP/1.1: the connection). */
  | { kind: 'reset-stream'; delivers?: boolean }
  /** Resets the TCP connection with all that is under way on it. */
  | { kind: 'reset-connection'; delivers?: boolean }
  /** Says nothing, for ever. */
  | { kind: 'blackhole'; delivers?: boolean }
  /** Answers 200, and then a byte of the body now and then, for ever. */
  | { kind: 'drip'; everyMs: number; delivers?: boolean }
  /** Answers 200 with a body of so many bytes. */
  | { kind: 'huge'; bytes: number; delivers?: boolean; status?: number };

/** What a service does until it is told otherwise. */
export interface Behaviour {
  /** For the next requests, one each, before anything else. */
  next?: Misdeed[];
  /** For requests to this token or hook. */
  to?: Record<string, Misdeed>;
  /** For a share (0 to 1) of all requests each, by chance. */
  some?: { share: number; misdeed: Misdeed }[];
  /** For all requests. */
  always?: Misdeed;
  /** Answers only after so long, ms. */
  delayMs?: number;
  /** Resets every connection so often. */
  resetEveryMs?: number;
}

/** Picks misdeeds, the same ones in each run for the same requests. */
export class Temper {
  #behaviour: Behaviour = {};
  #state = 1;

  set(behaviour: Behaviour): void {
    this.#behaviour = { ...behaviour, next: [...(behaviour.next ?? [])] };
  }

  get delayMs(): number {
    return this.#behaviour.delayMs ?? 0;
  }

  /** The misdeed for a request to this token; null: none. */
  pick(to: string | null): Misdeed | null {
    const { next, to: byToken, some = [], always } = this.#behaviour;
    const first = next?.shift();
    if (first !== undefined) return first;
    const own = to === null ? undefined : byToken?.[to];
    if (own !== undefined) return own;
    let dice = this.#random();
    for (const { share, misdeed } of some) {
      if (dice < share) return misdeed;
      dice -= share;
    }
    return always ?? null;
  }

  /** A xorshift: it need only be even. */
  #random(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }
}
