/** Calls of a part: whether one runs, and its refusal as text. */

import { type Signal, useSignal } from '@preact/signals';
import { wordsFor } from '../state.ts';

/** Keeps whether a call runs, and the refusal of the last one as text. */
export function useWork() {
  const isBusy = useSignal(false);
  const problem = useSignal<string | null>(null);
  /** Runs it; `say` makes the text of a fault. Returns whether it succeeded. */
  async function run(work: () => Promise<unknown>, say = wordsFor): Promise<boolean> {
    [isBusy.value, problem.value] = [true, null];
    try {
      problem.value = await work().then(() => null, say);
    } finally {
      isBusy.value = false;
    }
    return problem.value === null;
  }
  return { isBusy, problem, run };
}

/** Shows a problem if there is one. */
export function Problem({ of }: { of: Signal<string | null> }) {
  return (
    <p class="problem" role="alert" hidden={of.value === null}>
      {of.value}
    </p>
  );
}
