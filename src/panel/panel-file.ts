/** Reads the database of a panel from a file: SQLite, or a dump as text, perhaps gzipped. */

import { OperatorError } from '../base/operator-error.ts';
import type { PanelRows, PanelSchema } from '../core/panel/cells.ts';
import { PANEL_TRAITS } from '../core/panel/index.ts';
import type { PanelKind } from '../core/panel/kind.ts';
import { nextTurn } from '../core/turn.ts';
import { type Reading, RowSink } from './rows.ts';
import { readSqlDump } from './sql-dump.ts';
import { readSqliteFile, SQLITE_MAGIC } from './sqlite-file.ts';

/** The first bytes of a dump that only PostgreSQL's own tools can read. */
const ARCHIVE_MAGIC = 'PGDMP';
const GZIP = [0x1f, 0x8b];
/** The bytes by which the kind of a file is known. */
const HEAD_BYTES = 16;
/** The longest text of a dump, which a small gzipped file can hold. */
const TEXT_BYTES_MAX = 64 * 1024 ** 3;
/** Time between two signs while stdin has nothing, ms: `pg_dump` may ask for a password. */
const SIGN_MS = 1_000;

/**
 * Reads the tables of a panel; `-` is a dump on stdin. Throws {@link OperatorError} if the file is
 * no database or dump of the panel.
 */
export async function readPanelFile(
  path: string,
  panel: PanelKind,
  reading: Reading & { schema?: PanelSchema },
): Promise<PanelRows> {
  const origin = path === '-' ? 'stdin' : path;
  const sink = new RowSink(reading.schema ?? PANEL_TRAITS[panel].database, origin, reading);
  try {
    const magic = path === '-' ? '' : await Bun.file(path).slice(0, HEAD_BYTES).text();
    if (magic === SQLITE_MAGIC) await readSqliteFile(path, sink);
    else await readDump(path === '-' ? streamOf(stdinChunks(sink)) : Bun.file(path).stream(), sink);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read ${origin}: ${(error as Error).message}`);
  }
  return sink.finish(panel);
}

/** Reads a dump, perhaps gzipped: its first bytes say so. */
async function readDump(bytes: ReadableStream<Uint8Array>, sink: RowSink): Promise<void> {
  const outer = await headOf(bytes);
  const plain = outer.isGzip
    ? await headOf(streamOf(outer.chunks).pipeThrough(new DecompressionStream('gzip')))
    : outer;
  if (plain.isSqlite) {
    throw new OperatorError(`${sink.origin} is a SQLite file: give it by its path, unpacked`);
  }
  if (plain.isArchive) {
    throw new OperatorError(
      `${sink.origin} is an archive of pg_dump: make a text of it by pg_restore -f`,
    );
  }
  await readSqlDump(textOf(plain.chunks, sink.origin), sink);
}

/** Reads the first bytes of a stream; `chunks` has all of it. */
async function headOf(bytes: ReadableStream<Uint8Array>) {
  const reader = bytes.getReader();
  const first: Uint8Array[] = [];
  for (let size = 0; size < HEAD_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) break;
    first.push(value);
    size += value.length;
  }
  const head = Buffer.concat(first).subarray(0, HEAD_BYTES);
  const magic = head.toString('latin1');
  return {
    isGzip: GZIP.every((byte, at) => head[at] === byte),
    isSqlite: magic === SQLITE_MAGIC,
    isArchive: magic.startsWith(ARCHIVE_MAGIC),
    chunks: chunksOf(first, reader),
  };
}

async function* chunksOf(
  first: readonly Uint8Array[],
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> },
): AsyncGenerator<Uint8Array> {
  yield* first;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return;
    yield value;
  }
}

const streamOf = (chunks: AsyncGenerator<Uint8Array>) =>
  new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
  });

/** Yields standard input; gives signs while it has nothing. */
async function* stdinChunks({ reading }: RowSink): AsyncGenerator<Uint8Array> {
  const reader = Bun.stdin.stream().getReader();
  for (;;) {
    const waiting = setInterval(reading.onSign, SIGN_MS);
    const { done, value } = await reader.read();
    clearInterval(waiting);
    if (done) return;
    yield value;
  }
}

async function* textOf(chunks: AsyncIterable<Uint8Array>, origin: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    // A file is read without a turn: without one no timer would run.
    await nextTurn();
    if (size > TEXT_BYTES_MAX) {
      throw new OperatorError(`${origin} has more than 64 GiB of text: dump only the users`);
    }
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}
