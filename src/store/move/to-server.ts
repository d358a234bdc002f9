/**
 * The move from the file into PostgreSQL, in one transaction: a killed move moved nothing. Then the
 * database has the mark `arriving`, and no node serves from it, until the file has the mark `left`:
 * at no moment both can be in use.
 */

import { moveDatabase } from '../../core/audit/deeds.ts';
import { entryText } from '../../core/audit/entry.ts';
import type { AuditVerdict } from '../../core/audit/verify.ts';
import { OperatorError } from '../../operator-error.ts';
import {
  type MoveMark,
  migrate,
  refuseServer,
  SCHEMA_VERSION,
  schemaOf,
} from '../postgres/migrate.ts';
import { holdDatabase } from '../sqlite/file/open.ts';
import { ReplacementFile } from '../sqlite/file/replace.ts';
import { piecesOf } from './copy-text.ts';
import { FileSide, stateOfFile } from './file-side.ts';
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

interface Sides {
  file: FileSide;
  server: ServerSide;
  tables: readonly MovedTable[];
}

/** Moves, or checks whether it can. Throws {@link OperatorError} with the reason if not. */
export async function moveToServer(places: MovePlaces, job: MoveJob): Promise<MoveReport> {
  const { dataDir, place } = places;
  if (stateOfFile(dataDir) === 'blank') {
    throw new OperatorError(`there is no Gatepost database in ${dataDir}`, 'database_missing');
  }
  const release = job.isCheck ? holdDatabase(dataDir) : holdAlone(dataDir);
  try {
    // Read again under the lock.
    const state = stateOfFile(dataDir);
    if (state === 'arriving') {
      throw new OperatorError(
        `the data of ${dataDir} have not all arrived: run 'gatepost move-database --to sqlite' again`,
        'database_moved',
      );
    }
    const file = FileSide.open(dataDir, job.isCheck);
    try {
      const tables = file.tables();
      return await ServerSide.with(place, (server) => {
        const sides = { file, server, tables };
        if (state === 'left') return finish(sides, job);
        return job.isCheck ? check(sides, job) : move(sides, job);
      });
    } finally {
      file.close();
    }
  } finally {
    await release();
  }
}

/** Locks the file for this process. */
function holdAlone(dataDir: string): () => Promise<void> {
  const holder = new ReplacementFile(dataDir);
  return () => holder.drop();
}

const totalOf = ({ file, tables }: Sides) =>
  tables.reduce((total, table) => total + file.count(table), 0);

async function check(sides: Sides, job: MoveJob): Promise<MoveReport> {
  const { file, server, tables } = sides;
  await refuseServer(server.ask);
  const state = await schemaOf(server.ask);
  if (state === null) await refuseUnlessMayCreate(server);
  else await refuseFilled(sides, state.move, job);
  const progress = new RowCount(job, totalOf(sides));
  const rows: Record<string, number> = {};
  for (const table of tables) {
    rows[table.name] = file.count(table);
    for (const { rowCount } of piecesOf(table, file.rows(table))) progress.add(rowCount);
  }
  const audit = await auditOf(file, job, null);
  return { rows, audit, wasFinished: false, kept: null };
}

async function refuseUnlessMayCreate(server: ServerSide): Promise<void> {
  const [found] = await server.ask(
    `SELECT has_schema_privilege(current_schema(), 'CREATE') AS may, current_user AS role`,
  );
  if (found?.['may'] === true) return;
  throw new OperatorError(
    `the role ${found?.['role']} may not create tables: make it the owner of the database`,
  );
}

/** Throws {@link OperatorError} if the database has rows that are not left from a move. */
async function refuseFilled(
  { server, tables }: Sides,
  mark: MoveMark | null,
  { isForced }: MoveJob,
): Promise<void> {
  await server.refuseNodes();
  const filled = await server.findFilled(tables);
  if (filled === null || mark === 'arriving' || (mark === 'left' && isForced)) return;
  throw new OperatorError(
    mark === 'left'
      ? 'the database still holds what moved from it to a file: --force replaces that'
      : `the database is at work: ${filled} has rows; name an empty one`,
    'file_exists',
  );
}

async function move(sides: Sides, job: MoveJob): Promise<MoveReport> {
  const { file, server } = sides;
  await migrate(server.ask, { create: true, migrates: true, moves: true });
  const audit = await auditOf(file, job, null);
  // Committed first, so that no node starts there meanwhile.
  const mark = await server.transaction(async () => {
    const before = await makeSure(sides, job);
    await server.mark('arriving');
    return before;
  });
  const rows = await server
    .transaction(() => copy(sides, job, audit))
    .catch(async (fault: unknown) => {
      await server.mark(mark).catch(() => undefined);
      throw fault;
    });
  job.onStep('marking');
  file.mark('left');
  await server.mark(null);
  return { rows, audit, wasFinished: false, kept: null };
}

/** Locks the database, if its rows may be replaced; returns its mark. */
async function makeSure(sides: Sides, job: MoveJob): Promise<MoveMark | null> {
  const { server, tables } = sides;
  await server.hold(tables, true);
  const state = await schemaOf(server.ask);
  if (state?.version !== SCHEMA_VERSION) {
    throw new OperatorError(
      'the database is of a newer gatepost: move with that one',
      'database_newer',
    );
  }
  await refuseFilled(sides, state.move, job);
  return state.move;
}

async function copy(sides: Sides, job: MoveJob, audit: AuditVerdict): Promise<MoveReport['rows']> {
  const { file, server, tables } = sides;
  await makeSure(sides, job);
  await server.empty(tables);
  const structure = await server.structure(tables);
  for (const text of structure.drop) await server.ask(text);
  const progress = new RowCount(job, totalOf(sides));
  for (const table of tables) {
    await server.takeRows(table, piecesOf(table, file.rows(table)), progress.add);
  }
  job.onStep('indexes');
  for (const text of structure.restore) await server.ask(text);
  const rows: Record<string, number> = {};
  job.onStep('checks');
  for (const table of tables) {
    const count = file.count(table);
    compareCounts(table.name, count, await server.count(table));
    if (table.isNumbered) await server.setLastId(table, file.lastId(table));
    rows[table.name] = count;
  }
  await auditOf(server, job, audit);
  await server.note(entryText(job.act, moveDatabase('sqlite')));
  await server.mark('arriving');
  await server.ask('ANALYZE');
  return rows;
}

/** Finishes a move whose file has the mark `left`; the database may be in use since. */
async function finish({ file, server, tables }: Sides, job: MoveJob): Promise<MoveReport> {
  const state = await schemaOf(server.ask);
  const audit = await auditOf(file, job, null);
  const isThere = state?.move === 'arriving' && (await server.hasHead(audit.head));
  if (!isThere) {
    throw new OperatorError(
      'the data of the file moved to PostgreSQL before: it has nothing to move any more',
      'database_moved',
    );
  }
  if (!job.isCheck) await server.mark(null);
  const rows = Object.fromEntries(tables.map((table) => [table.name, file.count(table)]));
  return { rows, audit, wasFinished: true, kept: null };
}
