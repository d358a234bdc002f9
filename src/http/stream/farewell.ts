/** Ends of sockets: the Close frame first, the connection when the peer has answered it. */

import type { Clock } from '../../base/clock.ts';
import { PartyQueue } from '../../base/queue.ts';
import { CloseFrames, type Ends } from './close-frame.ts';

/** The time for the peer's Close, ms. */
const CLOSE_MS = 2_000;
/** The most sockets for which it is waited. */
const WAITING_MAX = 1_000;

interface Leaving {
  readonly data: { ends: Ends | null; client: string };
  getBufferedAmount(): number;
  close(code: number, reason: string): void;
  terminate(): void;
}

export class Farewells {
  readonly #leaving = new Set<Leaving>();
  /** Those that have their Close frame, by client: one that never answers takes half at most. */
  readonly #awaited = new PartyQueue<Leaving>(() => ({ waitingMax: WAITING_MAX }));

  constructor(
    private readonly clock: Pick<Clock, 'sleep' | 'steadyMs'>,
    private readonly frames: Pick<CloseFrames, 'send'> = new CloseFrames(clock),
  ) {}

  /** The number of sockets that are kept. */
  get count(): number {
    return this.#leaving.size;
  }

  /**
   * Closes a socket with a code and its reason. Frames that were sent before leave first: Bun holds
   * those of a handler back until it is over.
   */
  close(socket: Leaving, code: number, reason: string): void {
    if (this.#leaving.has(socket)) return;
    this.#leaving.add(socket);
    setImmediate(() => {
      if (!this.#leaving.has(socket)) return;
      if (!this.#sendFrame(socket, code, reason)) {
        // Bun reports no end of a socket that has ended before.
        this.#leaving.delete(socket);
        socket.close(code, reason);
        return;
      }
      const pushedOut = this.#awaited.add(socket.data.client, socket);
      if (pushedOut !== null) this.#end(pushedOut);
      void this.clock.sleep(CLOSE_MS).then(() => this.#end(socket));
    });
  }

  /** Sends the Close frame alone. Returns false where that is not possible. */
  #sendFrame(socket: Leaving, code: number, reason: string): boolean {
    const { client, ends } = socket.data;
    if (ends === null || !this.#awaited.takes(client)) return false;
    if (socket.getBufferedAmount() > 0) return false;
    return this.frames.send(ends, code, reason);
  }

  #end(socket: Leaving): void {
    if (!this.#leaving.has(socket)) return;
    this.left(socket);
    socket.terminate();
  }

  /** Forgets a socket that has closed. */
  left(socket: Leaving): void {
    this.#leaving.delete(socket);
    this.#awaited.remove(socket.data.client, socket);
  }
}
