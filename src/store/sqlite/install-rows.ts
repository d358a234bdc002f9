/**
 * Rows of links and slots, as parts of writes. No link holds more devices than its limit, even if
 * the program is wrong: triggers (migration 0004) keep `device_count` the number of slots, and the
 * CHECK `install_never_over_full` refuses more than the limit. The program counts in the same
 * immediate transaction, so that one too many is a refusal and no fault.
 */

import { sql } from 'drizzle-orm';
import { POLICY_COLUMNS, SET_POLICY } from '../noun/policy.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

/** The terms of a link. */
export const TERMS_COLUMNS = sql.raw(`
  lower(nullif(hex(subscription_key_hash), '')) AS "subscriptionKeyHash", ${POLICY_COLUMNS}`);

/** The fields of a link that change. */
export const SET_LINK = sql`
  install_limit = ${value('installLimit')}, note = ${value('note')}, status = ${value('status')},
  subscription_key_hash = unhex(${value('subscriptionKeyHash')}), ${SET_POLICY}`;

/** Statements that add links and slots, for links that are new and for links that move in. */
export function rowStatements({ db }: Context) {
  return {
    countOf: db.prepare<{ installCount: number }>(sql`
        SELECT install_count AS "installCount" FROM provider WHERE id = ${value('providerId')}`),
    /** An id that is null makes SQLite take the next one. */
    add: db.prepare(sql`
        INSERT INTO install (id, provider_id, install_code, install_limit, status, note,
          created_at_ms, subscription_key_hash, inactive_days, when_full, cool_down_hours)
        VALUES (${value('id')}, ${value('providerId')}, ${value('installCode')},
          ${value('installLimit')}, ${value('status')}, ${value('note')}, ${value('createdAtMs')},
          unhex(${value('subscriptionKeyHash')}), ${value('inactiveDays')}, ${value('whenFull')},
          ${value('coolDownHours')})`),
    /** Another link of the provider that has the subscription key; without a key, none. */
    otherWithKey: db.prepare<{ id: number }>(sql`
        SELECT id FROM install
        WHERE subscription_key_hash = unhex(${value('subscriptionKeyHash')})
          AND provider_id = ${value('providerId')} AND id IS NOT ${value('id')}`),
    holdsSlot: db.prepare<{ id: number }>(sql`
        SELECT id FROM install_device
        WHERE install_id = ${value('installId')} AND device_id = ${value('deviceId')}`),
    seeSlot: db.prepare(sql`
        UPDATE install_device SET last_seen_at_ms = ${value('nowMs')}
        WHERE install_id = ${value('installId')} AND device_id = ${value('deviceId')}`),
    /**
     * A registration by this slot opens what is addressed to the device from now on. A SELECT of
     * the link's provider would go through a temporary table, as the insert has triggers.
     */
    takeSlot: db.prepare(sql`
        INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
          last_seen_at_ms, after_recipient_id)
        VALUES (${value('installId')}, ${value('deviceId')}, ${value('providerId')},
          ${value('registeredAtMs')}, ${value('lastSeenAtMs')},
          (SELECT coalesce(max(id), 0) FROM recipient))`),
  };
}
