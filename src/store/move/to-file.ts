/**
 * The move from PostgreSQL into the file, which is made beside its place and put there when it is
 * complete. It has the mark `arriving`, and no process serves from it, until the database has the
 * mark `left`: at no moment both can be in use.
 */

import { rmSync } from 'node:fs';
import type { AuditVerdict } from '../../core/audit/verify.ts';
import { hasRoom, noRoom } from '../../disk/room.ts';
import { removeLeftovers } from '../../disk/scratch.ts';
import { OperatorError } from '../../operator-error.ts';
import { isUsable, SCHEMA_VERSION, schemaOf } from '../postgres/migrate.ts';
import { openPostgresStore } from '../postgres/store.ts';
import { ReplacementFile } from '../sqlite/file/replace.ts';
import { rowsOf } from './copy-text.ts';
import { FileSide, type FileState, NewFile, programTables, stateOfFile } from './file-side.ts';
import {
  auditOf,
  compareCounts,
  type MoveJob,
  type MovePlaces,
  type MoveReport,
  RowCount,
} from './job.ts';
import { ServerSide } from './server-side.ts';
import type { MovedTable } from './tables.ts';

/** Moves, or checks whether it can. Throws {@link OperatorError} with the reason if not. */
export async function moveToFile(places: MovePlaces, job: MoveJob): Promise<MoveReport> {
  const { dataDir, place } = places;
  return await ServerSide.with(place, async (server) => {
    const state = await schemaOf(server.ask);
    if (state === null) {
      throw new OperatorError('there is no Gatepost in the database', 'database_missing');
    }
    if (!isUsable(state) || state.version !== SCHEMA_VERSION) {
      throw new OperatorError(
        `the database has schema ${state.version}, this program needs ${SCHEMA_VERSION}`,
        state.version < SCHEMA_VERSION ? 'database_older' : 'database_newer',
      );
    }
    if (state.move === 'arriving') {
      throw new OperatorError(
        "the data of the database have not all arrived: run 'gatepost move-database --to' with its URL again",
        'database_moved',
      );
    }
    const fileState = stateOfFile(dataDir);
    if (state.move === 'left') return await finish(server, places, job, fileState);
    if (fileState === 'atWork') {
      throw new OperatorError(
        `there is a database at work in ${dataDir}: move it away first`,
        'file_exists',
      );
    }
    if (job.isCheck) return await check(server, places, job);
    await seal(places);
    // A killed move left a file as large as the database.
    removeLeftovers(dataDir, () => false);
    const holder = new ReplacementFile(dataDir);
    try {
      const report = await server.transaction(() => copy(server, holder, job));
      job.onStep('marking');
      releaseFile(dataDir);
      if (fileState !== 'arriving' || report.kept === null) return report;
      // The file of an unfinished move is of no use.
      rmSync(report.kept);
      return { ...report, kept: null };
    } finally {
      await holder.drop();
    }
  });
}

/** Seals all entries of the audit log: the file has no place for pending ones. */
async function seal({ dataDir, place }: MovePlaces): Promise<void> {
  const store = await openPostgresStore({ dataDir, create: false, commitBatchMax: 1 }, place);
  try {
    await store.readAudit(0, 1);
  } finally {
    await store.close();
  }
}

async function sizeOf(server: ServerSide): Promise<number> {
  const [row] = await server.ask('SELECT pg_database_size(current_database())::float8 AS bytes');
  return Number(row?.['bytes']);
}

const totalOf = async (server: ServerSide, tables: readonly MovedTable[]) => {
  let total = 0;
  for (const table of tables) total += await server.count(table);
  return total;
};

async function check(
  server: ServerSide,
  { dataDir }: MovePlaces,
  job: MoveJob,
): Promise<MoveReport> {
  await server.refuseNodes();
  const bytes = await sizeOf(server);
  if (!hasRoom(dataDir, bytes)) throw noRoom(bytes, dataDir);
  const rows: Record<string, number> = {};
  for (const { name } of programTables()) rows[name] = await server.count({ name });
  return { rows, audit: await auditOf(server, job, null), wasFinished: false, kept: null };
}

async function copy(
  server: ServerSide,
  holder: ReplacementFile,
  job: MoveJob,
): Promise<MoveReport> {
  const tables = programTables();
  await server.hold(tables, false);
  if ((await server.findFilled([{ name: 'audit_pending' }])) !== null) {
    throw new OperatorError(
      'something still works on the database: run the same command again',
      'locked',
    );
  }
  const audit = await auditOf(server, job, null);
  const made = new NewFile(holder.beginFile(await sizeOf(server)));
  try {
    const progress = new RowCount(job, await totalOf(server, tables));
    const lastIds = new Map<string, number>();
    for (const table of tables) {
      await made.take(table, rowsOf(table, server.giveRows(table)), progress.add);
      if (table.isNumbered) lastIds.set(table.name, await server.lastId(table));
    }
    job.onStep('indexes');
    made.finish(lastIds);
    job.onStep('checks');
    const rows = await compare(server, made.look(), tables, job, audit);
    made.note(job.act);
    made.close();
    const kept = holder.takePlace(job.act.atMs);
    await server.mark('left');
    return { rows, audit, wasFinished: false, kept };
  } finally {
    made.drop();
  }
}

async function compare(
  server: ServerSide,
  file: FileSide,
  tables: readonly MovedTable[],
  job: MoveJob,
  audit: AuditVerdict,
): Promise<MoveReport['rows']> {
  const rows: Record<string, number> = {};
  for (const table of tables) {
    const count = await server.count(table);
    compareCounts(table.name, count, file.count(table));
    rows[table.name] = count;
  }
  await auditOf(file, job, audit);
  return rows;
}

/** Removes the mark of the file. */
function releaseFile(dataDir: string): void {
  const file = FileSide.open(dataDir, false);
  try {
    file.mark(null);
  } finally {
    file.close();
  }
}

/** Finishes a move whose database has the mark `left`; the file may be in use since. */
async function finish(
  server: ServerSide,
  { dataDir }: MovePlaces,
  job: MoveJob,
  fileState: FileState,
): Promise<MoveReport> {
  const audit = await auditOf(server, job, null);
  const isThere = fileState === 'arriving' && holds(dataDir, audit.head);
  if (!isThere) {
    throw new OperatorError(
      'the data of the database moved to a file before: it has nothing to move any more',
      'database_moved',
    );
  }
  if (!job.isCheck) {
    const holder = new ReplacementFile(dataDir);
    try {
      releaseFile(dataDir);
    } finally {
      await holder.drop();
    }
  }
  const rows: Record<string, number> = {};
  for (const { name } of programTables()) rows[name] = await server.count({ name });
  return { rows, audit, wasFinished: true, kept: null };
}

function holds(dataDir: string, head: string | null): boolean {
  const file = FileSide.open(dataDir, true);
  try {
    return file.hasHead(head);
  } finally {
    file.close();
  }
}
