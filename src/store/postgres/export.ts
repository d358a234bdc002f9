/** The export of a provider, from one snapshot on a connection beside the pools. */

import type { ExportRecord, ImportStore } from '../../core/port/moving.ts';
import { StoreAway } from '../../core/port/store.ts';
import { exportRecords } from '../noun/export.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import { isLost, isRefusedBefore } from './fault.ts';
import { runnerOn } from './pools.ts';
import type { Runner } from './statement.ts';
import type { Context } from './write.ts';

/** The snapshot lasts as long as its reader needs, and locks no row. */
const BEGIN = `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = 0`;

async function* records(context: Context, code: string): AsyncGenerator<ExportRecord> {
  const { db } = context;
  const connection = db.connectBeside(() => {});
  const inTime = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await db.inTime(asked);
    } catch (fault) {
      if (!isLost(fault) && !isRefusedBefore(fault)) throw fault;
      throw new StoreAway('the database went away', { cause: fault });
    }
  };
  const runner: Runner = { ask: (...query) => inTime(runnerOn(connection).ask(...query)) };
  try {
    await inTime(connection.unsafe(BEGIN).simple());
    yield* exportRecords(STATEMENTS, (step) => runOn(runner, step()), code);
  } finally {
    await connection.close({ timeout: 0 });
  }
}

export function exportStore(context: Context): Pick<ImportStore, 'exportProvider'> {
  return { exportProvider: (code) => records(context, code) };
}
