/** Restores a backup: checks everything before it replaces the database. */

import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import { refuseOpenData } from '../base/permissions.ts';
import { counted } from '../core/counted.ts';
import type { Actor } from '../core/port/audit.ts';
import { asDiskFault } from '../disk/fault.ts';
import { removeLeftovers } from '../disk/scratch.ts';
import type { Arrival, DatabaseFile, Replacement } from '../store/kind.ts';
import { DamagedBackup, kindOf, type Manifest, readContainer } from './container.ts';

export interface VerifyOrder {
  dataDir: string;
  file: string;
  /** The passphrase; null: unknown. */
  passphrase: string | null;
}

export interface RestoreOrder extends VerifyOrder {
  /** Replaces a database that has rows which the backup lacks; never one in use. */
  isForced: boolean;
  /** Actor in the audit log of the restored database. */
  actor: Actor;
  nowMs: number;
}

interface RestoreResult {
  manifest: Manifest;
  /** Path of the old database; null: there was none. */
  replacedFile: string | null;
}

/**
 * Verifies a backup: checksums, structure, references, schema, row counts. Unpacks into an unnamed
 * file in the data directory, or where there is room: beside the backup or in the directory for
 * temporary files. Throws `OperatorError` with the first problem.
 */
export async function verifyBackup(database: DatabaseFile, order: VerifyOrder): Promise<Manifest> {
  const { dataDir, file } = order;
  await kindOf(file);
  const own = [dataDir, dirname(resolve(file))];
  for (const folder of own) removeLeftovers(folder, () => false);
  const folders = [...own, tmpdir()];
  const inspection = database.inspect(folders);
  try {
    return await unpack(database, order, inspection);
  } catch (fault) {
    throw asDiskFault(fault, ...folders);
  } finally {
    await inspection.drop();
  }
}

/**
 * Replaces the database in `dataDir` by that of a backup, after verifying it. Throws
 * `OperatorError` and changes nothing if the backup is damaged or newer than the program, or if the
 * database is in use or has rows which the backup lacks.
 */
export async function restoreBackup(
  database: DatabaseFile,
  order: RestoreOrder,
): Promise<RestoreResult> {
  const { dataDir, isForced, actor, nowMs } = order;
  await kindOf(order.file);
  refuseOpenData(dataDir, true);
  const replacement = holdPlace(database, dataDir);
  removeLeftovers(dataDir, () => false);
  try {
    const manifest = await unpack(database, order, replacement);
    const loss = isForced ? null : replacement.loss();
    if (loss !== null) {
      throw new OperatorError(
        `the database in ${dataDir} would be replaced, and ${loss}; --force replaces it and keeps the old one under another name`,
      );
    }
    const act = { actor, atMs: nowMs };
    return { manifest, replacedFile: replacement.putInPlace(act, manifest.created_at_ms) };
  } catch (fault) {
    throw asDiskFault(fault, dataDir);
  } finally {
    await replacement.drop();
  }
}

function holdPlace(database: DatabaseFile, dataDir: string): Replacement {
  try {
    return database.replace(dataDir);
  } catch (fault) {
    throw asDiskFault(fault, dataDir);
  }
}

/** Unpacks a backup into `arrival` and compares it with the manifest. */
async function unpack(
  database: DatabaseFile,
  { file, passphrase }: VerifyOrder,
  arrival: Arrival,
): Promise<Manifest> {
  const manifest = await readContainer(file, passphrase, (promised) => {
    database.refuseNewer(file, promised.schema, promised.gatepost);
    return arrival.begin(promised.database_bytes);
  });
  try {
    await compare(arrival, manifest);
  } catch (fault) {
    if (!(fault instanceof OperatorError)) throw fault;
    throw new DamagedBackup(`${file} cannot be used: ${fault.message}`);
  }
  return manifest;
}

/** Throws `OperatorError` with the first difference. */
async function compare(arrival: Arrival, manifest: Manifest): Promise<void> {
  const { schema, rows } = await arrival.contents();
  if (schema !== manifest.schema) throw new OperatorError(`the schema is ${schema}`);
  const tables = new Set([...Object.keys(rows), ...Object.keys(manifest.rows)]);
  const other = [...tables].find((table) => rows[table] !== manifest.rows[table]);
  if (other === undefined) return;
  const wanted = manifest.rows[other] ?? 0;
  const found = `${other} has ${counted(rows[other] ?? 0, 'row')}, ${wanted} in the backup`;
  throw new OperatorError(found);
}
