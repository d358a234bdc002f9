/**
 * Counts for operators. They look at every row that is counted, of devices a range at a time: no
 * caller of the API asks so.
 */

import { sql } from 'drizzle-orm';
import type { CountStore, Holdings } from '../../core/port/count.ts';
import type { Context } from './context.ts';
import { deviceRanges, devicesThat } from './device.ts';
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
      let sum = 0;
      for await (const range of deviceRanges(db)) {
        const counted = sql`SELECT count(*) AS count FROM ${devicesThat(filter)} AND ${range}`;
        sum += (await prepare<{ count: number }>(counted).get(db))?.count ?? 0;
      }
      return sum;
    },
    countDistributions: async (providerCode) =>
      (await on.distributions.get(db, { providerCode }))?.count ?? 0,
    countHoldings: (code) => on.holdings.get(db, { code }),
  };
}
