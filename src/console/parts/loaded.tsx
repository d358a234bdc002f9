/** Loading states: a value, its first load, and a failed reload. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Refusal } from '../call.ts';
import { texts, wordsFor } from '../state.ts';
import { Button } from './button.tsx';

interface Loaded<T> {
  value: Signal<T | null>;
  problem: Signal<string | null>;
  load: () => Promise<void>;
}

/** Faults after which the loaded value may still be right. */
const PASSING = new Set(['offline', 'fault']);

/**
 * Loads a value, again whenever `key` changes; drops the answer of an older load. Keeps the value
 * while the server cannot be reached, so that a form in it keeps its input.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, key: string): Loaded<T> {
  const value = useSignal<T | null>(null);
  const problem = useSignal<string | null>(null);
  const leaving = useRef(new AbortController());
  const rounds = useRef({ asked: 0, answered: 0 });

  async function run() {
    const { signal } = leaving.current;
    rounds.current.asked += 1;
    const round = rounds.current.asked;
    const isOld = () => signal.aborted || round < rounds.current.answered;
    if (value.value === null) problem.value = null;
    try {
      const loaded = await load(signal);
      if (isOld()) return;
      [value.value, problem.value] = [loaded, null];
    } catch (fault) {
      if (isOld()) return;
      problem.value = wordsFor(fault);
      if (!(fault instanceof Refusal && PASSING.has(fault.says))) value.value = null;
    }
    rounds.current.answered = round;
  }

  // `key` stands for everything that `load` reads.
  useEffect(() => {
    leaving.current = new AbortController();
    value.value = null;
    void run();
    return () => leaving.current.abort();
  }, [key]);

  return { value, problem, load: run };
}

interface StatusProps {
  of: Loaded<unknown>;
  children: ComponentChildren;
}

/** Shows the value once it is loaded, and the fault of a later load. */
export function Status({ of, children }: StatusProps) {
  const notice = of.problem.value !== null && (
    <div class="notice" role="alert">
      <p>{of.problem.value}</p>
      <Button label={texts.retry} onClick={of.load} />
    </div>
  );
  if (of.value.value === null && notice === false) {
    return (
      <div class="loading" role="status">
        <span class="visually-hidden">{texts.loading}</span>
      </div>
    );
  }
  return (
    <>
      {notice}
      {of.value.value !== null && children}
    </>
  );
}
