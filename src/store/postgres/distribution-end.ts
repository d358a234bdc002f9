/** The end of distributions, told to its provider's webhooks. */

import { sql } from 'drizzle-orm';
import { distributionEnded, type EndedDistribution } from '../../core/event/happenings.ts';
import { FINAL } from '../status.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

const ended = prepare<EndedDistribution & { providerId: number }>(sql`
    SELECT id, provider_id AS "providerId", status, notification_type AS "notificationType",
      recipient_count AS "recipientCount", sent_count AS "sentCount",
      failed_count AS "failedCount"
    FROM distribution WHERE id = ANY(${value('ids')}::bigint[]) AND status >= ${FINAL}
    ORDER BY id`);

/**
 * Notes the end of distributions for their providers. To be called within the write that ends them,
 * once their counts are final; it says nothing of one that has not ended.
 */
export async function noteDistributionEnd(
  w: Write,
  ids: readonly number[],
  nowMs: number,
): Promise<void> {
  for (const found of await ended.all(w, { ids })) {
    w.noteEnd(found.status);
    w.events.note(found.providerId, nowMs, () => distributionEnded(found));
  }
}
