/** Long polls that wait for messages: a bounded number for each device. */

/**
 * Polls of one device at a time. An app needs one; a second may still be known here when its
 * network changed. Beyond this the one that has waited longest is answered at once.
 */
export const POLLS_PER_DEVICE_MAX = 4;

export class Polls {
  readonly #parked = new Map<number, Set<AbortController>>();

  /** How many wait. */
  get count(): number {
    let count = 0;
    for (const ofDevice of this.#parked.values()) count += ofDevice.size;
    return count;
  }

  /**
   * Runs `poll`, whose signal says that it must wait no longer: `signal` does, or newer polls of
   * the device took its place.
   */
  async park<T>(
    deviceId: number,
    signal: AbortSignal,
    poll: (whenOver: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const end = new AbortController();
    const ofDevice = this.#parked.get(deviceId) ?? new Set();
    this.#parked.set(deviceId, ofDevice.add(end));
    const [oldest] = ofDevice;
    if (ofDevice.size > POLLS_PER_DEVICE_MAX) oldest?.abort();
    try {
      return await poll(AbortSignal.any([signal, end.signal]));
    } finally {
      ofDevice.delete(end);
      if (ofDevice.size === 0 && this.#parked.get(deviceId) === ofDevice) {
        this.#parked.delete(deviceId);
      }
    }
  }
}
