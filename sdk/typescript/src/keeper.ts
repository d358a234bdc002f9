/** The state of a device. Steps read, change and write it one after the other. */

import { readState, type State, type Store, writeState } from './state.ts';

export class Keeper {
  #state: State | null = null;
  #steps: Promise<unknown> = Promise.resolve();
  #isUnwritten = false;

  constructor(
    private readonly store: Store,
    private readonly hwid: string | undefined,
    /** Is called when the store refused a text, which is to be written again. */
    private readonly onRefused: (error: unknown) => void,
  ) {}

  /** Runs a step after all earlier ones, also after failed ones. */
  step<T>(make: () => Promise<T>): Promise<T> {
    const made = this.#steps.then(make);
    this.#steps = made.catch(() => {});
    return made;
  }

  /** Returns the state after the steps so far. Throws if the store cannot be read. */
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

  /** Writes again what the store refused. */
  again(): Promise<void> {
    return this.step(async () => {
      if (this.#isUnwritten && this.#state !== null) await this.write(this.#state);
    });
  }

  /** Reads the state, in a step. */
  async read(): Promise<State> {
    if (this.#state !== null) return this.#state;
    const state = readState(await this.store.read(), this.hwid);
    // The drawn HWID is stored before it is used.
    await this.store.write(writeState(state));
    this.#state = state;
    return state;
  }

  /** Writes the state, in a step. It holds also while the store refuses it. */
  async write(state: State): Promise<void> {
    this.#state = state;
    try {
      await this.store.write(writeState(state));
      this.#isUnwritten = false;
    } catch (error) {
      this.#isUnwritten = true;
      this.onRefused(error);
    }
  }

  /** Takes over the state that the app has written itself, in a step. */
  wasWritten(state: State): void {
    this.#state = state;
    this.#isUnwritten = false;
  }
}
