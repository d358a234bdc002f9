/**
 * The format of backup files: a line with the format, a line of JSON (the manifest), the database
 * as one zstd stream, and a line with the SHA-256 of all that in hexadecimal digits. With a
 * passphrase, this is the content of an age file, which the `age` tool opens. Everything is
 * streamed.
 */

import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import { TIME_MAX_MS } from '../core/calendar.ts';
import { isRecord, readJsonObject } from '../core/json-input.ts';
import { isRefused } from '../core/outcome.ts';
import type { Write } from '../store/kind.ts';
import { AGE_MAGIC, checkHeader, decrypted, encrypted } from './encryption.ts';

export const FORMAT = 1;
const MAGIC_NAME = 'gatepost-backup';
const MAGIC = `${MAGIC_NAME} ${FORMAT}\n`;
/** The last line: 64 digits and a line break. */
const TRAILER_BYTES = 65;
/** Bound of first line and manifest, which has a number for each table. */
const HEAD_BYTES_MAX = 64 * 1024;
const MANIFEST_BOUNDS = { bytesMax: HEAD_BYTES_MAX, valuesMax: 1_000 };
/** The largest zstd window, as a power of two. Backups need 2 MiB; a forged file could name any. */
const WINDOW_LOG_MAX = 23;
const READ_BYTES = 64 * 1024;

/** The description of a backup. */
export interface Manifest {
  format: number;
  /** Version that wrote it. */
  gatepost: string;
  /** Schema of the database; a program needs at least this one. */
  schema: number;
  /** Time of the snapshot, which has every write acknowledged before. UTC, ms. */
  created_at_ms: number;
  /** Size of the database, uncompressed. */
  database_bytes: number;
  database_sha256: string;
  rows: Readonly<Record<string, number>>;
}

type Bytes = AsyncIterable<Uint8Array>;
type Pieces = AsyncGenerator<Uint8Array, void>;

/** A damaged file. */
export class DamagedBackup extends OperatorError {
  constructor(message: string) {
    super(message, 'backup_damaged');
  }
}

/**
 * Writes the bytes of a database, `source`, and its manifest to the new file `target`, encrypted
 * unless `passphrase` is null. Settles after the sync. Throws the fault of the disk.
 */
export async function writeContainer(
  target: string,
  manifest: Manifest,
  source: Bytes,
  passphrase: string | null,
): Promise<void> {
  const plain = container(manifest, source);
  const output = await open(target, 'wx', 0o600);
  try {
    const bytes = passphrase === null ? plain : await encrypted(plain, passphrase);
    for await (const chunk of bytes) await output.writeFile(chunk);
    await output.sync();
  } finally {
    await output.close();
  }
}

async function* container(manifest: Manifest, source: Bytes): Pieces {
  const hash = createHash('sha256');
  const head = Buffer.from(`${MAGIC}${JSON.stringify(manifest)}\n`);
  hash.update(head);
  yield head;
  const zstd = createZstdCompress();
  const fed = pipeline(source, zstd);
  // A failure also ends the loop below, which throws it.
  fed.catch(() => undefined);
  for await (const chunk of zstd as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    yield chunk;
  }
  await fed;
  yield Buffer.from(`${hash.digest('hex')}\n`);
}

/**
 * Reads and verifies a backup. `begin` receives the manifest and returns the function that writes
 * the chunks of the database, never more than the manifest says; the chunks are worthless if this
 * throws. Throws {@link DamagedBackup}, or `OperatorError` if the passphrase is missing or wrong.
 */
export async function readContainer(
  file: string,
  passphrase: string | null,
  begin: (manifest: Manifest) => Promise<Write> | Write,
): Promise<Manifest> {
  const isEncrypted = (await kindOf(file)) === 'encrypted';
  if (isEncrypted && passphrase === null) {
    throw new OperatorError(`${file} is encrypted: give its passphrase with --passphrase-file`);
  }
  if (isEncrypted && !(await checkHeader(file))) {
    throw new DamagedBackup(`${file} is damaged (its header names no passphrase)`);
  }
  const raw = createReadStream(file, { highWaterMark: READ_BYTES });
  const own = new OwnFault();
  try {
    const bytes = raw as Bytes;
    const plain = isEncrypted ? await decrypted(bytes, passphrase as string) : bytes;
    return await readPlain(plain, async (manifest) => {
      const write = await own.guard(() => begin(manifest));
      return (chunk) => own.guard(() => write(chunk));
    });
  } catch (fault) {
    if (own.fault !== null) throw own.fault.cause;
    if (fault instanceof OperatorError && !(fault instanceof DamagedBackup)) throw fault;
    throw new DamagedBackup(`${file} is damaged (${messageOf(fault)})`);
  } finally {
    raw.destroy();
  }
}

/** Separates faults of the writer, such as a full disk, from those of the file. */
class OwnFault {
  fault: { cause: unknown } | null = null;

  async guard<T>(work: () => Promise<T> | T): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      this.fault = { cause };
      throw cause;
    }
  }
}

/** Returns the kind of a backup by its first bytes. Throws `OperatorError` if it is no backup. */
export async function kindOf(file: string): Promise<'plain' | 'encrypted'> {
  let start: string;
  try {
    // A read from a pipe would wait for its writer.
    if (!statSync(file).isFile()) throw new Error('it is not a regular file');
    const bytes = await Bun.file(file).slice(0, 64).arrayBuffer();
    start = Buffer.from(bytes).toString('latin1');
  } catch (error) {
    throw new OperatorError(`cannot read ${file}: ${messageOf(error)}`);
  }
  if (start.startsWith(AGE_MAGIC)) return 'encrypted';
  if (start.startsWith(MAGIC)) return 'plain';
  const format = /^gatepost-backup (\d{1,6})\n/.exec(start)?.[1];
  if (format !== undefined && Number(format) > FORMAT) {
    throw new OperatorError(
      `${file} has backup format ${format}: use a newer gatepost`,
      'database_newer',
    );
  }
  throw new DamagedBackup(`${file} is not a Gatepost backup, or its beginning is damaged`);
}

async function readPlain(
  plain: Bytes,
  begin: (manifest: Manifest) => Promise<Write>,
): Promise<Manifest> {
  const hash = createHash('sha256');
  const { manifest, rest } = await readHead(plain[Symbol.asyncIterator]());
  const write = await begin(manifest.value);
  hash.update(manifest.head);
  const body = new Body(rest, hash);
  const databaseHash = createHash('sha256');
  let databaseBytes = 0;
  const zstd = createZstdDecompress({
    params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX },
  });
  await pipeline(Readable.from(body.read()), zstd, async (chunks: Bytes) => {
    for await (const chunk of chunks) {
      databaseBytes += chunk.length;
      if (databaseBytes > manifest.value.database_bytes) throw new Error('it is too long');
      databaseHash.update(chunk);
      await write(chunk);
    }
  });
  if (body.trailer !== `${hash.digest('hex')}\n`) throw new Error('its checksum is wrong');
  if (databaseBytes !== manifest.value.database_bytes) throw new Error('it is too short');
  if (databaseHash.digest('hex') !== manifest.value.database_sha256) {
    throw new Error('the checksum of the database is wrong');
  }
  return manifest.value;
}

/** Reads the first two lines; returns them and the rest. */
async function readHead(chunks: AsyncIterator<Uint8Array>) {
  let seen = Buffer.alloc(0);
  for (;;) {
    const end = seen.indexOf(10, MAGIC.length);
    if (end >= 0) {
      const head = seen.subarray(0, end + 1);
      return { manifest: { head, value: parseHead(head) }, rest: rest(seen.subarray(end + 1)) };
    }
    if (seen.length > HEAD_BYTES_MAX) throw new Error('it has no manifest');
    const { value, done } = await chunks.next();
    if (done) throw new Error('it is truncated');
    seen = Buffer.concat([seen, value]);
  }
  async function* rest(first: Uint8Array): Pieces {
    yield first;
    for (;;) {
      const { value, done } = await chunks.next();
      if (done) return;
      yield value;
    }
  }
}

function parseHead(head: Buffer): Manifest {
  if (!head.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC))) {
    throw new Error('its first line is not that of a backup');
  }
  const read = readJsonObject(head.subarray(MAGIC.length), MANIFEST_BOUNDS, 'its manifest');
  if (isRefused(read)) throw new Error(read.detail);
  if (!isManifest(read)) throw new Error('its manifest is invalid');
  return read;
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isLike = (value: unknown, pattern: RegExp) =>
  typeof value === 'string' && pattern.test(value);

/** Checks type and bounds of every value, so that all can be printed. */
function isManifest(value: object): value is Manifest {
  const manifest: Partial<Record<keyof Manifest, unknown>> = value;
  const { rows } = manifest;
  return (
    manifest.format === FORMAT &&
    isLike(manifest.gatepost, /^[\x21-\x7e]{1,64}$/) &&
    isCount(manifest.schema) &&
    isCount(manifest.created_at_ms) &&
    Number(manifest.created_at_ms) <= TIME_MAX_MS &&
    isCount(manifest.database_bytes) &&
    isLike(manifest.database_sha256, /^[0-9a-f]{64}$/) &&
    isRecord(rows) &&
    Object.entries(rows).every(([table, count]) => isLike(table, /^\w{1,64}$/) && isCount(count))
  );
}

/** Yields everything but the last line, which is known only at the end. */
class Body {
  trailer = '';

  constructor(
    readonly chunks: Bytes,
    readonly hash: { update(chunk: Uint8Array): unknown },
  ) {}

  async *read(): Pieces {
    let held = Buffer.alloc(0);
    for await (const chunk of this.chunks) {
      held = Buffer.concat([held, chunk]);
      if (held.length <= TRAILER_BYTES) continue;
      const part = held.subarray(0, held.length - TRAILER_BYTES);
      held = held.subarray(held.length - TRAILER_BYTES);
      this.hash.update(part);
      yield part;
    }
    this.trailer = held.toString('latin1');
  }
}
