/**
 * Waiting inside this process: a worker for work, open streams and long polls for messages. Nothing
 * here is remembered: the store is the truth, a signal only says "look now", and one that is lost
 * costs a second and no message.
 */

export class Signals {
  readonly #waiting = new Map<number, Set<() => void>>();
  #onWork: (() => void) | null = null;
  #onOutbox: (() => void) | null = null;

  /** The worker of this process; at most one. */
  onWork(look: () => void): void {
    this.#onWork = look;
  }

  /** Tells the worker that there may be something to do. */
  workAccepted(): void {
    this.#onWork?.();
  }

  /** The worker of the outbox of this process; at most one. */
  onOutbox(look: () => void): void {
    this.#onOutbox = look;
  }

  /** Tells that worker that there may be something to hand over. */
  outboxFilled(): void {
    this.#onOutbox?.();
  }

  /** Calls `look` whenever there may be messages for a device; returns how to stop that. */
  onMessages(deviceId: number, look: () => void): () => void {
    const waiting = this.#waiting.get(deviceId) ?? new Set();
    waiting.add(look);
    this.#waiting.set(deviceId, waiting);
    return () => {
      waiting.delete(look);
      if (waiting.size === 0 && this.#waiting.get(deviceId) === waiting) {
        this.#waiting.delete(deviceId);
      }
    };
  }

  messagesFor(deviceId: number): void {
    for (const look of this.#waiting.get(deviceId) ?? []) look();
  }

  /** Devices that somebody waits for here, of these or of all. */
  awaited(deviceIds: readonly number[] | 'all'): number[] {
    if (deviceIds === 'all') return [...this.#waiting.keys()];
    return this.#waiting.size === 0 ? [] : deviceIds.filter((id) => this.#waiting.has(id));
  }
}
