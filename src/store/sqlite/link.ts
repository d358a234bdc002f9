/** Questions of the operator about links. They look at every row that fits: no caller asks so. */

import { type SQL, sql } from 'drizzle-orm';
import type { LinkFilter, LinkStore, OwnedLink } from '../../core/port/link.ts';
import type { Context } from './context.ts';
import { listOnce, value } from './statement.ts';

const LINK = sql.raw(`
  SELECT i.id AS id, i.install_code AS "installCode", i.install_limit AS "installLimit",
    i.device_count AS "deviceCount", i.status AS status, i.note AS note,
    i.created_at_ms AS "createdAtMs", i.provider_id AS "providerId", p.code AS "providerCode"
  FROM install i CROSS JOIN provider p ON p.id = i.provider_id`);

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

export function linkStore({ db }: Context): LinkStore {
  const find = db.prepare<OwnedLink>(sql`${LINK} WHERE i.install_code = ${value('installCode')}`);
  return {
    findLink: async (installCode) => find.get({ installCode }),
    listLinks: async (filter) =>
      listOnce<OwnedLink>(
        db,
        sql`${LINK} WHERE ${links(filter)} ORDER BY i.id DESC LIMIT ${filter.countMax}`,
      ),
    countLinks: async (filter) => {
      const counted = sql`SELECT count(*) AS count FROM install i WHERE ${links(filter)}`;
      return listOnce<{ count: number }>(db, counted)[0]?.count ?? 0;
    },
  };
}
