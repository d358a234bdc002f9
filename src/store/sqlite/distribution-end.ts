/** The end of a distribution, told to its provider's webhooks. */

import { sql } from 'drizzle-orm';
import { distributionEnded, type EndedDistribution } from '../../core/event/happenings.ts';
import { FINAL } from '../status.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

/**
 * Returns the function that notes the end of a distribution for its provider. To be called within
 * the write that ends it, once its counts are final; it says nothing of one that has not ended.
 */
export function endNoter({ db, ends, events }: Context) {
  const ended = db.prepare<EndedDistribution & { providerId: number }>(sql`
      SELECT id, provider_id AS "providerId", status, notification_type AS "notificationType",
        recipient_count AS "recipientCount", sent_count AS "sentCount",
        failed_count AS "failedCount"
      FROM distribution WHERE id = ${value('id')} AND status >= ${FINAL}`);
  return (id: number, nowMs: number): void => {
    const found = ended.get({ id });
    if (found === null) return;
    ends.note(found.status);
    events.note(found.providerId, nowMs, () => distributionEnded(found));
  };
}
