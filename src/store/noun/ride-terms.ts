/** A provider's terms of messages that ride, and the buttons of a provider or link, as columns. */

import { sql } from 'drizzle-orm';
import { TIME_MAX_MS } from '../../core/calendar.ts';
import type { Statements } from '../backend.ts';

export const BUTTON_COLUMNS = `support_url AS "supportUrl", web_page_url AS "webPageUrl"`;
export const SET_BUTTONS = sql`support_url = :supportUrl,
  web_page_url = :webPageUrl`;
/** The columns of a new row with buttons, and their values. */
export const NEW_BUTTONS = sql`support_url, web_page_url`;
export const BUTTON_VALUES = sql`:supportUrl, :webPageUrl`;

export const RIDE_COLUMNS = `ride, ride_desktop AS "rideDesktop", buttons, ${BUTTON_COLUMNS}`;
export const SET_RIDE = sql`ride = :ride, ride_desktop = :rideDesktop,
  buttons = :buttons, ${SET_BUTTONS}`;

/**
 * Returns the statement that tells doors about a change of the messages that ride to all devices of
 * a provider, or of its terms: it sets a new version, and the time until which answers differ from
 * the panel's.
 */
export const ridesChanged = ({ prepare }: Statements) =>
  prepare(sql`
    UPDATE provider SET ride_version = ride_version + 1,
      ride_until_ms = CASE WHEN coalesce(support_url, web_page_url) IS NOT NULL OR my = 1
        THEN ${sql.raw(String(TIME_MAX_MS))} ELSE coalesce((
          SELECT max(CASE WHEN r.part = 'message' THEN 2 * r.until_ms - r.from_ms
            ELSE r.until_ms END)
          FROM ride r WHERE r.provider_id = provider.id AND r.device_id IS NULL), 0) END
    WHERE id = :providerId`);
