/**
 * Saves figures at once when an event depends on them: `link.refused` tells of the 10th refusal
 * when it happens, and not when the next regular save finds thirteen.
 */

import type { Maybe } from './port/maybe.ts';

interface Saving {
  /** Tells whether a webhook of the provider wants the event. */
  isWanted(providerId: number): Maybe<boolean>;
  save(): Promise<void>;
}

/** One save at a time; what is asked for meanwhile shares the next one. */
export class PromptSave {
  readonly #asking = new Set<number>();
  #isSaving = false;

  constructor(private readonly saving: Saving) {}

  /** Asks for a save on behalf of a provider. Never waits, never fails. */
  ask(providerId: number): void {
    this.#asking.add(providerId);
    if (!this.#isSaving) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isSaving = true;
    try {
      while (this.#asking.size > 0) if (await this.#isWanted()) await this.saving.save();
    } catch {
      // The next regular save tries again, and reports what is wrong.
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
