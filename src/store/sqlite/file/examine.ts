/** The database: does it open, is it whole, and does its log stay small? */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { about, type Finding, reasonIn } from '../../../finding.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { DATABASE_FILE } from './open.ts';
import { surveyDatabase } from './survey.ts';

const say = about('database');
/** Larger than what one long transaction or a backup leaves behind. */
const WAL_BYTES_MAX = 1024 ** 3;

export interface DatabaseReport {
  findings: Finding[];
  /** The latest time in it, UTC ms; null: unknown. */
  newestMs: number | null;
  bytes: number;
}

export function checkDatabase(dataDir: string): DatabaseReport {
  const file = join(dataDir, DATABASE_FILE);
  const bytes = sizeOf(file);
  const report = (findings: Finding[], newestMs: number | null = null) => ({
    findings,
    newestMs,
    bytes,
  });
  if (!existsSync(file)) {
    const todo = "'gatepost serve' makes one, 'gatepost restore' puts a backup there";
    return report([say.warning(`there is no database in ${dataDir}`, todo)]);
  }
  try {
    const { schema, foreign, damage, newestMs } = surveyDatabase(file);
    const findings = [
      ...schemaFindings(schema),
      ...foreignFindings(foreign),
      ...damageFindings(damage),
      ...logFindings(sizeOf(`${file}-wal`)),
    ];
    const fine = say.ok(`${file} is whole, schema ${schema}, ${mib(bytes)} MiB`);
    return report(findings.length > 0 ? findings : [fine], newestMs);
  } catch (error) {
    const todo =
      "mend the data directory first; if the file is damaged, 'gatepost restore' puts a backup there";
    return report([say.problem(reasonIn(error), todo)]);
  }
}

function schemaFindings(schema: number): Finding[] {
  if (schema >= SCHEMA_VERSION) return [];
  const todo = "make a backup, then restart 'gatepost serve'";
  const what = `it has schema ${schema}, this program needs ${SCHEMA_VERSION}`;
  return [say.warning(what, todo)];
}

/** It would run with the program's rights; and a backup with it is worth nothing. */
function foreignFindings(foreign: string | null): Finding[] {
  if (foreign === null) return [];
  const todo = 'stop the server, see who put it there, and drop it with a shell of SQLite';
  return [say.problem(`it has ${foreign}, which is not Gatepost's: no backup is made of it`, todo)];
}

function damageFindings(damage: string | null): Finding[] {
  if (damage === null) return [];
  const todo = "stop the server and put the last good backup in place with 'gatepost restore'";
  return [say.problem(`it is damaged (${damage})`, todo)];
}

function logFindings(walBytes: number): Finding[] {
  if (walBytes <= WAL_BYTES_MAX) return [];
  const todo = 'end what holds it open for long: a shell of SQLite, a backup that hangs';
  return [say.warning(`its write-ahead log has ${mib(walBytes)} MiB`, todo)];
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

function mib(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}
