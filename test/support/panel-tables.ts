/**
 * Databases of panels as they are on their servers: the tables of each panel's own migrations, as
 * a SQLite file or as pg_dump and mysqldump write them.
 */

import { Database } from 'bun:sqlite';
import { rmSync } from 'node:fs';

export type Row = Readonly<Record<string, string | number | boolean | null>>;

export interface PanelTable {
  name: string;
  /** The definition in the dialect of the panel's database. */
  definition: string;
  rows: readonly Row[];
}

/** Writes a SQLite file; `isOpen` keeps it open, in WAL mode, as a running panel does. */
export function writeSqlite(file: string, tables: readonly PanelTable[], isWal = false): Database {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
  const db = new Database(file);
  if (isWal) db.run('PRAGMA journal_mode = WAL');
  db.transaction(() => {
    for (const { name, definition, rows } of tables) {
      db.run(definition);
      const columns = Object.keys(rows[0] ?? {});
      if (columns.length === 0) continue;
      const insert = db.query(
        `INSERT INTO "${name}" (${columns.map((column) => `"${column}"`).join(', ')})
         VALUES (${columns.map(() => '?').join(', ')})`,
      );
      for (const row of rows) insert.run(...columns.map((column) => row[column] ?? null));
    }
  })();
  return db;
}

const copied = (value: Row[string]) => {
  if (value === null) return '\\N';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return String(value)
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
};

const PG_HEAD = '--\n-- PostgreSQL database dump\n--\n\nSET standard_conforming_strings = on;\n';
const PG_END = '--\n-- PostgreSQL database dump complete\n--\n';

/** Returns what pg_dump writes. */
export function pgDump(tables: readonly PanelTable[]): string {
  const parts = tables.map(({ name, definition, rows }) => {
    const columns = Object.keys(rows[0] ?? {});
    const lines = rows.map((row) =>
      columns.map((column) => copied(row[column] ?? null)).join('\t'),
    );
    return [
      `--\n-- Name: ${name}; Type: TABLE; Schema: public; Owner: postgres\n--\n`,
      `${definition}\n\nALTER TABLE public.${name} OWNER TO postgres;\n`,
      `--\n-- Data for Name: ${name}; Type: TABLE DATA; Schema: public; Owner: postgres\n--\n`,
      ...(columns.length > 0 ? [`COPY public.${name} (${columns.join(', ')}) FROM stdin;`] : []),
      ...lines,
      ...(columns.length > 0 ? ['\\.\n\n'] : []),
    ].join('\n');
  });
  return `${PG_HEAD}\n${parts.join('\n')}\n${PG_END}`;
}

const quotedInPostgres = (value: Row[string]) => {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
};

/** Returns what `pg_dump --inserts` writes: line breaks stand in texts as they are. */
export function pgInserts(tables: readonly PanelTable[]): string {
  const parts = tables.map(({ name, definition, rows }) =>
    [
      `${definition}\n`,
      ...rows.map(
        (row) =>
          `INSERT INTO public.${name} VALUES (${Object.values(row).map(quotedInPostgres).join(', ')});`,
      ),
    ].join('\n'),
  );
  return `${PG_HEAD}\n${parts.join('\n\n')}\n${PG_END}`;
}

const quotedInMysql = (value: Row[string]) => {
  if (value === null) return 'NULL';
  if (typeof value !== 'string') return String(Number(value));
  const escaped = value
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
  return `'${escaped}'`;
};

/** Returns what mysqldump writes: rows of many users in one line, without names of columns. */
export function mysqlDump(tables: readonly PanelTable[]): string {
  const parts = tables.map(({ name, definition, rows }) => {
    const tuples = rows.map((row) => `(${Object.values(row).map(quotedInMysql).join(',')})`);
    const inserts: string[] = [];
    for (let at = 0; at < tuples.length; at += 500) {
      inserts.push(`INSERT INTO \`${name}\` VALUES ${tuples.slice(at, at + 500).join(',')};`);
    }
    return [
      `DROP TABLE IF EXISTS \`${name}\`;`,
      '/*!40101 SET @saved_cs_client     = @@character_set_client */;',
      definition,
      `LOCK TABLES \`${name}\` WRITE;`,
      `/*!40000 ALTER TABLE \`${name}\` DISABLE KEYS */;`,
      ...inserts,
      `/*!40000 ALTER TABLE \`${name}\` ENABLE KEYS */;`,
      'UNLOCK TABLES;',
    ].join('\n');
  });
  return `/*!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n\n${parts.join('\n\n')}\n-- Dump completed on 2026-11-28  6:23:52\n`;
}
