/** How each task of upkeep went last. */

import type { Upkeep, UpkeepStore } from '../../core/port/upkeep.ts';
import type { Backend, Statements } from '../backend.ts';
import { columns, type RowsOf, sql } from '../statement-text.ts';

const COLUMNS = columns(
  'upkeep',
  `task, schedule, scheduledAtMs, succeededAtMs, result, bytes, tookMs, failedAtMs, reason, code,
    isFailing, failingSinceMs, failureCount`,
);

type Row = RowsOf<[typeof COLUMNS]>;

/** Prepares the statement that lists the tasks. */
export const upkeepRows = ({ prepare }: Pick<Statements, 'prepare'>) =>
  prepare(sql`SELECT ${COLUMNS} FROM upkeep ORDER BY task`);

export const upkeepOf = ({
  succeededAtMs,
  result,
  bytes,
  tookMs,
  failedAtMs,
  reason,
  code,
  isFailing,
  ...row
}: Row): Upkeep => ({
  ...row,
  success:
    succeededAtMs === null ? null : { atMs: succeededAtMs, result: result ?? '', bytes, tookMs },
  failure: failedAtMs === null ? null : { atMs: failedAtMs, reason: reason ?? '', code },
  isFailing: isFailing === 1,
});

export function upkeepNoun(backend: Backend): UpkeepStore {
  const { prepare } = backend;
  const list = upkeepRows(backend);
  const on = {
    schedule: prepare(sql`
        INSERT INTO upkeep AS u (task, schedule, scheduled_at_ms, is_failing, failure_count)
        VALUES (:task, :schedule, :atMs, 0, 0)
        ON CONFLICT (task) DO UPDATE SET schedule = excluded.schedule,
          scheduled_at_ms = excluded.scheduled_at_ms
          WHERE u.schedule <> excluded.schedule`),
    success: prepare(sql`
        INSERT INTO upkeep AS u (task, schedule, scheduled_at_ms, succeeded_at_ms, result, bytes,
          took_ms, is_failing, failure_count)
        VALUES (:task, '', :atMs, :atMs, :result, :bytes, :tookMs, 0, 0)
        ON CONFLICT (task) DO UPDATE SET succeeded_at_ms = excluded.succeeded_at_ms,
          result = excluded.result, bytes = excluded.bytes, took_ms = excluded.took_ms,
          is_failing = CASE WHEN u.failed_at_ms > excluded.succeeded_at_ms
            THEN u.is_failing ELSE 0 END`),
    failure: prepare(sql`
        INSERT INTO upkeep AS u (task, schedule, scheduled_at_ms, failed_at_ms, reason, code,
          is_failing, failing_since_ms, failure_count)
        VALUES (:task, '', :atMs, :atMs, :reason, :code, 1, :atMs, 1)
        ON CONFLICT (task) DO UPDATE SET failed_at_ms = excluded.failed_at_ms,
          reason = excluded.reason, code = excluded.code, is_failing = 1,
          failing_since_ms = CASE u.is_failing WHEN 1
            THEN u.failing_since_ms ELSE excluded.failed_at_ms END,
          failure_count = CASE u.is_failing WHEN 1 THEN u.failure_count + 1 ELSE 1 END`),
  };
  return {
    listUpkeep: async () => (await backend.read(() => list.all())).map(upkeepOf),
    noteSchedule: async (task, schedule, atMs) => {
      // A read first: most starts change nothing.
      const known = (await backend.read(() => list.all())).find((row) => row.task === task);
      if ((known?.schedule ?? '') === schedule) return;
      await backend.change(() => on.schedule.run({ task, schedule, atMs }));
    },
    noteSuccess: async (task, success) => {
      await backend.change(() => on.success.run({ task, ...success }));
    },
    noteFailure: async (task, failure) => {
      await backend.change(() => on.failure.run({ task, ...failure }));
    },
  };
}
