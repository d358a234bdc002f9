/** The doctor's check of a database on PostgreSQL. */

import type { SQL } from 'bun';
import { systemClock } from '../../base/clock.ts';
import { about, type Finding } from '../../base/finding.ts';
import { messageOf } from '../../base/operator-error.ts';
import { newerSchemaFinding, olderSchemaFinding } from '../findings.ts';
import type { DatabaseReport, HostsOf } from '../kind.ts';
import { disabledFindings } from '../noun/disabled-findings.ts';
import { leapFindings } from '../noun/leap-findings.ts';
import { reportOf, surveyContents } from '../noun/survey.ts';
import { type DatabaseOptions, poolOptions } from './database-options.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import { isUsable, type MoveMark, SCHEMA_VERSION, schemaOf } from './migrate.ts';
import { runnerOn } from './pools.ts';
import { surveyServer } from './survey-server.ts';

const say = about('database');
/** Silence after which a node counts as away: each writes every 5 s, ms. */
const SILENT_MS = 15_000;
const MIB = 1024 ** 2;

/** Reads a database for a diagnosis, and changes nothing. */
export async function surveyPostgres(
  place: DatabaseOptions,
  hostsOf: HostsOf,
): Promise<DatabaseReport> {
  const sql = new Bun.SQL(poolOptions(place, 1));
  try {
    const state = await schemaOf((text) => sql.unsafe(text).simple());
    if (state === null) {
      const todo = "'gatepost serve' makes it, 'gatepost move-database' fills it";
      const finding = say.warning('database_missing', 'there is no Gatepost in the database', todo);
      return reportOf([finding, ...(await surveyServer(sql, place, 0, systemClock))]);
    }
    if (state.move !== null) return reportOf([moveFinding(state.move, state.movedTo)]);
    if (!isUsable(state)) return reportOf([schemaFinding(state.version, state.program)]);
    const contents = await runOn(runnerOn(sql), surveyContents(STATEMENTS, hostsOf));
    const facts = await readFacts(sql);
    const nodes = await listNodes(sql);
    const serving = nodes.filter(({ silentMs }) => silentMs < SILENT_MS);
    const findings = [
      say.ok(`it has schema ${state.version}, ${Math.round(facts.bytes / MIB)} MiB`),
      ...(await surveyServer(sql, place, serving.length, systemClock)),
      ...nodeFindings(nodes, serving),
      ...(await sequenceFindings(sql)),
      ...(await sealFindings(sql)),
      ...disabledFindings(contents.disabled),
      ...leapFindings(contents.times),
    ];
    const others = serving.filter(({ name }) => name !== place.node);
    const ofNodes = nodes.map(({ name }) => ({ kind: 'node' as const, name }));
    return reportOf(
      findings,
      { ...contents, names: [...contents.names, ...ofNodes] },
      { ...facts, otherNodes: others.map(({ name }) => name) },
    );
  } catch (error) {
    const todo =
      'check that PostgreSQL runs, that database.url is right, and that the role may log in';
    return reportOf([
      say.problem('database_unreachable', `it cannot be asked: ${messageOf(error)}`, todo),
    ]);
  } finally {
    await sql.close({ timeout: 0 });
  }
}

function moveFinding(move: MoveMark, movedTo: string | null): Finding {
  return move === 'left'
    ? say.problem(
        'database_moved',
        `its data moved to ${movedTo ?? 'a file'}`,
        "leave out database.url there, or bring them back with 'gatepost move-database'",
      )
    : say.problem(
        'database_move_unfinished',
        'its data have not all arrived',
        "run 'gatepost move-database' again",
      );
}

function schemaFinding(schema: number, program: string | null): Finding {
  if (schema < SCHEMA_VERSION) return olderSchemaFinding(schema, SCHEMA_VERSION);
  return newerSchemaFinding(schema, SCHEMA_VERSION, program);
}

interface SeenNode {
  name: string;
  version: string;
  silentMs: number;
}

async function listNodes(sql: SQL): Promise<SeenNode[]> {
  return (await sql`
    SELECT name, version,
      (extract(epoch FROM clock_timestamp()) * 1000 - seen_at_ms)::float8 AS "silentMs"
    FROM node ORDER BY name, id`) as SeenNode[];
}

function nodeFindings(nodes: readonly SeenNode[], serving: readonly SeenNode[]): Finding[] {
  const todo = "look at that machine; 'gatepost node list' forgets it an hour after its last sign";
  const silent = nodes
    .filter((node) => !serving.includes(node))
    .map(({ name, silentMs }) => {
      const what = `node ${name} has been silent for ${Math.round(silentMs / 1000)} s`;
      return say.warning('node_silent', what, todo, name);
    });
  const names = serving.map(({ name, version }) => `${name} (${version})`).join(', ');
  return serving.length > 0 ? [say.ok(`it is served by ${names}`), ...silent] : silent;
}

/** Finds sequences whose next id is taken, for example after rows were added by hand. */
async function sequenceFindings(sql: SQL): Promise<Finding[]> {
  const tables = (await sql`
    SELECT c.relname AS name, a.attname AS column,
      pg_get_serial_sequence(c.oid::regclass::text, a.attname) AS sequence
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE a.attidentity <> '' AND c.relnamespace = current_schema()::regnamespace
      AND c.relkind = 'r'`) as { name: string; column: string; sequence: string }[];
  const findings: Finding[] = [];
  for (const { name, column, sequence } of tables) {
    // In this order, because rows added meanwhile raise the sequence, which is read later.
    const max = await numberIn(sql`SELECT coalesce(max(${sql(column)}), 0) FROM ${sql(name)}`);
    const last = await numberIn(
      sql`SELECT coalesce(pg_sequence_last_value(${sequence}::regclass), 0)`,
    );
    if (max <= last) continue;
    const what = `the next id of ${name} is taken: the sequence is at ${last}, the rows at ${max}`;
    // Only forward: a sequence that is set back would give ids twice.
    const todo = `SELECT max(nextval('${sequence}')) FROM generate_series(1, ${max - last})`;
    findings.push(say.problem('sequence_behind', what, todo, name));
  }
  return findings;
}

/** Finds entries of the audit log that no node seals. */
async function sealFindings(sql: SQL): Promise<Finding[]> {
  const ageMs = await numberIn(sql`
    SELECT extract(epoch FROM clock_timestamp()) * 1000 - min(at_ms) FROM audit_pending`);
  if (ageMs < 60_000) return [];
  const what = `entries of the audit log have waited for the chain for ${Math.round(ageMs / 1000)} s`;
  const todo = "a server puts them there, and so does 'gatepost audit list'";
  return [say.warning('audit_not_sealed', what, todo)];
}

async function readFacts(sql: SQL): Promise<Pick<DatabaseReport, 'newestMs' | 'bytes'>> {
  const [newest] =
    await sql`SELECT at_ms::float8 AS ms FROM audit ORDER BY last_number DESC LIMIT 1`;
  const bytes = await numberIn(sql`SELECT pg_database_size(current_database())`);
  return { newestMs: newest?.ms ?? null, bytes };
}

/** Returns the only value of a result as a number; 0 for null. */
async function numberIn(asked: Promise<unknown>): Promise<number> {
  const [row] = (await asked) as Record<string, unknown>[];
  return Number(Object.values(row ?? {})[0] ?? 0);
}
