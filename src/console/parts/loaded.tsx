/** What a part shows while it loads and when that failed. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { texts, wordsFor } from '../state.ts';

interface Loaded<T> {
  value: Signal<T | null>;
  problem: Signal<string | null>;
  load: () => Promise<void>;
}

/** Loads a value, anew whenever `key` changes; the answer of an older load is dropped. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key: string): Loaded<T> {
  const value = useSignal<T | null>(null);
  const problem = useSignal<string | null>(null);

  async function run(signal: AbortSignal) {
    problem.value = null;
    try {
      const loaded = await load(signal);
      if (!signal.aborted) value.value = loaded;
    } catch (fault) {
      if (!signal.aborted) problem.value = wordsFor(fault);
    }
  }

  // The key stands for what `load` reads.
  useEffect(() => {
    const leaving = new AbortController();
    value.value = null;
    void run(leaving.signal);
    return () => leaving.abort();
  }, [key]);

  return { value, problem, load: () => run(new AbortController().signal) };
}

interface StatusProps {
  of: Loaded<unknown>;
  children: ComponentChildren;
}

/** Shows the value once it is there. */
export function Status({ of, children }: StatusProps) {
  if (of.problem.value !== null) {
    return (
      <div class="notice" role="alert">
        <p>{of.problem.value}</p>
        <button type="button" onClick={of.load}>
          {texts.retry}
        </button>
      </div>
    );
  }
  if (of.value.value === null) {
    return (
      <div class="loading" role="status">
        <span class="visually-hidden">{texts.loading}</span>
      </div>
    );
  }
  return <>{children}</>;
}
