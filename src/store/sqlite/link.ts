/** Questions of the operator about links. They look at every row that fits: no caller asks so. */

import { type SQL, sql } from 'drizzle-orm';
import type { LinkFilter, LinkStore, LinkStory, OwnedLink, SlotEnd } from '../../core/port/link.ts';
import type { Context } from './context.ts';
import { listOnce, value } from './statement.ts';

type LinkRow = Omit<OwnedLink, 'hasSubscriptionKey'> & { hasSubscriptionKey: 0 | 1 };

const LINK = sql.raw(`
  SELECT i.id AS id, i.install_code AS "installCode", i.install_limit AS "installLimit",
    i.device_count AS "deviceCount", i.status AS status, i.note AS note,
    i.created_at_ms AS "createdAtMs", i.provider_id AS "providerId", p.code AS "providerCode",
    i.inactive_days AS "inactiveDays", i.when_full AS "whenFull",
    i.cool_down_hours AS "coolDownHours", i.replaced_at_ms AS "replacedAtMs",
    i.subscription_key_hash IS NOT NULL AS "hasSubscriptionKey"
  FROM install i CROSS JOIN provider p ON p.id = i.provider_id`);

const linkOf = (row: LinkRow): OwnedLink => ({
  ...row,
  hasSubscriptionKey: row.hasSubscriptionKey === 1,
});

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

function statements({ db }: Context) {
  return {
    find: db.prepare<LinkRow>(sql`${LINK} WHERE i.install_code = ${value('installCode')}`),
    findByKey: db.prepare<LinkRow>(sql`
        ${LINK} WHERE i.subscription_key_hash = unhex(${value('subscriptionKeyHash')})
        ORDER BY i.id`),
    ends: db.prepare<SlotEnd>(sql`
        SELECT d.hwid AS hwid, e.registered_at_ms AS "registeredAtMs",
          e.last_seen_at_ms AS "lastSeenAtMs", e.ended_at_ms AS "endedAtMs", e.why AS why,
          e.actor AS actor, n.hwid AS "forHwid"
        FROM slot_end e LEFT JOIN device d ON d.id = e.device_id
          LEFT JOIN device n ON n.id = e.for_device_id
        WHERE e.install_id = ${value('installId')} ORDER BY e.id DESC`),
    refusals: db.prepare<NonNullable<LinkStory['refusals']>>(sql`
        SELECT refused_count AS count, refused_at_ms AS "lastAtMs", reason
        FROM install_refusal WHERE install_id = ${value('installId')}`),
  };
}

export function linkStore(context: Context): LinkStore {
  const { db } = context;
  const on = statements(context);
  return {
    findLink: async (installCode) => {
      const found = on.find.get({ installCode });
      return found && linkOf(found);
    },
    findLinksByKey: async (subscriptionKeyHash) =>
      on.findByKey.all({ subscriptionKeyHash }).map(linkOf),
    listLinks: async (filter) => {
      const listed = sql`${LINK} WHERE ${links(filter)} ORDER BY i.id DESC LIMIT ${filter.countMax}`;
      return listOnce<LinkRow>(db, listed).map(linkOf);
    },
    countLinks: async (filter) => {
      const counted = sql`SELECT count(*) AS count FROM install i WHERE ${links(filter)}`;
      return listOnce<{ count: number }>(db, counted)[0]?.count ?? 0;
    },
    readLinkStory: async (installId) => ({
      ends: on.ends.all({ installId }),
      refusals: on.refusals.get({ installId }),
    }),
  };
}
