/** The state of a device, which one step after the other reads, changes and writes. */

import { readState, type State, type Store, writeState } from './state.ts';

export class Keeper {
  #state: State | null = null;
  #steps: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Store,
    private readonly hwid: string | undefined,
  ) {}

  /** Does one step after those before it, whether they failed or not. */
  step<T>(make: () => Promise<T>): Promise<T> {
    const made = this.#steps.then(make);
    this.#steps = made.catch(() => {});
    return made;
  }

  /** Returns the state after the steps so far. */
  now(): Promise<State> {
    return this.step(() => this.read());
  }

  change(changed: (state: State) => State): Promise<void> {
    return this.step(async () => {
      const state = await this.read();
      const next = changed(state);
      if (next !== state) await this.write(next);
    });
  }

  /** Reads the state, in a step. */
  async read(): Promise<State> {
    if (this.#state !== null) return this.#state;
    const state = readState(await this.store.read(), this.hwid);
    // The HWID that was drawn is kept before anybody hears of it.
    await this.write(state);
    return state;
  }

  /** Writes the state, in a step. */
  async write(state: State): Promise<void> {
    await this.store.write(writeState(state));
    this.#state = state;
  }

  /** Takes the state that the app has written itself, in a step. */
  wasWritten(state: State): void {
    this.#state = state;
  }
}
