/** The audit log: reading it, pruning it; audit-chain.ts writes it. */

import { sql } from 'drizzle-orm';
import { NO_ANCHOR } from '../../core/audit/chain.ts';
import * as deeds from '../../core/audit/deeds.ts';
import { blocksToPrune } from '../../core/audit/prune.ts';
import type { AuditBlock, AuditStore, PruneBounds } from '../../core/port/audit.ts';
import { anchorStatement } from './audit-chain.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

/** Blocks and entries that a step of pruning deletes: it must not hold up the writes of others. */
const STEP = { blocks: 500, entries: 5_000 };

function statements({ db }: Context) {
  const columns = sql.raw(
    'last_number AS number, at_ms AS "atMs", prev_hash AS "prevHash", hash, entries',
  );
  return {
    after: db.prepare<AuditBlock>(sql`
        SELECT ${columns} FROM audit WHERE last_number > ${value('number')}
        ORDER BY last_number LIMIT ${value('countMax')}`),
    before: db.prepare<AuditBlock>(sql`
        SELECT ${columns} FROM audit WHERE last_number < ${value('number')}
        ORDER BY last_number DESC LIMIT ${value('countMax')}`),
    newestNumber: db.prepare<{ number: number | null }>(
      sql`SELECT max(last_number) AS number FROM audit`,
    ),
    anchor: anchorStatement(db),
    oldest: db.prepare<Pick<AuditBlock, 'number' | 'atMs' | 'hash'>>(sql`
        SELECT last_number AS number, at_ms AS "atMs", hash FROM audit
        ORDER BY last_number LIMIT ${STEP.blocks}`),
    drop: db.prepare(sql`DELETE FROM audit WHERE last_number <= ${value('number')}`),
    moveAnchor: db.prepare(sql`
        INSERT INTO audit_anchor (id, last_number, hash, until_ms)
        VALUES (1, ${value('number')}, ${value('hash')}, ${value('untilMs')})
        ON CONFLICT (id) DO UPDATE SET last_number = excluded.last_number, hash = excluded.hash,
          until_ms = excluded.until_ms`),
  };
}

export function auditStore(context: Context): AuditStore {
  const { writer, audit } = context;
  const on = statements(context);

  function next(bounds: PruneBounds) {
    const anchor = on.anchor.get() ?? NO_ANCHOR;
    const oldest = on.oldest.all();
    const newest = on.newestNumber.get()?.number ?? 0;
    const { gone, isAll } = blocksToPrune({ anchor, newest, oldest }, bounds, STEP);
    return { anchor, last: gone.at(-1), isAll };
  }

  return {
    readAudit: async (number, countMax) => ({
      anchor: on.anchor.get() ?? NO_ANCHOR,
      blocks: on.after.all({ number, countMax }),
    }),

    readAuditBack: async (number, countMax) => on.before.all({ number, countMax }),

    pruneAudit: async (bounds, act) => {
      // Looking costs no write.
      if (next(bounds).last === undefined) return false;
      return writer.run(() => {
        const { anchor, last, isAll } = next(bounds);
        if (last === undefined) return false;
        const { number, hash, atMs: untilMs } = last;
        on.drop.run({ number });
        on.moveAnchor.run({ number, hash, untilMs });
        audit.note(act, deeds.pruneAudit(anchor, last));
        return !isAll;
      });
    },
  };
}
