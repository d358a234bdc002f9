/** A case of `conformance/`, ready to be played. */

import type { CaseFile, Step } from './format.ts';

/** A case with all its steps, those of its `given` first. */
export interface Case {
  name: string;
  rule: string;
  /** False: the case changes data, or would on a faulty server. */
  reads: boolean;
  /** True: the public contract does not define this; Gatepost does. */
  ours: boolean;
  steps: readonly Step[];
  /** The callers whose credentials the case needs. */
  callers: readonly string[];
  /** Events at the server that must happen between two steps. */
  when: readonly string[];
}

/** Callers that every runner has: one without credentials, and one with unknown ones. */
export const FREE_CALLERS: ReadonlySet<string> = new Set(['none', 'stranger']);

/** Returns the cases of a file with inherited fields and the steps of their `given`. */
export function casesOf({ as = 'none', cases }: CaseFile, shared: CaseFile): Case[] {
  return cases.map(({ name, rule, reads = false, ours = false, given = [], steps, ...own }) => {
    const before = given.flatMap((word) => {
      const found = shared.given?.[word];
      if (found === undefined) throw new Error(`${name}: there is no given ${word}`);
      return found;
    });
    const after = (steps ?? [{}]).map((step) => ({ ...own, ...step }));
    const all = [...before, ...after].map((step) => ({ as, ...step }));
    const named = [...JSON.stringify(all).matchAll(/\{(\w+)\.\w+\}/g)].map(([, word]) => word);
    const callers = new Set([...all.map((step) => step.as), ...named]);
    return {
      name,
      rule,
      reads,
      ours,
      steps: all,
      callers: [...callers].filter((caller) => !FREE_CALLERS.has(caller ?? '')) as string[],
      when: [...new Set(all.flatMap((step: Step) => step.when ?? []))],
    };
  });
}
