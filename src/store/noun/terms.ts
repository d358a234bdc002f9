/** Tells doors about a change of what rides. */

import { TIME_MAX_MS } from '../../core/calendar.ts';
import type { Statements } from '../backend.ts';
import { sql } from '../statement-text.ts';
import { shared } from './shared.ts';

/**
 * Returns the statement that tells doors about a change of the messages that ride to all devices of
 * a provider, or of its terms: it sets a new version, and the time until which answers differ from
 * the panel's.
 */
export const ridesChanged = shared(({ prepare }: Statements) =>
  prepare(sql`
    UPDATE provider SET ride_version = ride_version + 1,
      ride_until_ms = CASE WHEN coalesce(support_url, web_page_url) IS NOT NULL
          OR my = 1 OR discovery = 1
        THEN ${sql.raw(String(TIME_MAX_MS))} ELSE coalesce((
          SELECT max(CASE WHEN r.part = 'message' THEN 2 * r.until_ms - r.from_ms
            ELSE r.until_ms END)
          FROM ride r WHERE r.provider_id = provider.id AND r.device_id IS NULL), 0) END
    WHERE id = :providerId`),
);
