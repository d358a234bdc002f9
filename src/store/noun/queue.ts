/** Facts about unfinished distributions, for monitors. */

import type { SQL } from 'drizzle-orm';
import type { HealthStore, QueueFacts } from '../../core/port/health.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { IN_DELIVERY, IN_LANE, unscheduled } from '../status.ts';

/** Distributions that are counted in one turn of the event loop: some 2 ms on SQLite. */
const STEP_COUNT = 2_000;

type Cursor = Record<'providerId' | 'dueAtMs' | 'id', number>;

/**
 * Reads a step along the index of unfinished distributions, and where it ends; null: at the last.
 */
function statements({ prepare }: Backend, after: SQL) {
  const rows = sql`FROM distribution WHERE ${IN_LANE} AND ${after}
    ORDER BY provider_id, due_at_ms, id`;
  return {
    facts: prepare(sql`
        SELECT ${values<{
          dueCount: QueueFacts['dueCount'];
          scheduledCount: QueueFacts['scheduledCount'];
          oldestDueAtMs: QueueFacts['oldestDueAtMs'];
          recipientCount: QueueFacts['recipientCount'];
        }>({
          dueCount: sql`count(*) FILTER (WHERE is_due)`,
          scheduledCount: sql`count(*) FILTER (WHERE NOT is_due)`,
          oldestDueAtMs: sql`min(due_at_ms) FILTER (WHERE is_due)`,
          recipientCount: sql`CAST(coalesce(sum(recipient_count - sent_count - failed_count)
            FILTER (WHERE status IN ${IN_DELIVERY}), 0) AS bigint)`,
        })} FROM (SELECT status, due_at_ms, recipient_count, sent_count, failed_count,
                due_at_ms <= :nowMs OR ${unscheduled()} OR status IN ${IN_DELIVERY} AS is_due
              ${rows} LIMIT ${STEP_COUNT}) step`),
    end: prepare(sql`
        SELECT ${columns(
          'distribution',
          'providerId, dueAtMs, id',
        )} ${rows} LIMIT 1 OFFSET ${STEP_COUNT - 1}`),
  };
}

export function queueNoun(backend: Backend): Pick<HealthStore, 'readQueueFacts'> {
  const group = sql`provider_id = :providerId AND due_at_ms = :dueAtMs`;
  const inGroup = statements(backend, sql`${group} AND id > :id`);
  const behind = sql`(provider_id, due_at_ms) > (:providerId, :dueAtMs)`;
  const behindGroup = statements(backend, behind);
  return {
    readQueueFacts: async (nowMs) => {
      const facts: QueueFacts = {
        dueCount: 0,
        scheduledCount: 0,
        recipientCount: 0,
        oldestDueAtMs: null,
      };
      let at: Cursor = { providerId: 0, dueAtMs: 0, id: 0 };
      // Many may be due at the same time: reads the rest of those first, then the later ones.
      for (let isInGroup = true; ; await nextTurn()) {
        const step: ReturnType<typeof statements> = isInGroup ? inGroup : behindGroup;
        const found = await backend.read(() => step.facts.get({ nowMs, ...at }));
        if (found === null) throw new Error('a query of sums has no row');
        facts.dueCount += found.dueCount;
        facts.scheduledCount += found.scheduledCount;
        facts.recipientCount += found.recipientCount;
        const oldest = [facts.oldestDueAtMs, found.oldestDueAtMs].filter((ms) => ms !== null);
        facts.oldestDueAtMs = oldest.length === 0 ? null : Math.min(...oldest);
        const end: Cursor | null = await backend.read(() => step.end.get({ ...at }));
        if (end === null && !isInGroup) return facts;
        isInGroup = end !== null;
        at = end ?? at;
      }
    },
  };
}
