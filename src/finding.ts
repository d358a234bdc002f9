/** What a check has to say. */

export interface Finding {
  /** What was looked at, in a word or two. */
  check: string;
  level: 'ok' | 'warning' | 'problem';
  /** What is so, in a sentence. */
  what: string;
  /** What to do about it; null where nothing is to be done. */
  todo: string | null;
}

/** The findings of one check are begun alike. */
export function about(check: string) {
  return {
    ok: (what: string): Finding => ({ check, level: 'ok', what, todo: null }),
    warning: (what: string, todo: string): Finding => ({ check, level: 'warning', what, todo }),
    problem: (what: string, todo: string): Finding => ({ check, level: 'problem', what, todo }),
  };
}

export function reasonIn(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
