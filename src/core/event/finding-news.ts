/**
 * The news of the doctor: each finding is reported once, and once when it is over. A finding that
 * comes and goes is over only after it was absent for longer each time, so that it fills no chat.
 */

import { DAY_MS, HOUR_MS } from '../calendar.ts';
import { isRecord } from '../json-input.ts';
import type { Happening } from '../port/event.ts';
import { doctorFound, doctorOver } from './happenings.ts';

/** A problem or warning, its texts without names. */
export interface Found {
  name: string;
  /** Part of the identity; null: the installation. */
  subject: string | null;
  level: 'warning' | 'problem';
  check: string;
  what: string;
  todo: string;
}

/** A finding that was reported. */
interface Reported {
  level: Found['level'];
  check: string;
  what: string;
  /** The time of its first news, UTC ms. */
  sinceMs: number;
  /** The time from which it was absent; null: it was present at the last run. */
  absentMs: number | null;
  /** True: its end was reported. */
  isOver: boolean;
  /** How often it came back within a day of its end. */
  returnCount: number;
}

/** The reported findings by name and subject. */
type Kept = ReadonlyMap<string, Reported>;

/** The most news of one run; the rest are those of the next one. */
const NEWS_MAX = 10;
/** The most findings that are kept; more wait until others are over. */
const KEPT_MAX = 500;
/** The time after its end at which a finding is forgotten: then it is new again. */
const FORGOTTEN_AFTER_MS = DAY_MS;

const keyOf = ({ name, subject }: Pick<Found, 'name' | 'subject'>) => `${name} ${subject ?? ''}`;

/** Returns how long a finding must be absent until its end is reported, ms. */
const quietMs = (returnCount: number) =>
  returnCount === 0 ? 0 : Math.min(HOUR_MS * 2 ** (returnCount - 1), DAY_MS);

/** Returns the events of a run and the next mark. `mark`: that of the last run; null: none. */
export function findingNews(
  found: readonly Found[],
  mark: string | null,
  nowMs: number,
): { news: Happening[]; mark: string } {
  const kept = new Map(keptIn(mark));
  const news: Happening[] = [];
  const present = new Set(found.map(keyOf));
  const problemsFirst = [...found].sort((one, other) => one.level.localeCompare(other.level));
  for (const finding of problemsFirst) noteFound(finding, { kept, news, nowMs });
  for (const [key, before] of kept) {
    if (present.has(key)) continue;
    const next = afterAbsence(key, before, { news, nowMs });
    if (next === null) kept.delete(key);
    else kept.set(key, next);
  }
  return { news, mark: JSON.stringify([...kept]) };
}

interface Run {
  kept: Map<string, Reported>;
  news: Happening[];
  nowMs: number;
}

function noteFound(finding: Found, { kept, news, nowMs }: Run): void {
  const key = keyOf(finding);
  const before = kept.get(key);
  const { level, check, what, todo } = finding;
  const rises = level === 'problem' && before?.level === 'warning';
  const isNew = before === undefined || before.isOver || rises;
  if (!isNew) {
    kept.set(key, { ...before, absentMs: null });
    return;
  }
  // The next run reports those without room.
  if (news.length >= NEWS_MAX || (before === undefined && kept.size >= KEPT_MAX)) return;
  const returnCount = before?.isOver ? before.returnCount + 1 : (before?.returnCount ?? 0);
  const sinceMs = before === undefined || before.isOver ? nowMs : before.sinceMs;
  kept.set(key, { level, check, what, sinceMs, absentMs: null, isOver: false, returnCount });
  news.push(doctorFound({ name: finding.name, level, check, finding: what }, todo));
}

/** Returns the state of a finding that is absent; null: it is forgotten. */
function afterAbsence(
  key: string,
  before: Reported,
  { news, nowMs }: Omit<Run, 'kept'>,
): Reported | null {
  // A clock that was set back makes no absence longer.
  const absentMs = Math.min(before.absentMs ?? nowMs, nowMs);
  const next = { ...before, absentMs };
  if (before.isOver) return nowMs - absentMs >= FORGOTTEN_AFTER_MS ? null : next;
  if (nowMs - absentMs < quietMs(before.returnCount) || news.length >= NEWS_MAX) return next;
  const { level, check, what, sinceMs } = before;
  const [name = ''] = key.split(' ');
  news.push(doctorOver({ name, level, check, finding: what }, sinceMs));
  return { ...next, absentMs: nowMs, isOver: true };
}

function keptIn(mark: string | null): Kept {
  const read: unknown = mark === null ? [] : JSON.parse(mark);
  const rows = Array.isArray(read) ? read : [];
  return new Map(rows.filter((row) => Array.isArray(row) && isRecord(row[1])));
}
