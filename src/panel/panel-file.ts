/** Reads the database of a panel from a file: SQLite, or a dump as text, perhaps gzipped. */

import { PANEL_SCHEMAS, type PanelRows } from '../core/moving/panel.ts';
import type { PanelKind } from '../core/panel/kind.ts';
import { OperatorError } from '../operator-error.ts';
import { RowSink } from './rows.ts';
import { readSqlDump } from './sql-dump.ts';
import { readSqliteFile, SQLITE_MAGIC } from './sqlite-file.ts';

/** The first bytes of a dump that only PostgreSQL's own tools can read. */
const ARCHIVE_MAGIC = 'PGDMP';
const GZIP = [0x1f, 0x8b];

/**
 * Reads the tables of a panel; `-` is a dump on stdin. Throws {@link OperatorError} if the file is
 * no database or dump of the panel.
 */
export async function readPanelFile(
  path: string,
  panel: PanelKind,
  isStopped: () => boolean,
): Promise<PanelRows> {
  const origin = path === '-' ? 'stdin' : path;
  const sink = new RowSink(PANEL_SCHEMAS[panel], origin, isStopped);
  if (path === '-') {
    await readSqlDump(textOf(Bun.stdin.stream()), sink);
    return sink.finish(panel);
  }
  try {
    const file = Bun.file(path);
    const head = new Uint8Array(await file.slice(0, 16).arrayBuffer());
    const magic = new TextDecoder('latin1').decode(head);
    if (magic === SQLITE_MAGIC) await readSqliteFile(path, sink);
    else if (magic.startsWith(ARCHIVE_MAGIC)) {
      throw new OperatorError(
        `${path} is an archive of pg_dump: make a text of it by pg_restore -f`,
      );
    } else {
      const isGzip = GZIP.every((byte, at) => head[at] === byte);
      const bytes = file.stream();
      const plain = isGzip ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes;
      await readSqlDump(textOf(plain), sink);
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read ${path}: ${(error as Error).message}`);
  }
  return sink.finish(panel);
}

async function* textOf(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
