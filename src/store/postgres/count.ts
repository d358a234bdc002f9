/** Counts for operators. They look at every row that is counted: no caller of the API asks so. */

import { sql } from 'drizzle-orm';
import type { CountStore, Holdings } from '../../core/port/count.ts';
import type { Context } from './context.ts';
import { devicesThat } from './device.ts';
import { prepare, value } from './statement.ts';

const on = {
  distributions: prepare<{ count: number }>(sql`
      SELECT count(*) AS count FROM distribution
      WHERE ${value('providerCode')}::text IS NULL
        OR provider_id = (SELECT id FROM provider WHERE code = ${value('providerCode')})`),
  holdings: prepare<Holdings>(sql`
      SELECT install_count AS links,
        (SELECT coalesce(sum(device_count), 0)::bigint FROM install
         WHERE provider_id = p.id) AS hwids,
        (SELECT count(*) FROM domain WHERE provider_id = p.id) AS domains,
        (SELECT count(*) FROM distribution WHERE provider_id = p.id) AS distributions
      FROM provider p WHERE code = ${value('code')}`),
};

export function countStore({ db }: Context): CountStore {
  return {
    countDevices: async (filter) => {
      const counted = sql`SELECT count(*) AS count FROM ${devicesThat(filter)}`;
      return (await prepare<{ count: number }>(counted).get(db))?.count ?? 0;
    },
    countDistributions: async (providerCode) =>
      (await on.distributions.get(db, { providerCode }))?.count ?? 0,
    countHoldings: (code) => on.holdings.get(db, { code }),
  };
}
