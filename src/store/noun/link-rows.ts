/**
 * Rows of links and slots, as steps of writes. A link never has more devices than its limit, even
 * if the program has a bug: triggers keep `device_count` equal to the number of slots, and the
 * CHECK `install_never_over_full` rejects more than the limit, or more than `over_max` if the link
 * only counts. Writes compare the count under the lock of the link, so that a device too many is
 * refused before it would break the constraint.
 */

import type { SQLWrapper } from 'drizzle-orm';
import { fieldsOf } from '../../core/field.ts';
import { LINK_FIELDS, LINK_TERMS } from '../../core/terms.ts';
import type { Dialect, Statements } from '../backend.ts';
import { assignments, columns, insertInto, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';

/** The fields that can be set, without the key: its column has bytes. */
const { subscriptionKeyHash: _, ...plain } = LINK_FIELDS;
const PLAIN_FIELDS = fieldsOf(plain);
const { installLimit: __, ...unlimited } = plain;
const FIELDS_WITHOUT_LIMIT = fieldsOf(unlimited);

/** Reads the subscription key, the policy and the buttons of a link. */
export const termsColumns = ({ hex }: Dialect) => sql`
  ${values<{ subscriptionKeyHash: string | null }>({
    subscriptionKeyHash: hex('subscription_key_hash'),
  })}, ${columns('install', fieldsOf(LINK_TERMS))}`;

/** The limit that was set: that of the link, or the one that it gets as its devices leave. */
const setLimit = sql.raw('coalesce(limit_wanted, install_limit)');
/** Selects it as the limit. */
export const SET_LIMIT = values<{ installLimit: number }>({ installLimit: setLimit });
/** Condition: the limit that was set stays. */
export const KEEPS_LIMIT = sql`${setLimit} = :installLimit`;

/**
 * Sets the fields of a link that an update may change. A limit below its devices waits: the limit
 * is their number meanwhile, and never higher than it was.
 */
export const setLink = ({ bytes, greatest, least }: Dialect): SQLWrapper => {
  const key = bytes('subscriptionKeyHash');
  const wanted = sql`CAST(:installLimit AS integer)`;
  const held = least(sql.raw('install_limit'), sql.raw('device_count'));
  // Only an import knows that a link with another key is still that of its user.
  const panelUser = sql`CASE WHEN panel_facts IS NULL
      AND subscription_key_hash IS DISTINCT FROM ${key} THEN NULL ELSE panel_user END`;
  return assignments('install', FIELDS_WITHOUT_LIMIT, {
    installLimit: greatest(wanted, held),
    limitWanted: sql`CASE WHEN ${wanted} < ${held} THEN ${wanted} END`,
    panelUser,
    subscriptionKeyHash: key,
  });
};

/** Returns statements that add links and slots, for new and for imported links. */
export const linkStatements = shared((backend: Statements) => {
  const hasKey = sql`subscription_key_hash = ${backend.bytes('subscriptionKeyHash')}`;
  const isSlot = sql`install_id = :installId AND device_id = :deviceId`;
  return {
    /** Number of a provider's links, counted by triggers; locks the provider. */
    countOf: backend.prepare(sql`
        SELECT ${columns('provider', 'installCount')} FROM provider WHERE id = :providerId
        ${backend.locked}`),
    add: backend.prepare(sql`
        ${insertInto('install', ['providerId', 'installCode', 'createdAtMs', ...PLAIN_FIELDS], {
          id: backend.idOrNext('id', 'install'),
          subscriptionKeyHash: backend.bytes('subscriptionKeyHash'),
        })}
        ${backend.returningId}`),
    /** Finds another link of the provider with the subscription key; finds none without a key. */
    otherWithKey: backend.prepare(sql`
        SELECT ${columns('install', 'id')}
        FROM install WHERE ${hasKey} AND provider_id = :providerId
          AND id IS DISTINCT FROM :id`),
    seeSlot: backend.prepare(sql`
        UPDATE install_device SET last_seen_at_ms = :nowMs WHERE ${isSlot}`),
    /**
     * Inserts a slot; its tokens read later messages only. A SELECT would cost a temporary table.
     */
    takeSlot: backend.prepare(sql`
        ${insertInto(
          'install_device',
          'installId, deviceId, providerId, registeredAtMs, lastSeenAtMs',
          { afterRecipientId: sql`(SELECT coalesce(max(id), 0) FROM recipient)` },
        )}`),
  };
});
