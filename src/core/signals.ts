/**
 * Waiting inside this process: a worker for work, open streams and long polls for messages. Nothing
 * here is remembered: the store is the truth, a signal only says "look now", and one that is lost
 * costs a second and no message.
 */

export class Signals {
  readonly #waiting = new Map<number, Set<() => void>>();
  readonly #looking = new Map<number, Set<(id: number) => void>>();
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
    return addTo(this.#waiting, deviceId, look);
  }

  /** Calls `note` with each message that a device acknowledges; returns how to stop that. */
  onAcknowledged(deviceId: number, note: (id: number) => void): () => void {
    return addTo(this.#looking, deviceId, note);
  }

  /** Tells the looks under way that a device acknowledged a message. */
  acknowledged(deviceId: number, id: number): void {
    for (const note of this.#looking.get(deviceId) ?? []) note(id);
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

function addTo<T>(byDevice: Map<number, Set<T>>, deviceId: number, one: T): () => void {
  const all = byDevice.get(deviceId) ?? new Set();
  all.add(one);
  byDevice.set(deviceId, all);
  return () => {
    all.delete(one);
    if (all.size === 0 && byDevice.get(deviceId) === all) byDevice.delete(deviceId);
  };
}
