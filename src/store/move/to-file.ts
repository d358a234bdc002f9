/**
 * The move from PostgreSQL into a new file beside its place. The file has the mark `arriving`, and
 * no program serves it, until the database has the mark `left`: both are never in use together.
 */

import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import { hasRoom, noRoom } from '../../disk/room.ts';
import { removeLeftovers } from '../../disk/scratch.ts';
import { isUsable, SCHEMA_VERSION, schemaOf } from '../postgres/migrate.ts';
import { openPostgresStore } from '../postgres/store.ts';
import { ReplacementFile } from '../sqlite/file/replace.ts';
import { FileSide, NewFile, stateOfFile } from './file-side.ts';
import type { MoveJob, MovePlaces, MoveReport } from './job.ts';
import { ServerSide } from './server-side.ts';
import { copyAll, finishMove, hasHead, holdingsOf } from './side.ts';
import { programTables } from './tables.ts';

/**
 * Moves the data, or checks whether it can be moved. Throws {@link OperatorError} with the reason
 * if not.
 */
export async function moveToFile(places: MovePlaces, job: MoveJob): Promise<MoveReport> {
  const { dataDir, place } = places;
  return await ServerSide.with(place, async (server) => {
    const mark = await markOf(server);
    const fileState = stateOfFile(dataDir);
    if (mark === 'left') {
      return await finishMove(server, programTables(), job, {
        words: 'the database moved to a file',
        takes: (head) => fileState === 'arriving' && holds(dataDir, head),
        release: () => whileHeld(dataDir, async () => releaseFile(dataDir)),
      });
    }
    if (fileState === 'atWork') {
      throw new OperatorError(
        `there is a database at work in ${dataDir}: move it away first`,
        'file_exists',
      );
    }
    if (job.isCheck) return await check(server, dataDir, job);
    await seal(places);
    // A killed move leaves a file as large as the database.
    removeLeftovers(dataDir, () => false);
    return await whileHeld(dataDir, async (holder) => {
      const report = await server.transaction(() => copy(server, places, holder, job));
      job.onStep('marking');
      releaseFile(dataDir);
      if (fileState !== 'arriving' || report.kept === null) return report;
      // The file of an unfinished move is useless.
      rmSync(report.kept);
      return { ...report, kept: null };
    });
  });
}

/** Reads the mark of the database. Throws {@link OperatorError} if its data cannot be moved. */
async function markOf(server: ServerSide): Promise<'left' | null> {
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
  if (state.move !== 'arriving') return state.move;
  throw new OperatorError(
    "the data of the database have not all arrived: run 'gatepost move-database --to' with its URL again",
    'database_moved',
  );
}

/** Seals all entries of the audit log, because the file has no place for pending ones. */
async function seal({ dataDir, place }: MovePlaces): Promise<void> {
  const store = await openPostgresStore({ dataDir, create: false, commitBatchMax: 1 }, place);
  try {
    await store.readAudit(0, 1);
  } finally {
    await store.close();
  }
}

async function sizeOf(server: ServerSide): Promise<number> {
  const [row] = await server.ask('SELECT pg_database_size(current_database()) AS bytes');
  return Number(row?.['bytes']);
}

async function check(server: ServerSide, dataDir: string, job: MoveJob): Promise<MoveReport> {
  await server.refuseNodes();
  const bytes = await sizeOf(server);
  if (!hasRoom(dataDir, bytes)) throw noRoom(bytes, dataDir);
  return await holdingsOf(server, programTables(), job);
}

async function copy(
  server: ServerSide,
  { dataDir, place }: MovePlaces,
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
  using made = new NewFile(holder.beginFile(await sizeOf(server)));
  const report = await copyAll(server, made, tables, job);
  made.sync();
  const kept = holder.takePlace(job.act.atMs);
  await server.markLeft(`a file in ${resolve(dataDir)} on ${place.node}`);
  return { ...report, kept };
}

/** Runs `work` while no other process can open the file. */
async function whileHeld<T>(dataDir: string, work: (holder: ReplacementFile) => Promise<T>) {
  const holder = new ReplacementFile(dataDir);
  try {
    return await work(holder);
  } finally {
    await holder.drop();
  }
}

/** Removes the mark of the file. */
function releaseFile(dataDir: string): void {
  using file = FileSide.open(dataDir, false);
  file.mark(null);
}

async function holds(dataDir: string, head: string | null): Promise<boolean> {
  using file = FileSide.open(dataDir, true);
  return await hasHead(file, head);
}
