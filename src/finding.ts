/** Findings of `gatepost doctor`. */

export interface Finding {
  /** Subject of the check, in a word or two. */
  check: string;
  level: 'ok' | 'warning' | 'problem';
  /** Observation, in a sentence. */
  what: string;
  /** Advice; null where nothing is to be done. */
  todo: string | null;
}

/** Makes the findings of one check. */
export function about(check: string) {
  return {
    ok: (what: string): Finding => ({ check, level: 'ok', what, todo: null }),
    warning: (what: string, todo: string): Finding => ({ check, level: 'warning', what, todo }),
    problem: (what: string, todo: string): Finding => ({ check, level: 'problem', what, todo }),
  };
}
