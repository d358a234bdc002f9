/**
 * Encryption of backups by a passphrase, in the age format (age-encryption.org/v1), through its
 * authors' own library: scrypt, then ChaCha20-Poly1305 in pieces of 64 KiB, each authenticated.
 */

import { OperatorError } from '../operator-error.ts';

export const AGE_MAGIC = 'age-encryption.org/v1\n';

/**
 * The work of a guess, as a power of two: 64 MiB of memory. The `age` tool's own choice takes four
 * times as long, and 256 MiB, which many a small machine lacks.
 */
const WORK_FACTOR = 16;
/** Factor of the `age` tool and of 0.2.0; a forged file could ask for any amount. */
const WORK_FACTOR_MAX = 18;
/** The header of a file with a passphrase and nothing else; the payload follows. */
const HEADER = new RegExp(
  `^${AGE_MAGIC}-> scrypt [A-Za-z0-9+/]{22} ([1-9]\\d?)\n[A-Za-z0-9+/]{43}\n--- [A-Za-z0-9+/]{43}\n`,
);
const HEADER_BYTES_MAX = 256;

type Bytes = AsyncIterable<Uint8Array>;

/** Loads the library when it is needed: every other command would start later for it. */
const library = () => import('age-encryption');

/**
 * Looks at the header of a file before the library does, which reads on until it has found one.
 * False: the file is not encrypted with a passphrase. Throws `OperatorError` when opening it would
 * take too much memory.
 */
export async function checkHeader(file: string): Promise<boolean> {
  const bytes = await Bun.file(file).slice(0, HEADER_BYTES_MAX).arrayBuffer();
  const factor = HEADER.exec(Buffer.from(bytes).toString('latin1'))?.[1];
  if (factor === undefined) return false;
  if (Number(factor) > WORK_FACTOR_MAX) {
    throw new OperatorError(
      `${file} was encrypted with work factor ${factor}: no more than ${WORK_FACTOR_MAX} is opened, which takes 256 MiB of memory`,
    );
  }
  return true;
}

/** Encrypts a stream; takes 64 MiB of memory for the key. */
export async function encrypted(plain: Bytes, passphrase: string): Promise<Bytes> {
  const { Encrypter } = await library();
  // The key takes by far the most memory of all: no garbage lies beside it.
  Bun.gc(true);
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(WORK_FACTOR);
  return encrypter.encrypt(streamOf(plain));
}

/**
 * Decrypts a stream. Throws `OperatorError` when the passphrase does not fit; the returned stream
 * throws when a piece has been changed or is missing.
 */
export async function decrypted(bytes: Bytes, passphrase: string): Promise<Bytes> {
  const { Decrypter } = await library();
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    return await decrypter.decrypt(streamOf(bytes));
  } catch (error) {
    if (error instanceof Error && /no identity matched/.test(error.message)) {
      throw new OperatorError(
        'the passphrase does not fit, or the beginning of the file is damaged',
      );
    }
    throw error;
  }
}

/** Pulls one piece at a time, so that nothing piles up. */
function streamOf(bytes: Bytes): ReadableStream<Uint8Array> {
  const pieces = bytes[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { value, done } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => {
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
