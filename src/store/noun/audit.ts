/** The audit log: reading and pruning. audit-notes.ts notes its entries. */

import { NO_ANCHOR } from '../../core/audit/chain.ts';
import * as deeds from '../../core/audit/deeds.ts';
import { deedOfFold, type Fold } from '../../core/audit/fold.ts';
import { dayCountMax, LISTED_WINDOW_MS } from '../../core/audit/listed.ts';
import { blocksToPrune } from '../../core/audit/prune.ts';
import { DAY_MS, HOUR_MS } from '../../core/calendar.ts';
import type { AuditAnchor, AuditBlock, AuditStore, PruneBounds } from '../../core/port/audit.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { Backend, Reader } from '../backend.ts';
import { columns, insertInto, sql, values } from '../statement-text.ts';

/** Blocks and entries that a step of pruning deletes: it must not delay the writes of others. */
const STEP = { blocks: 500, entries: 5_000 };

/** Providers whose folded deeds get an entry in a step. */
const FOLD_STEP = 100;

const COLUMNS = columns('audit', 'lastNumber AS number, atMs, prevHash, hash, entries');

/** The anchor and a block; the fields of a missing one are null. */
interface Row extends Omit<AuditBlock, 'number'> {
  number: number | null;
  anchorNumber: number | null;
  anchorHash: Uint8Array;
  anchorUntilMs: number;
}

/** Makes `readAudit` of the port for entries that are sealed. */
export function auditReader(backend: Reader): AuditStore['readAudit'] {
  // Reads the anchor and the blocks in one statement, so that both are of one moment; returns at
  // least one row.
  const after = backend.prepare(sql`
      SELECT ${values<Row>({
        anchorNumber: sql`a.last_number`,
        anchorHash: sql`a.hash`,
        anchorUntilMs: sql`a.until_ms`,
        number: sql`b.number`,
        atMs: sql`b."atMs"`,
        prevHash: sql`b."prevHash"`,
        hash: sql`b.hash`,
        entries: sql`b.entries`,
      })}
      FROM (SELECT 1) one LEFT JOIN audit_anchor a ON true LEFT JOIN (
        SELECT ${COLUMNS} FROM audit WHERE last_number > coalesce(CAST(:number AS bigint),
          CAST('-9223372036854775808' AS bigint))
        ORDER BY last_number LIMIT :countMax) b ON true
      ORDER BY b.number`);
  return async (afterNumber, countMax) => {
    const number = Number.isFinite(afterNumber) ? afterNumber : null;
    const rows = await backend.read(() => after.all({ number, countMax }));
    return { anchor: anchorIn(rows), blocks: rows.flatMap(blockIn) };
  };
}

function statements({ prepare, lockOnly, locked }: Backend) {
  return {
    before: prepare(sql`
        SELECT ${COLUMNS} FROM audit WHERE last_number < :number
        ORDER BY last_number DESC LIMIT :countMax`),
    oldest: prepare(sql`
        SELECT ${columns('audit', 'lastNumber AS number, atMs, hash')} FROM audit
        ORDER BY last_number LIMIT ${STEP.blocks}`),
    anchor: prepare(sql`
        SELECT ${columns('audit_anchor', 'lastNumber AS number, hash, untilMs')}
        FROM audit_anchor`),
    newestNumber: prepare(
      sql`SELECT ${values<{ number: number | null }>({ number: sql`max(last_number)` })}
      FROM audit`,
    ),
    drop: prepare(sql`
        DELETE FROM audit WHERE last_number <= :number`),
    /** The first of the folds that are due of each provider with room in its share of the day. */
    dueFolds: prepare(sql`
        SELECT ${columns({ f: 'audit_fold' }, 'f.provider')},
          ${values<{ action: string }>({ action: sql`min(f.action)` })}
        FROM audit_fold f
        LEFT JOIN provider p ON p.code = f.provider
        WHERE (f.from_ms <= :beforeMs OR f.from_ms > :nowMs + ${HOUR_MS}) AND (p.code IS NULL
          OR p.audit_day NOT IN (:day, :day + 1) OR p.change_day_count < :dayCountMax)
        GROUP BY f.provider ORDER BY f.provider LIMIT ${FOLD_STEP}`),
    takeFold: prepare(
      sql`DELETE FROM audit_fold WHERE provider = :provider AND action = :action
        RETURNING ${columns('audit_fold', 'fold')}`,
    ),
    lockCode: lockOnly(sql`SELECT 1 FROM provider WHERE code = :provider ${locked}`),
    moveAnchor: prepare(sql`
        ${insertInto('audit_anchor', 'hash, untilMs, id = 1, lastNumber = :number')}
        ON CONFLICT (id) DO UPDATE SET last_number = excluded.last_number, hash = excluded.hash,
          until_ms = excluded.until_ms`),
  };
}

/** `seal` makes blocks of all committed entries; on PostgreSQL commits leave that for later. */
export function auditNoun(backend: Backend, seal: () => Maybe<void>): AuditStore {
  const on = statements(backend);
  const read = auditReader(backend);

  /** Finds the blocks to prune next. */
  function* next(bounds: PruneBounds, nowMs: number) {
    const anchor = (yield* on.anchor.get()) ?? NO_ANCHOR;
    const oldest = yield* on.oldest.all();
    const newest = (yield* on.newestNumber.get())?.number ?? 0;
    const { gone, isAll } = blocksToPrune({ anchor, oldest, newest }, bounds, STEP, nowMs);
    return { anchor, last: gone.at(-1), isAll };
  }

  return {
    noteVisit: (providerId, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        notes.audit(act, deeds.visitProvider(), providerId);
      }),

    noteDownload: (act) =>
      backend.write(function* (notes) {
        // A write needs its own statement.
        yield* backend.lockAuditLog();
        notes.audit(act, deeds.downloadDatabase());
      }),

    endFolds: async (nowMs, entriesMax) => {
      const day = Math.floor(nowMs / DAY_MS);
      const beforeMs = nowMs - LISTED_WINDOW_MS;
      const due = { nowMs, beforeMs, day, dayCountMax: dayCountMax(entriesMax) };
      // A read first: it costs no write.
      if ((await backend.read(() => on.dueFolds.all(due))).length === 0) return false;
      return backend.write(function* (notes) {
        const found = yield* on.dueFolds.all(due);
        for (const { provider, action } of found) {
          yield* on.lockCode.get({ provider });
          const taken = yield* on.takeFold.get({ provider, action });
          if (taken === null) continue;
          const fold: Fold = JSON.parse(taken.fold);
          const act = { actor: fold.last.actor, atMs: nowMs, entriesMax };
          notes.audit(act, { ...deedOfFold(fold), provider });
        }
        return found.length > 0;
      });
    },

    readAudit: async (afterNumber, countMax) => {
      await seal();
      return read(afterNumber, countMax);
    },

    readAuditBack: async (number, countMax) => {
      await seal();
      return backend.read(() => on.before.all({ number, countMax }));
    },

    pruneAudit: async (bounds, act) => {
      await seal();
      // A read first: it costs no write.
      if ((await backend.read(() => next(bounds, act.atMs))).last === undefined) return false;
      return backend.write(function* (notes) {
        yield* backend.lockAuditLog();
        const { anchor, last, isAll } = yield* next(bounds, act.atMs);
        if (last === undefined) return false;
        const { number, hash, atMs: untilMs } = last;
        yield* on.drop.run({ number });
        yield* on.moveAnchor.run({ number, hash, untilMs });
        notes.audit(act, deeds.pruneAudit(anchor, last));
        return !isAll;
      });
    },
  };
}

function anchorIn([row]: readonly Row[]): AuditAnchor {
  if (row === undefined || row.anchorNumber === null) return NO_ANCHOR;
  return { number: row.anchorNumber, hash: row.anchorHash, untilMs: row.anchorUntilMs };
}

function blockIn({ number, atMs, prevHash, hash, entries }: Row): AuditBlock[] {
  return number === null ? [] : [{ number, atMs, prevHash, hash, entries }];
}
