/** The end of a distribution, told to its provider's webhooks. */

import { sql } from 'drizzle-orm';
import { distributionEnded, type EndedDistribution } from '../../core/event/happenings.ts';
import { FINAL } from '../status.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

const ended = prepare<EndedDistribution & { providerId: number }>(sql`
    SELECT id, provider_id AS "providerId", status, notification_type AS "notificationType",
      recipient_count AS "recipientCount", sent_count AS "sentCount",
      failed_count AS "failedCount"
    FROM distribution WHERE id = ${value('id')} AND status >= ${FINAL}`);

/**
 * Notes the end of a distribution for its provider. To be called within the write that ends it,
 * once its counts are final; it says nothing of one that has not ended.
 */
export async function noteDistributionEnd(w: Write, id: number, nowMs: number): Promise<void> {
  const found = await ended.get(w, { id });
  if (found === null) return;
  w.noteEnd(found.status);
  w.events.note(found.providerId, nowMs, () => distributionEnded(found));
}
