/** Queries of the operator about links. They read every row that matches; no provider runs them. */

import { type SQL, sql } from 'drizzle-orm';
import type { LinkFilter, LinkStore, LinkStory, OwnedLink, SlotEnd } from '../../core/port/link.ts';
import { type Backend, value } from '../backend.ts';

type LinkRow = Omit<OwnedLink, 'hasSubscriptionKey'> & { hasSubscriptionKey: number };

const linkOf = (row: LinkRow): OwnedLink => ({
  ...row,
  hasSubscriptionKey: row.hasSubscriptionKey === 1,
});

/** Statements about the links `i` that a filter lets through, of all providers or of one. */
function filterStatements(backend: Backend, link: SQL, ofProvider: SQL) {
  const where = sql`
    WHERE ${ofProvider} AND (${value('isFull')} = 0 OR i.device_count >= i.install_limit)
      AND (CAST(${value('status')} AS integer) IS NULL OR i.status = ${value('status')})`;
  return {
    list: backend.prepare<LinkRow>(sql`
        ${link} ${where} ORDER BY i.id DESC LIMIT ${backend.once('countMax')}`),
    count: backend.prepare<{ count: number }>(
      sql`SELECT count(*) AS count FROM install i ${where}`,
    ),
  };
}

function statements(backend: Backend) {
  const link = sql`
    SELECT i.id AS id, i.install_code AS "installCode", i.install_limit AS "installLimit",
      i.device_count AS "deviceCount", i.status AS status, i.note AS note,
      i.created_at_ms AS "createdAtMs", i.provider_id AS "providerId", p.code AS "providerCode",
      i.inactive_days AS "inactiveDays", i.when_full AS "whenFull",
      i.cool_down_hours AS "coolDownHours", i.replaced_at_ms AS "replacedAtMs",
      CAST(i.subscription_key_hash IS NOT NULL AS integer) AS "hasSubscriptionKey"
    FROM install i ${backend.join} provider p ON p.id = i.provider_id`;
  return {
    find: backend.prepare<LinkRow>(sql`${link} WHERE i.install_code = ${value('installCode')}`),
    findByKey: backend.prepare<LinkRow>(sql`
        ${link} WHERE i.subscription_key_hash = ${backend.bytes('subscriptionKeyHash')}
        ORDER BY i.id`),
    ofAll: filterStatements(backend, link, sql`true`),
    ofOne: filterStatements(
      backend,
      link,
      sql`i.provider_id = (SELECT id FROM provider WHERE code = ${value('providerCode')})`,
    ),
    ends: backend.prepare<SlotEnd>(sql`
        SELECT d.hwid AS hwid, e.registered_at_ms AS "registeredAtMs",
          e.last_seen_at_ms AS "lastSeenAtMs", e.ended_at_ms AS "endedAtMs", e.why AS why,
          e.actor AS actor, n.hwid AS "forHwid"
        FROM slot_end e LEFT JOIN device d ON d.id = e.device_id
          LEFT JOIN device n ON n.id = e.for_device_id
        WHERE e.install_id = ${value('installId')} ORDER BY e.id DESC`),
    refusals: backend.prepare<NonNullable<LinkStory['refusals']>>(sql`
        SELECT refused_count AS count, refused_at_ms AS "lastAtMs", reason
        FROM install_refusal WHERE install_id = ${value('installId')}`),
  };
}

export function linkNoun(backend: Backend): LinkStore {
  const on = statements(backend);
  const matching = ({ providerCode }: LinkFilter) => (providerCode === null ? on.ofAll : on.ofOne);
  const valuesOf = (filter: LinkFilter) => ({ ...filter, isFull: filter.isFull ? 1 : 0 });
  return {
    findLink: async (installCode) => {
      const found = await backend.read(() => on.find.get({ installCode }));
      return found && linkOf(found);
    },
    findLinksByKey: async (subscriptionKeyHash) =>
      (await backend.read(() => on.findByKey.all({ subscriptionKeyHash }))).map(linkOf),
    listLinks: async ({ countMax, ...filter }) => {
      const values = { ...valuesOf(filter), countMax };
      return (await backend.read(() => matching(filter).list.all(values))).map(linkOf);
    },
    countLinks: async (filter) =>
      (await backend.read(() => matching(filter).count.get(valuesOf(filter))))?.count ?? 0,
    readLinkStory: async (installId) => {
      const [ends, refusals] = await backend.read(() =>
        backend.together([() => on.ends.all({ installId }), () => on.refusals.get({ installId })]),
      );
      return { ends, refusals };
    },
  };
}
