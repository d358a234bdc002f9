/** The audit log: noting what is done within the commit that does it, reading it, pruning it. */

import { sql } from 'drizzle-orm';
import { NO_ANCHOR } from '../../core/audit/chain.ts';
import type { AuditLink, AuditStore } from '../../core/port/audit.ts';
import { anchorStatement } from './audit-trail.ts';
import type { Context } from './context.ts';
import { raw } from './raw.ts';
import { prepare, value } from './statement.ts';

/**
 * How many links and entries a step of pruning deletes, but for one link that alone holds more: it
 * must not hold up the writes of others.
 */
const PRUNE_LINKS_MAX = 500;
const PRUNE_ENTRIES_MAX = 5_000;

function statements({ db }: Context) {
  const columns = sql.raw(
    'last_number AS number, at_ms AS "atMs", prev_hash AS "prevHash", hash, entries',
  );
  return {
    after: prepare(
      db,
      raw<AuditLink>(sql`
        SELECT ${columns} FROM audit WHERE last_number > ${value('number')}
        ORDER BY last_number LIMIT ${value('countMax')}`),
    ),
    before: prepare(
      db,
      raw<AuditLink>(sql`
        SELECT ${columns} FROM audit WHERE last_number < ${value('number')}
        ORDER BY last_number DESC LIMIT ${value('countMax')}`),
    ),
    newestNumber: prepare(
      db,
      raw<{ number: number | null }>(sql`SELECT max(last_number) AS number FROM audit`),
    ),
    anchor: anchorStatement(db),
    oldest: prepare(
      db,
      raw<Pick<AuditLink, 'number' | 'atMs' | 'hash'>>(sql`
        SELECT last_number AS number, at_ms AS "atMs", hash FROM audit
        ORDER BY last_number LIMIT ${PRUNE_LINKS_MAX}`),
    ),
    drop: prepare(db, raw(sql`DELETE FROM audit WHERE last_number <= ${value('number')}`)),
    moveAnchor: prepare(
      db,
      raw(sql`
        INSERT INTO audit_anchor (id, last_number, hash, until_ms)
        VALUES (1, ${value('number')}, ${value('hash')}, ${value('untilMs')})
        ON CONFLICT (id) DO UPDATE SET last_number = excluded.last_number, hash = excluded.hash,
          until_ms = excluded.until_ms`),
    ),
  };
}

export function auditStore(context: Context): AuditStore {
  const { writer, audit } = context;
  const on = statements(context);

  /** The links that the next step deletes, and whether those are all that are to go. */
  function tooOld({ beforeMs, entriesMax }: { beforeMs: number; entriesMax: number }) {
    const newest = on.newestNumber.get()?.number ?? 0;
    const anchor = on.anchor.get() ?? NO_ANCHOR;
    // With one to spare for the entry that the step leaves.
    const surplusUntil = newest - anchor.number > entriesMax ? newest - entriesMax + 1 : 0;
    const oldest = on.oldest.all();
    let number = anchor.number;
    const end = oldest.findIndex((link) => {
      const isOld = number < surplusUntil || link.atMs < beforeMs;
      number = link.number;
      return !isOld;
    });
    const old = end < 0 ? oldest : oldest.slice(0, end);
    const few = old.filter((link) => link.number <= anchor.number + PRUNE_ENTRIES_MAX);
    const gone = few.length > 0 ? few : old.slice(0, 1);
    return { gone, isAll: gone.length === old.length && old.length < PRUNE_LINKS_MAX, anchor };
  }

  return {
    readAudit: async (number, countMax) => ({
      anchor: on.anchor.get() ?? NO_ANCHOR,
      links: on.after.all({ number, countMax }),
    }),

    readAuditBack: async (number, countMax) => on.before.all({ number, countMax }),

    pruneAudit: async (bounds, act) => {
      // Looking costs no write.
      if (tooOld(bounds).gone.length === 0) return false;
      return writer.run(() => {
        const { gone, isAll, anchor } = tooOld(bounds);
        const last = gone.at(-1);
        if (last === undefined) return false;
        const { number, hash, atMs: untilMs } = last;
        const count = number - anchor.number;
        on.drop.run({ number });
        on.moveAnchor.run({ number, hash, untilMs });
        const until = new Date(untilMs).toISOString();
        const object = { entries: count, through: number, hash: Buffer.from(hash).toString('hex') };
        audit.note(act, { action: 'audit.prune', object: { ...object, until } });
        return !isAll;
      });
    },
  };
}
