/** A WebSocket for the line: of wire.ts in Node, Bun and Deno, of page.ts in a browser. */

export interface Ended {
  code: number;
  reason: string;
}

export interface SocketEvents {
  /** `pingSeconds`: the seconds between two pings that the server named; null: it named none. */
  open(pingSeconds: number | null): void;
  text(text: string): void;
  /** A ping or another frame came. */
  heard(): void;
  /** Is called once; nothing follows. */
  end(ended: Ended): void;
}

export interface Socket {
  readonly isOpen: boolean;
  /** False: pings come without an event, so that silence shows nothing. */
  readonly showsPings: boolean;
  send(text: string): void;
  /**
   * Ends at once, without waiting for the server, with a close frame if it can still leave.
   * `reason` is what the events say.
   */
  end(reason?: string): void;
}

export interface Handshake {
  /** `http` or `https`. */
  url: string;
  token: string;
  /** The language of the server's texts; empty: its own. */
  locale: string;
  /** The most bytes of a frame; undefined: the server's own limit. */
  frameMax: number | undefined;
}

/** The end of a connection without a close frame. */
export const CUT: Ended = { code: 1006, reason: '' };

/** Returns whether this runtime can open a stream: Node before 20.16 cannot. */
export const canStream = (): boolean =>
  typeof globalThis.process?.getBuiltinModule === 'function' || 'WebSocket' in globalThis;
