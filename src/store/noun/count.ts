/** Counts for operators. Each count reads all its rows, so no API call uses it. */

import { sql } from 'drizzle-orm';
import type { CountStore, Holdings } from '../../core/port/count.ts';
import type { Backend } from '../backend.ts';

export function countNoun(backend: Backend): Omit<CountStore, 'countDevices'> {
  const ofProvider = sql`provider_id = p.id`;
  const distributions = backend.prepare<{ count: number }>(sql`
      SELECT count(*) AS count FROM distribution WHERE CAST(:providerCode AS text) IS NULL
        OR provider_id = (SELECT id FROM provider WHERE code = :providerCode)`);
  const holdings = backend.prepare<Holdings>(sql`
      SELECT install_count AS links,
        (SELECT CAST(coalesce(sum(device_count), 0) AS bigint) FROM install
         WHERE ${ofProvider}) AS hwids,
        (SELECT count(*) FROM domain WHERE ${ofProvider}) AS domains,
        (SELECT count(*) FROM distribution WHERE ${ofProvider}) AS distributions
      FROM provider p WHERE code = :code`);
  return {
    countDistributions: async (providerCode) =>
      (await backend.read(() => distributions.get({ providerCode })))?.count ?? 0,
    countHoldings: async (code) => backend.read(() => holdings.get({ code })),
  };
}
