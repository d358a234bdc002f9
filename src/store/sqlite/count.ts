/** Counts for operators. They look at every row that is counted: no caller of the API asks so. */

import { sql } from 'drizzle-orm';
import type { CountStore, Holdings } from '../../core/port/count.ts';
import type { Context } from './context.ts';
import { devicesThat } from './device.ts';
import { listOnce, value } from './statement.ts';

export function countStore({ db }: Context): CountStore {
  const distributions = db.prepare<{ count: number }>(sql`
      SELECT count(*) AS count FROM distribution
      WHERE ${value('providerCode')} IS NULL
        OR provider_id = (SELECT id FROM provider WHERE code = ${value('providerCode')})`);
  const ofProvider = sql`provider_id = p.id`;
  const holdings = db.prepare<Holdings>(sql`
      SELECT install_count AS links,
        (SELECT coalesce(sum(device_count), 0) FROM install WHERE ${ofProvider}) AS hwids,
        (SELECT count(*) FROM domain WHERE ${ofProvider}) AS domains,
        (SELECT count(*) FROM distribution WHERE ${ofProvider}) AS distributions
      FROM provider p WHERE code = ${value('code')}`);
  return {
    countDevices: async (filter) => {
      const counted = sql`SELECT count(*) AS count FROM ${devicesThat(filter)}`;
      return listOnce<{ count: number }>(db, counted)[0]?.count ?? 0;
    },
    countDistributions: async (providerCode) => distributions.get({ providerCode })?.count ?? 0,
    countHoldings: async (code) => holdings.get({ code }),
  };
}
