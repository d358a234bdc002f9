/** Adds an event for the provider's webhooks when a distribution ends. */

import { distributionEnded, kindOfEnd } from '../../core/event/happenings.ts';
import type { Notes, Statements, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { FINAL } from '../status.ts';
import { reachSteps } from './reach.ts';
import { shared } from './shared.ts';

/** Recipients that are counted when a distribution ends: some 4 ms. */
const REACH_ROWS = 2_000;

/** Returns the step that notes ends of distributions, once their counts are final. */
export const distributionEnds = shared((statements: Statements) => {
  const ended = statements.prepare(sql`
      SELECT ${columns(
        'distribution',
        'id, providerId, status, notificationType, recipientCount, sentCount, failedCount',
      )}
      FROM distribution WHERE id ${statements.among('ids')} AND status >= ${FINAL} ORDER BY id`);
  const countReach = reachSteps(statements);
  return function* (notes: Notes, ids: readonly number[], nowMs: number): Step<void> {
    for (const found of yield* ended.all({ ids })) {
      notes.ended(found.status);
      if (!(yield* notes.isWanted(found.providerId, kindOfEnd(found.status)))) continue;
      const reach = yield* countReach(found.id, REACH_ROWS, nowMs);
      notes.event(found.providerId, nowMs, () => distributionEnded(found, reach));
    }
  };
});
