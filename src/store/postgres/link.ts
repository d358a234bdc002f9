/** Questions of the operator about links. They look at every row that fits: no caller asks so. */

import { type SQL, sql } from 'drizzle-orm';
import type { LinkFilter, LinkStore, LinkStory, OwnedLink, SlotEnd } from '../../core/port/link.ts';
import type { Context } from './context.ts';
import { prepare, value } from './statement.ts';

const LINK = sql.raw(`
  SELECT i.id AS id, i.install_code AS "installCode", i.install_limit AS "installLimit",
    i.device_count AS "deviceCount", i.status AS status, i.note AS note,
    i.created_at_ms AS "createdAtMs", i.provider_id AS "providerId", p.code AS "providerCode",
    i.inactive_days AS "inactiveDays", i.when_full AS "whenFull",
    i.cool_down_hours AS "coolDownHours", i.replaced_at_ms AS "replacedAtMs",
    i.subscription_key_hash IS NOT NULL AS "hasSubscriptionKey"
  FROM install i JOIN provider p ON p.id = i.provider_id`);

/** The condition on links `i` that `filter` lets through. */
function links({ providerCode, isFull, status }: LinkFilter): SQL {
  const conditions = [sql`true`];
  if (providerCode !== null) {
    conditions.push(sql`i.provider_id = (SELECT id FROM provider WHERE code = ${providerCode})`);
  }
  if (isFull) conditions.push(sql`i.device_count >= i.install_limit`);
  if (status !== null) conditions.push(sql`i.status = ${status}`);
  return sql.join(conditions, sql` AND `);
}

const on = {
  find: prepare<OwnedLink>(sql`${LINK} WHERE i.install_code = ${value('installCode')}`),
  findByKey: prepare<OwnedLink>(sql`
      ${LINK} WHERE i.subscription_key_hash = decode(${value('subscriptionKeyHash')}, 'hex')
      ORDER BY i.id`),
  ends: prepare<SlotEnd>(sql`
      SELECT d.hwid AS hwid, e.registered_at_ms AS "registeredAtMs",
        e.last_seen_at_ms AS "lastSeenAtMs", e.ended_at_ms AS "endedAtMs", e.why AS why,
        e.actor AS actor, n.hwid AS "forHwid"
      FROM slot_end e LEFT JOIN device d ON d.id = e.device_id
        LEFT JOIN device n ON n.id = e.for_device_id
      WHERE e.install_id = ${value('installId')} ORDER BY e.id DESC`),
  refusals: prepare<NonNullable<LinkStory['refusals']>>(sql`
      SELECT refused_count AS count, refused_at_ms AS "lastAtMs", reason
      FROM install_refusal WHERE install_id = ${value('installId')}`),
};

export function linkStore({ db }: Context): LinkStore {
  return {
    findLink: (installCode) => on.find.get(db, { installCode }),
    findLinksByKey: (subscriptionKeyHash) => on.findByKey.all(db, { subscriptionKeyHash }),
    listLinks: (filter) => {
      const listed = sql`${LINK} WHERE ${links(filter)} ORDER BY i.id DESC LIMIT ${filter.countMax}`;
      return prepare<OwnedLink>(listed).all(db);
    },
    countLinks: async (filter) => {
      const counted = sql`SELECT count(*) AS count FROM install i WHERE ${links(filter)}`;
      return (await prepare<{ count: number }>(counted).get(db))?.count ?? 0;
    },
    readLinkStory: async (installId) => ({
      ends: await on.ends.all(db, { installId }),
      refusals: await on.refusals.get(db, { installId }),
    }),
  };
}
