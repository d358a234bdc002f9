/**
 * Signals inside this process: to the workers for new work, to streams and long polls for messages.
 * Listeners check the store, so that a lost signal costs a second and no message.
 */

/** Replaced by each change. Nearly all have one: a set of one takes 500 bytes, a list 50. */
type Listeners<T> = readonly T[];

export class Signals {
  readonly #waiting = new Map<number, Listeners<() => void>>();
  readonly #acknowledging = new Map<number, Listeners<(id: number) => void>>();
  #onWork: (() => void) | null = null;
  #onOutbox: (() => void) | null = null;
  #onJob: (() => void) | null = null;

  /** Sets the listener for work; there is at most one. */
  onWork(check: () => void): void {
    this.#onWork = check;
  }

  /** Signals that a worker may have work. */
  workAccepted(): void {
    this.#onWork?.();
  }

  /** Sets the listener for jobs; there is at most one. */
  onJob(check: () => void): void {
    this.#onJob = check;
  }

  /** Signals that a job was added. */
  jobAdded(): void {
    this.#onJob?.();
  }

  /** Sets the listener for the outbox; there is at most one. */
  onOutbox(check: () => void): void {
    this.#onOutbox = check;
  }

  /** Signals that the outbox may have due dispatches. */
  outboxFilled(): void {
    this.#onOutbox?.();
  }

  /** Calls `check` when a device may have messages, until the returned function is called. */
  onMessages(deviceId: number, check: () => void): () => void {
    return addTo(this.#waiting, deviceId, check);
  }

  /** Calls `note` for each message that a device acknowledges; returns as `onMessages` does. */
  onAcknowledged(deviceId: number, note: (id: number) => void): () => void {
    return addTo(this.#acknowledging, deviceId, note);
  }

  /** Signals that a device acknowledged a message. */
  acknowledged(deviceId: number, id: number): void {
    for (const note of this.#acknowledging.get(deviceId) ?? []) note(id);
  }

  /** Signals that a device may have messages. */
  messagesFor(deviceId: number): void {
    for (const check of this.#waiting.get(deviceId) ?? []) check();
  }

  /** Signals that a slot or link of these devices ended. */
  endedFor(deviceIds: readonly number[]): void {
    for (const deviceId of this.awaited(deviceIds)) this.messagesFor(deviceId);
  }

  /** Returns those of these devices, or of all, for which a stream or long poll waits. */
  awaited(deviceIds: readonly number[] | 'all'): number[] {
    if (deviceIds === 'all') return [...this.#waiting.keys()];
    return this.#waiting.size === 0 ? [] : deviceIds.filter((id) => this.#waiting.has(id));
  }
}

function addTo<T>(byDevice: Map<number, Listeners<T>>, deviceId: number, listener: T): () => void {
  byDevice.set(deviceId, [...(byDevice.get(deviceId) ?? []), listener]);
  return () => {
    const others = byDevice.get(deviceId)?.filter((one) => one !== listener) ?? [];
    if (others.length > 0) byDevice.set(deviceId, others);
    else byDevice.delete(deviceId);
  };
}
