/** The doctor's read of links that no device uses, because the proxy made others for their keys. */

import type { Statements, Step } from '../backend.ts';
import type { HostOfProvider, UnusedLinks } from '../kind.ts';
import { sql, values } from '../statement-text.ts';

/**
 * Counts for each panel the links without a key and a panel's user that were made before the newest
 * link that the proxy made there, whose note begins with the host of the panel.
 */
export function* readUnused(
  { prepare }: Statements,
  hosts: readonly HostOfProvider[],
): Step<UnusedLinks[]> {
  const ofProvider = sql`provider_id = (SELECT id FROM provider WHERE code = :code)`;
  const newest = prepare(sql`
      SELECT ${values<{ madeCount: number; newestId: number | null }>({
        madeCount: sql`count(*)`,
        newestId: sql`max(id)`,
      })}
      FROM install WHERE ${ofProvider} AND subscription_key_hash IS NOT NULL
        AND panel_user IS NULL AND (note = :host OR (note > :from AND note < :to))`);
  const before = prepare(sql`
      SELECT ${values<{ emptyCount: number; usedCount: number }>({
        emptyCount: sql`count(CASE WHEN device_count = 0 THEN 1 END)`,
        usedCount: sql`count(CASE WHEN device_count > 0 THEN 1 END)`,
      })}
      FROM install WHERE ${ofProvider} AND subscription_key_hash IS NULL
        AND panel_user IS NULL AND id < :newestId`);
  const found: UnusedLinks[] = [];
  for (const { host, provider: code } of hosts) {
    // The character after the blank is the exclamation mark.
    const note = { host, from: `${host} `, to: `${host}!` };
    const made = yield* newest.get({ code, ...note });
    if (made === null || made.newestId === null) continue;
    const { newestId, madeCount } = made;
    const links = yield* before.get({ code, newestId });
    if (links !== null) found.push({ host, code, madeCount, ...links });
  }
  return found;
}
