/** The audit log: reading it, pruning it; audit-trail.ts writes it, sealer.ts links it. */

import { sql } from 'drizzle-orm';
import { NO_ANCHOR } from '../../core/audit/chain.ts';
import * as deeds from '../../core/audit/deeds.ts';
import { blocksToPrune } from '../../core/audit/prune.ts';
import type { AuditAnchor, AuditBlock, AuditStore, PruneBounds } from '../../core/port/audit.ts';
import type { Context } from './context.ts';
import { anchorOf, lockChain } from './sealer.ts';
import { prepare, type Runner, value } from './statement.ts';

/** Blocks and entries that a step of pruning deletes: it must not hold up the writes of others. */
const STEP = { blocks: 500, entries: 5_000 };

const COLUMNS = sql.raw(
  'last_number AS number, at_ms AS "atMs", prev_hash AS "prevHash", hash, entries',
);

/** The anchor and a block; a field is null if there is none. */
interface Row extends Omit<AuditBlock, 'number'> {
  number: number | null;
  anchorNumber: number | null;
  anchorHash: Uint8Array;
  anchorUntilMs: number;
}

const on = {
  /** In one statement, as both are of one moment. A row at least. */
  after: prepare<Row>(sql`
      SELECT a.last_number AS "anchorNumber", a.hash AS "anchorHash",
        a.until_ms AS "anchorUntilMs", b.*
      FROM (SELECT 1) one LEFT JOIN audit_anchor a ON true LEFT JOIN (
        SELECT ${COLUMNS} FROM audit
        WHERE last_number > coalesce(${value('number')}::bigint, -9223372036854775808)
        ORDER BY last_number LIMIT ${value('countMax')}) b ON true
      ORDER BY b.number`),
  before: prepare<AuditBlock>(sql`
      SELECT ${COLUMNS} FROM audit WHERE last_number < ${value('number')}
      ORDER BY last_number DESC LIMIT ${value('countMax')}`),
  newestNumber: prepare<{ number: number | null }>(
    sql`SELECT max(last_number) AS number FROM audit`,
  ),
  oldest: prepare<Pick<AuditBlock, 'number' | 'atMs' | 'hash'>>(sql`
      SELECT last_number AS number, at_ms AS "atMs", hash FROM audit
      ORDER BY last_number LIMIT ${STEP.blocks}`),
  drop: prepare(sql`DELETE FROM audit WHERE last_number <= ${value('number')}`),
  moveAnchor: prepare(sql`
      INSERT INTO audit_anchor (id, last_number, hash, until_ms)
      VALUES (1, ${value('number')}, ${value('hash')}, ${value('untilMs')})
      ON CONFLICT (id) DO UPDATE SET last_number = excluded.last_number, hash = excluded.hash,
        until_ms = excluded.until_ms`),
};

export function auditStore(context: Context): AuditStore {
  const { db, sealer } = context;

  return {
    readAudit: async (afterNumber, countMax) => {
      await sealer.seal();
      const number = Number.isFinite(afterNumber) ? afterNumber : null;
      const rows = await on.after.all(db, { number, countMax });
      return { anchor: anchorIn(rows), blocks: rows.flatMap(blockIn) };
    },

    readAuditBack: async (number, countMax) => {
      await sealer.seal();
      return on.before.all(db, { number, countMax });
    },

    pruneAudit: async (bounds, act) => {
      await sealer.seal();
      // Looking costs no write.
      if ((await nextStep(db, bounds)).last === undefined) return false;
      return context.write(async (w) => {
        await lockChain(w);
        const { anchor, last, isAll } = await nextStep(w, bounds);
        if (last === undefined) return false;
        const { number, hash, atMs: untilMs } = last;
        await on.drop.run(w, { number });
        await on.moveAnchor.run(w, { number, hash, untilMs });
        w.audit.note(act, deeds.pruneAudit(anchor, last));
        return !isAll;
      });
    },
  };
}

/** The blocks that go next. */
async function nextStep(runner: Runner, bounds: PruneBounds) {
  const [anchor, oldest, newest] = await Promise.all([
    anchorOf(runner),
    on.oldest.all(runner),
    on.newestNumber.get(runner),
  ]);
  const end = { anchor, oldest, newest: newest?.number ?? 0 };
  const { gone, isAll } = blocksToPrune(end, bounds, STEP);
  return { anchor, last: gone.at(-1), isAll };
}

function anchorIn([row]: readonly Row[]): AuditAnchor {
  if (row === undefined || row.anchorNumber === null) return NO_ANCHOR;
  return { number: row.anchorNumber, hash: row.anchorHash, untilMs: row.anchorUntilMs };
}

function blockIn({ number, atMs, prevHash, hash, entries }: Row): AuditBlock[] {
  return number === null ? [] : [{ number, atMs, prevHash, hash, entries }];
}
