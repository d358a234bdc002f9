/** Upkeep: what the server does for itself by the clock, and how it went last. */

import type { Maybe } from './maybe.ts';

export type UpkeepTask =
  /** A backup of the database file. */
  | 'backup'
  /** The command of `backup.after` with the newest backup. */
  | 'copy'
  /** The question to `update.url` for a newer version. */
  | 'release';

interface UpkeepSuccess {
  atMs: number;
  /** The file that was made or copied, or the newest version. */
  result: string;
  /** Size of the file; null: there is none. */
  bytes: number | null;
  /** The time that it took, ms; null: unknown. */
  tookMs: number | null;
}

interface UpkeepFailure {
  atMs: number;
  reason: string;
  /** The cause in snake_case, by which remedies differ; null: only the reason is known. */
  code: string | null;
}

export interface Upkeep {
  task: UpkeepTask;
  /** When it runs, in the words of its setting; empty: it is off. */
  schedule: string;
  /** Since when it runs by this schedule, UTC ms. */
  scheduledAtMs: number;
  success: UpkeepSuccess | null;
  failure: UpkeepFailure | null;
  /** Whether the last run failed. */
  isFailing: boolean;
  /** The first of the last failures in a row, which may be over, UTC ms; null: it never failed. */
  failingSinceMs: number | null;
  /** Their number. */
  failureCount: number;
}

export interface UpkeepStore {
  /** Lists the tasks that were noted, at most one record for each. */
  listUpkeep(): Maybe<Upkeep[]>;
  /** Notes by which schedule a task runs; writes nothing if it is known. Empty: it is off. */
  noteSchedule(task: UpkeepTask, schedule: string, atMs: number): Promise<void>;
  /** Notes a success, which ends failures before it. */
  noteSuccess(task: UpkeepTask, success: UpkeepSuccess): Promise<void>;
  /** Notes a failure, one more in a row or the first. */
  noteFailure(task: UpkeepTask, failure: UpkeepFailure): Promise<void>;
}
