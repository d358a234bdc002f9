/** Findings of `gatepost doctor`. */

import type { FindingName } from './finding-names.ts';

export interface Finding {
  /** The cause, in snake_case; it stays the same over versions. Of an `ok`: that of the check. */
  name: string;
  /** The host, provider or webhook that the finding is about; null: the installation. */
  subject: string | null;
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
  const fault =
    (level: 'warning' | 'problem') =>
    (name: FindingName, what: string, todo: string, subject: string | null = null): Finding => ({
      name,
      subject,
      check,
      level,
      what,
      todo,
    });
  const name = check.replaceAll(' ', '_');
  return {
    ok: (what: string): Finding => ({ name, subject: null, check, level: 'ok', what, todo: null }),
    warning: fault('warning'),
    problem: fault('problem'),
  };
}
