/** Findings of `gatepost doctor`. */

export interface Finding {
  /** Subject of the check, in a word or two. */
  check: string;
  level: 'ok' | 'warning' | 'problem';
  /** The finding, a sentence. */
  what: string;
  /** The remedy; null: none needed. */
  todo: string | null;
}

/** Returns functions that make the findings of a check. */
export function about(check: string) {
  return {
    ok: (what: string): Finding => ({ check, level: 'ok', what, todo: null }),
    warning: (what: string, todo: string): Finding => ({ check, level: 'warning', what, todo }),
    problem: (what: string, todo: string): Finding => ({ check, level: 'problem', what, todo }),
  };
}
