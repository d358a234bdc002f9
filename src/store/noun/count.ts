/** Counts for operators. Each count reads all its rows, so no API call uses it. */

import type { CountStore, Holdings } from '../../core/port/count.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { isSent } from '../status.ts';

export function countNoun(backend: Backend): Omit<CountStore, 'countDevices'> {
  const ofProvider = sql`provider_id = p.id`;
  const distributions = backend.prepare(sql`
      SELECT ${values<{ count: number }>({ count: sql`count(*)` })}
      FROM distribution WHERE ${isSent()} AND (CAST(:providerCode AS text) IS NULL
        OR provider_id = (SELECT id FROM provider WHERE code = :providerCode))`);
  const holdings = backend.prepare(sql`
      SELECT ${columns('provider', 'installCount AS links')}, ${values<{
        hwids: Holdings['hwids'];
        domains: Holdings['domains'];
        distributions: Holdings['distributions'];
      }>({
        hwids: sql`(SELECT CAST(coalesce(sum(device_count), 0) AS bigint) FROM install
         WHERE ${ofProvider})`,
        domains: sql`(SELECT count(*) FROM domain WHERE ${ofProvider})`,
        distributions: sql`(SELECT count(*) FROM distribution WHERE ${ofProvider})`,
      })} FROM provider p WHERE code = :code`);
  return {
    countDistributions: async (providerCode) =>
      (await backend.read(() => distributions.get({ providerCode })))?.count ?? 0,
    countHoldings: async (code) => backend.read(() => holdings.get({ code })),
  };
}
