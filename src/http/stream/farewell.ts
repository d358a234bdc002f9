/** Ends of sockets: the Close frame first, the connection when the peer has answered it. */

import type { Clock } from '../../base/clock.ts';
import { CloseFrames, type Ends } from './close-frame.ts';

/** The time for the peer's Close, ms. */
const CLOSE_MS = 2_000;
/** The most sockets that wait for it. */
const WAITING_MAX = 1_000;

interface Leaving {
  readonly data: { ends: Ends | null };
  getBufferedAmount(): number;
  close(code: number, reason: string): void;
  terminate(): void;
}

export class Farewells {
  readonly #frames: CloseFrames;
  readonly #waiting = new Set<Leaving>();

  constructor(private readonly clock: Pick<Clock, 'sleep' | 'steadyMs'>) {
    this.#frames = new CloseFrames(clock);
  }

  /**
   * Closes a socket with a code and its reason. Frames that were sent before leave first: Bun holds
   * those of a handler back until it is over.
   */
  close(socket: Leaving, code: number, reason: string): void {
    if (this.#waiting.has(socket)) return;
    this.#waiting.add(socket);
    setImmediate(() => {
      if (!this.#waiting.has(socket)) return;
      if (!this.#sendFrame(socket, code, reason)) {
        // Bun says no more of a socket that has closed.
        this.#waiting.delete(socket);
        socket.close(code, reason);
        return;
      }
      void this.clock.sleep(CLOSE_MS).then(() => {
        if (this.#waiting.delete(socket)) socket.terminate();
      });
    });
  }

  /** Sends the Close frame alone. Returns false where that is not possible. */
  #sendFrame(socket: Leaving, code: number, reason: string): boolean {
    const { ends } = socket.data;
    if (ends === null || this.#waiting.size > WAITING_MAX) return false;
    if (socket.getBufferedAmount() > 0) return false;
    return this.#frames.send(ends, code, reason);
  }

  /** Sockets that wait for the Close of their peer. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Forgets a socket that has closed. */
  left(socket: Leaving): void {
    this.#waiting.delete(socket);
  }
}
