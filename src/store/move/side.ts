/** A database as a side of a move, and the steps that both directions share. */

import { OperatorError } from '../../base/operator-error.ts';
import { headText } from '../../core/audit/chain.ts';
import { type AuditVerdict, verifyAudit } from '../../core/audit/verify.ts';
import { counted } from '../../core/counted.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { Reader } from '../backend.ts';
import { auditReader } from '../noun/audit.ts';
import { columns, sql, values } from '../statement-text.ts';
import type { MoveJob, MoveReport } from './job.ts';
import type { MovedTable } from './tables.ts';

export type Field = string | number | Uint8Array | null;

/** Rows of a table, each with the fields of its columns in their order. */
export type Rows = Iterable<Field[]> | AsyncIterable<Field[]>;

export interface Side {
  readonly backend: Reader;
  /** Reads the rows of a table in their order. */
  rows(table: MovedTable): Rows;
  /** Returns the last id that the database gave in a table; 0: none yet. */
  lastId(table: MovedTable): Maybe<number>;
}

export interface Target extends Side {
  /** Adds rows; calls `onRows` with their number from time to time. */
  take(table: MovedTable, rows: Rows, onRows: (count: number) => void): Promise<void>;
  /** Completes the side after the rows: ids, indexes and triggers. */
  finish(lastIds: ReadonlyMap<string, number>): Maybe<void>;
  /** Adds the entry about the move. */
  note(act: Act): Maybe<void>;
}

async function countRows({ backend }: Side, name: string): Promise<number> {
  const count = backend.prepare(
    sql`SELECT ${values<{ count: number }>({ count: sql`count(*)` })} FROM ${sql.identifier(name)}`,
  );
  return (await backend.read(() => count.get()))?.count ?? 0;
}

/** Checks the audit log of a side. */
function auditOf({ backend }: Side, job: MoveJob, expected: string[] = []): Promise<AuditVerdict> {
  const measure = { expected, ...job.auditBounds, nowMs: job.act.atMs };
  return verifyAudit({ store: { readAudit: auditReader(backend) } }, measure);
}

/** Reports the rows of a side as if they had moved. */
export async function holdingsOf(
  side: Side,
  tables: readonly MovedTable[],
  job: MoveJob,
): Promise<MoveReport> {
  const audit = await auditOf(side, job);
  const rows: Record<string, number> = {};
  for (const { name } of tables) rows[name] = await countRows(side, name);
  return { rows, audit, wasFinished: false, kept: null };
}

/** Returns what counts the rows of a report as they move, and throws once `job` is interrupted. */
export function progressOf({ rows }: MoveReport, job: MoveJob): (count: number) => void {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  let done = 0;
  return (count) => {
    done += count;
    job.onRows(done, total);
    if (!job.signal.aborted) return;
    const what = 'interrupted: nothing moved; run the same command again';
    throw new OperatorError(what, 'interrupted');
  };
}

/** Copies all rows, and compares both sides. */
export async function copyAll(
  from: Side,
  to: Target,
  tables: readonly MovedTable[],
  job: MoveJob,
): Promise<MoveReport> {
  const report = await holdingsOf(from, tables, job);
  const progress = progressOf(report, job);
  const lastIds = new Map<string, number>();
  for (const table of tables) {
    await to.take(table, from.rows(table), progress);
    if (table.isNumbered) lastIds.set(table.name, await from.lastId(table));
  }
  job.onStep('indexes');
  await to.finish(lastIds);
  job.onStep('checks');
  for (const [name, count] of Object.entries(report.rows)) {
    const arrived = await countRows(to, name);
    if (arrived !== count)
      throw new Error(`${name} has ${counted(count, 'row')}, and ${arrived} arrived`);
  }
  const { head } = report.audit;
  const audit = await auditOf(to, job, head === null ? [] : [head]);
  if (!Bun.deepEquals(audit, report.audit)) {
    throw new Error(`the audit log is not what it was: ${audit.problem ?? audit.head}`);
  }
  await to.note(job.act);
  return report;
}

/** Finishes a move whose source has the mark `left`, if the target `takes` data of this log. */
export async function finishMove(
  from: Side,
  tables: readonly MovedTable[],
  job: MoveJob,
  move: { words: string; takes(head: string | null): Maybe<boolean>; release(): Maybe<unknown> },
): Promise<MoveReport> {
  const report = await holdingsOf(from, tables, job);
  if (!(await move.takes(report.audit.head))) {
    throw new OperatorError(
      `the data of ${move.words} before: it has nothing to move any more`,
      'database_moved',
    );
  }
  if (!job.isCheck) await move.release();
  return { ...report, wasFinished: true };
}

/** Returns true if the log of a side has the block `NUMBER:HASH`; null stands for an empty log. */
export async function hasHead({ backend }: Side, head: string | null): Promise<boolean> {
  if (head === null) return true;
  const number = Number.parseInt(head, 10);
  const block = backend.prepare(
    sql`SELECT ${columns('audit', 'hash')} FROM audit WHERE last_number = :number`,
  );
  const found = await backend.read(() => block.get({ number }));
  return found !== null && headText({ number, hash: found.hash }) === head;
}
