/**
 * Saves figures at once when an event depends on them: `link.refused` of the 10th refusal comes
 * with that refusal, and not with the next regular save.
 */

import type { Maybe } from './port/maybe.ts';

interface Saving {
  /** Returns true if a webhook of the provider wants the event. */
  isWanted(providerId: number): Maybe<boolean>;
  save(): Promise<void>;
}

/** Runs one save at a time; requests during a save share the next one. */
export class PromptSave {
  readonly #asking = new Set<number>();
  #isSaving = false;

  constructor(private readonly saving: Saving) {}

  /** Requests a save for a provider. Never waits, never throws. */
  ask(providerId: number): void {
    this.#asking.add(providerId);
    if (!this.#isSaving) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isSaving = true;
    try {
      while (this.#asking.size > 0) if (await this.#isWanted()) await this.saving.save();
    } catch {
      // The next regular save retries, and logs the fault.
      this.#asking.clear();
    }
    this.#isSaving = false;
  }

  async #isWanted(): Promise<boolean> {
    const providerIds = [...this.#asking];
    this.#asking.clear();
    for (const id of providerIds) if (await this.saving.isWanted(id)) return true;
    return false;
  }
}
