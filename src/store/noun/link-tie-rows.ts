/** Rows of ties, as statements. */

import type { Backend } from '../backend.ts';
import { columns, insertInto, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';

/** Returns how many further devices the limit of a link allows. */
export const roomOn = ({
  deviceCount,
  installLimit,
}: {
  deviceCount: number;
  installLimit: number;
}): number => Math.max(0, installLimit - deviceCount);

export const tieStatements = shared((backend: Backend) => {
  const { bytes, hex, join, locked, prepare } = backend;
  const hasKey = sql`subscription_key_hash = ${bytes('keyHash')}`;
  const ofProvider = sql`provider_id = :providerId`;
  // An undone tie stays as long as its link: no later fetch may tie it either.
  const isOver = sql`at_ms < :beforeMs AND state <> 'undone'`;
  const outside = sql`NOT EXISTS (
    SELECT 1 FROM install_device o WHERE o.install_id = l.id AND o.device_id = s.device_id)`;
  return {
    provider: prepare(sql`
        SELECT ${columns('provider', 'ties')} FROM provider WHERE id = :providerId`),
    switch: prepare(sql`UPDATE provider SET ties = :ties WHERE id = :providerId`),
    find: prepare(sql`
        SELECT ${columns('link_tie', 'state, atMs')} FROM link_tie
        WHERE ${ofProvider} AND ${hasKey} AND install_id = :installId`),
    findById: prepare(sql`
        SELECT ${columns('link_tie', 'state, installId, former')},
          ${values<{ keyHash: string }>({ keyHash: hex('subscription_key_hash') })}
        FROM link_tie WHERE id = :id AND ${ofProvider}`),
    save: prepare(sql`
        ${insertInto('link_tie', 'providerId, installId, state, atMs, former', {
          subscriptionKeyHash: bytes('keyHash'),
        })}
        ON CONFLICT (provider_id, subscription_key_hash, install_id) DO UPDATE SET
          state = excluded.state, at_ms = excluded.at_ms, former = excluded.former`),
    /** Devices of a link without a slot on another one; whether it has the HWID. */
    devices: prepare(sql`
        SELECT ${values<{ outsideCount: number; hasCaller: number }>({
          outsideCount: sql`CAST(coalesce(sum(CASE WHEN ${outside} THEN 1 ELSE 0 END), 0) AS integer)`,
          hasCaller: sql`CAST(coalesce(max(CASE WHEN d.hwid = :hwid THEN 1 ELSE 0 END), 0) AS integer)`,
        })}
        FROM install l ${join} install_device s ON s.install_id = :fromId
          ${join} device d ON d.id = s.device_id
        WHERE l.id = :toId`),
    countTied: prepare(sql`
        SELECT ${values<{ n: number }>({ n: sql`count(*)` })} FROM (
          SELECT 1 FROM link_tie
          WHERE ${ofProvider} AND state = 'tied' AND at_ms > :afterMs LIMIT :countMax) x`),
    countWaiting: prepare(sql`
        SELECT ${values<{ ofAll: number; ofKey: number }>({
          ofAll: sql`(SELECT count(*) FROM link_tie WHERE ${ofProvider} AND state = 'waits')`,
          ofKey: sql`(SELECT count(*) FROM link_tie WHERE ${ofProvider} AND ${hasKey}
            AND state = 'waits')`,
        })}`),
    list: prepare(sql`
        SELECT ${columns(
          { t: 'link_tie', l: 'install' },
          't.id, t.state, t.installId, t.atMs, t.former, l.note, l.installLimit, l.deviceCount',
        )},
          ${values<{ formerId: number | null; outsideCount: number }>({
            formerId: sql`f.id`,
            outsideCount: sql`(
              SELECT count(*) FROM install_device s WHERE s.install_id = f.id AND ${outside})`,
          })}
        FROM link_tie t ${join} install l ON l.id = t.install_id
        LEFT JOIN install f ON f.subscription_key_hash = t.subscription_key_hash
          AND f.provider_id = t.provider_id AND f.id <> l.id
        WHERE t.provider_id = :providerId AND t.state = :state AND t.id > :afterId
          AND t.at_ms >= :sinceMs
        ORDER BY t.id LIMIT :countMax`),
    lockOwners: backend.lockOnly(sql`
        SELECT id FROM provider WHERE id IN (
          SELECT x.provider_id FROM (
            SELECT provider_id FROM link_tie WHERE ${isOver}
            ORDER BY at_ms LIMIT :countMax) x)
        ORDER BY id ${locked}`),
    forget: prepare(sql`
        DELETE FROM link_tie WHERE id IN (
          SELECT x.id FROM (
            SELECT id FROM link_tie WHERE ${isOver} ORDER BY at_ms LIMIT :countMax) x)`),
  };
});
