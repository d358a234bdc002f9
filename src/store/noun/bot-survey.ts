/** The doctor's reads about bots: their links that no device uses, and how often they fetch. */

import { FETCHES_MAX } from '../../core/bot.ts';
import type { Statements, Step } from '../backend.ts';
import type { BotFetches, HostOfProvider, UnusedLinks } from '../kind.ts';
import { columns, sql, values } from '../statement-text.ts';

/**
 * Counts for each panel the links that neither the proxy nor an import made, from before the newest
 * link that the proxy made there, whose note begins with the host of the panel: those without a key
 * and devices, and those with devices, whose key a fetch may have tied.
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
        emptyCount: sql`count(CASE WHEN device_count = 0 AND subscription_key_hash IS NULL
          AND panel_user IS NULL THEN 1 END)`,
        usedCount: sql`count(CASE WHEN device_count > 0 THEN 1 END)`,
      })}
      FROM install WHERE ${ofProvider} AND of_gate = 0 AND panel_facts IS NULL
        AND id < :newestId`);
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

/** Most bots that are named. */
const BOT_COUNT_MAX = 20;

/** Counts the answers to each trusted bot without a HWID, on the last day on which it got any. */
export function* readBotFetches({ join, prepare }: Statements): Step<BotFetches[]> {
  const count = prepare(sql`
      SELECT ${columns({ b: 'bot', f: 'bot_fetch', p: 'provider' }, 'b.host, b.name, p.code, f.day')},
        ${values<{ keyCount: number; fetchCount: number; usedUpCount: number }>({
          keyCount: sql`count(*)`,
          fetchCount: sql`CAST(sum(f.fetch_count) AS bigint)`,
          usedUpCount: sql`count(CASE WHEN f.fetch_count >= ${FETCHES_MAX} THEN 1 END)`,
        })}
      FROM bot b ${join} provider p ON p.id = b.provider_id
        ${join} bot_fetch f ON f.bot_id = b.id
      WHERE f.day = (SELECT max(l.day) FROM bot_fetch l WHERE l.bot_id = b.id)
      GROUP BY b.id, b.host, b.name, p.code, f.day ORDER BY b.id LIMIT ${BOT_COUNT_MAX}`);
  return yield* count.all();
}
