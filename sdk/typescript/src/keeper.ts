/** The state of a device. Steps read, change and write it one after the other. */

import { readState, type State, type Store, writeState } from './state.ts';

export class Keeper {
  #state: State | null = null;
  #steps: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Store,
    private readonly hwid: string | undefined,
  ) {}

  /** Runs a step after all earlier ones, also after failed ones. */
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
    // The drawn HWID is stored before it is used.
    await this.write(state);
    return state;
  }

  /** Writes the state, in a step. */
  async write(state: State): Promise<void> {
    await this.store.write(writeState(state));
    this.#state = state;
  }

  /** Takes over the state that the app has written itself, in a step. */
  wasWritten(state: State): void {
    this.#state = state;
  }
}
