/** Long work of which each caller may have one piece under way. */

export class Alone {
  readonly #working = new Set<string>();

  /** Runs `act`; null, without running it, while the caller's last one is under way. */
  async run<T>(caller: string, act: () => Promise<T>): Promise<T | null> {
    if (this.#working.has(caller)) return null;
    this.#working.add(caller);
    try {
      return await act();
    } finally {
      this.#working.delete(caller);
    }
  }
}
