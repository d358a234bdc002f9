/** What hangs on devices that are forgotten, some rows at a time. */

import { sql } from 'drizzle-orm';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

const on = {
  some: prepare<{ id: number; distributionId: number; isAtGateway: boolean }>(sql`
      SELECT id, distribution_id AS "distributionId",
        push_state IS NOT DISTINCT FROM 1 AS "isAtGateway"
      FROM recipient WHERE device_id = ANY(${value('deviceIds')}::bigint[])
      LIMIT ${value('countMax')}`),
  drop: prepare(sql`DELETE FROM recipient WHERE id = ANY(${value('ids')}::bigint[])`),
  hold: prepare(sql`
      SELECT id FROM distribution WHERE id = ANY(${value('ids')}::bigint[])
      ORDER BY id FOR NO KEY UPDATE`),
};

/**
 * Deletes up to `countMax` of the devices' rows of ledgers, pushes that wait included; says how
 * many there were.
 */
export async function dropRecipients(
  w: Write,
  deviceIds: readonly number[],
  countMax: number,
): Promise<number> {
  const rows = await on.some.all(w, { deviceIds, countMax });
  if (rows.length === 0) return 0;
  // A push that goes is counted at its distribution, which is locked before its rows.
  const atGateways = rows.filter(({ isAtGateway }) => isAtGateway);
  if (atGateways.length > 0) {
    await on.hold.run(w, { ids: atGateways.map(({ distributionId }) => distributionId) });
  }
  await on.drop.run(w, { ids: rows.map(({ id }) => id) });
  return rows.length;
}
