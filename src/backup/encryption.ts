/**
 * Encryption of backups by a passphrase, in the age format (age-encryption.org/v1), by the library
 * of its authors: scrypt, then ChaCha20-Poly1305 in authenticated chunks of 64 KiB.
 */

import { OperatorError } from '../base/operator-error.ts';

export const AGE_MAGIC = 'age-encryption.org/v1\n';

/**
 * The cost of a guess, as a power of two: 64 MiB of memory. The default of the `age` tool takes
 * four times as long and 256 MiB, which small machines lack.
 */
const WORK_FACTOR = 16;
/** The factor of the `age` tool and of 0.2.0; a forged file could name any. */
const WORK_FACTOR_MAX = 18;
/** The header of a file that is encrypted with a passphrase; the payload follows. */
const HEADER = new RegExp(
  `^${AGE_MAGIC}-> scrypt [A-Za-z0-9+/]{22} ([1-9]\\d?)\n[A-Za-z0-9+/]{43}\n--- [A-Za-z0-9+/]{43}\n`,
);
const HEADER_BYTES_MAX = 256;

type Bytes = AsyncIterable<Uint8Array>;

/** Loads the library at its first use, so that other commands start faster. */
const library = () => import('age-encryption');

/**
 * Returns whether a file is encrypted with a passphrase; the library would search the whole file
 * for a header. Throws `OperatorError` if decryption would take too much memory.
 */
export async function checkHeader(file: string): Promise<boolean> {
  const bytes = await Bun.file(file).slice(0, HEADER_BYTES_MAX).arrayBuffer();
  const factor = HEADER.exec(Buffer.from(bytes).toString('latin1'))?.[1];
  if (factor === undefined) return false;
  if (Number(factor) > WORK_FACTOR_MAX) {
    throw new OperatorError(
      `${file} has work factor ${factor}: the limit is ${WORK_FACTOR_MAX}, which takes 256 MiB of memory`,
    );
  }
  return true;
}

/** Encrypts a stream; takes 64 MiB of memory for the key. */
export async function encrypted(plain: Bytes, passphrase: string): Promise<Bytes> {
  const { Encrypter } = await library();
  // The key takes most of the memory: collect garbage before.
  Bun.gc(true);
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(WORK_FACTOR);
  return encrypter.encrypt(streamOf(plain));
}

/**
 * Decrypts a stream. Throws `OperatorError` if the passphrase is wrong; the returned stream throws
 * if a chunk is changed or missing.
 */
export async function decrypted(bytes: Bytes, passphrase: string): Promise<Bytes> {
  const { Decrypter } = await library();
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    return await decrypter.decrypt(streamOf(bytes));
  } catch (error) {
    if (error instanceof Error && /no identity matched/.test(error.message)) {
      throw new OperatorError('the passphrase is wrong, or the beginning of the file is damaged');
    }
    throw error;
  }
}

/** Pulls one chunk at a time, so that memory stays bounded. */
function streamOf(bytes: Bytes): ReadableStream<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { value, done } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
