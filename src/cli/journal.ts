/**
 * Priorities for the journal of systemd: it reads them at the beginning of lines, `<4>` for a
 * warning (sd-daemon(3)), and takes them off. Lines for files and terminals have none.
 */

import { fstatSync } from 'node:fs';

/** The priorities of syslog. */
const PRIORITY = { error: 3, warn: 4, info: 6, debug: 7 } as const;

type Level = keyof typeof PRIORITY;

const STDERR = 2;

/**
 * Returns whether stderr is a stream of the journal. `variable` is `JOURNAL_STREAM`, by which
 * systemd names the device and inode of that stream: a child whose output goes elsewhere inherits
 * the variable, not the stream.
 */
export function isJournal(variable: string | undefined, descriptor = STDERR): boolean {
  if (!variable) return false;
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return variable === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

/** Puts the priority of a level before each line of a text. */
export function withPriority(level: Level, text: string): string {
  return text.replace(/^(?!$)/gm, `<${PRIORITY[level]}>`);
}
