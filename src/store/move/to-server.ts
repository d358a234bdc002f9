/**
 * The move from the file into PostgreSQL, in one transaction. The database has the mark `arriving`,
 * and no program serves it, until the file has the mark `left`: both are never in use together.
 */

import { OperatorError } from '../../base/operator-error.ts';
import type { DatabaseOptions } from '../postgres/database-options.ts';
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
import type { MoveJob, MovePlaces, MoveReport } from './job.ts';
import { ServerSide } from './server-side.ts';
import { copyAll, finishMove, hasHead, holdingsOf, progressOf } from './side.ts';
import { KEY_TABLE, type MovedTable } from './tables.ts';

interface Sides {
  place: DatabaseOptions;
  file: FileSide;
  server: ServerSide;
  tables: readonly MovedTable[];
}

/**
 * Moves the data, or checks whether it can be moved. Throws {@link OperatorError} with the reason
 * if not.
 */
export async function moveToServer({ dataDir, place }: MovePlaces, job: MoveJob) {
  if (stateOfFile(dataDir) === 'blank') {
    throw new OperatorError(`there is no Gatepost database in ${dataDir}`, 'database_missing');
  }
  const holder = job.isCheck ? null : new ReplacementFile(dataDir);
  const release = holder === null ? holdDatabase(dataDir) : () => holder.drop();
  try {
    // Read again under the lock.
    const state = stateOfFile(dataDir);
    if (state === 'arriving') {
      throw new OperatorError(
        `the data of ${dataDir} have not all arrived: run 'gatepost move-database --to sqlite' again`,
        'database_moved',
      );
    }
    using file = FileSide.open(dataDir, job.isCheck);
    const tables = file.tables();
    return await ServerSide.with(place, (server) => {
      const sides = { place, file, server, tables };
      if (state === 'left') return finish(sides, job);
      return job.isCheck ? check(sides, job) : move(sides, job);
    });
  } finally {
    await release();
  }
}

/** Returns the address of a database for people: without the user, who is another at each node. */
function addressOf({ host, port, socket, database }: DatabaseOptions): string {
  const at = socket === null ? `${host}:${port}` : `the socket in ${socket}`;
  return `PostgreSQL (database ${database} at ${at})`;
}

async function check(sides: Sides, job: MoveJob): Promise<MoveReport> {
  const { file, server, tables } = sides;
  await refuseServer(server.ask);
  const state = await schemaOf(server.ask);
  if (state === null) await refuseUnlessMayCreate(server);
  else await refuseFilled(sides, state.move, job);
  const report = await holdingsOf(file, tables, job);
  const progress = progressOf(report, job);
  for (const table of tables) {
    for await (const { rowCount } of piecesOf(table, file.rows(table))) progress(rowCount);
  }
  return report;
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

/** Throws {@link OperatorError} if the database has rows that no move left. */
async function refuseFilled(
  { server, tables }: Sides,
  mark: MoveMark | null,
  { isForced }: MoveJob,
): Promise<void> {
  await server.refuseNodes();
  const filled = await server.findFilled(tables.filter(({ name }) => name !== KEY_TABLE));
  if (filled === null || mark === 'arriving' || (mark === 'left' && isForced)) return;
  throw new OperatorError(
    mark === 'left'
      ? 'the database still holds what moved from it to a file: --force replaces that'
      : `the database is at work: ${filled} has rows; name an empty one`,
    'file_exists',
  );
}

async function move(sides: Sides, job: MoveJob): Promise<MoveReport> {
  const { file, place, server } = sides;
  await migrate(server.ask, { create: true, migrates: true, moves: true });
  // Committed first, so that no node starts on the database meanwhile.
  const mark = await server.transaction(async () => {
    const before = await makeSure(sides, job);
    await server.mark('arriving');
    return before;
  });
  const report = await server
    .transaction(() => copy(sides, job))
    .catch(async (fault: unknown) => {
      await server.mark(mark).catch(() => undefined);
      throw fault;
    });
  job.onStep('marking');
  file.mark(addressOf(place));
  await server.mark(null);
  return report;
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

async function copy(sides: Sides, job: MoveJob): Promise<MoveReport> {
  const { file, server, tables } = sides;
  await makeSure(sides, job);
  await server.begin(tables);
  const report = await copyAll(file, server, tables, job);
  await server.mark('arriving');
  await server.ask('ANALYZE');
  return report;
}

async function finish({ file, server, tables }: Sides, job: MoveJob): Promise<MoveReport> {
  const state = await schemaOf(server.ask);
  return await finishMove(file, tables, job, {
    words: 'the file moved to PostgreSQL',
    takes: (head) => state?.move === 'arriving' && hasHead(server, head),
    release: () => server.mark(null),
  });
}
