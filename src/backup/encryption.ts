/**
 * Encryption of backups by a passphrase, as the age format (age-encryption.org/v1) has it, through
 * its authors' own library: scrypt, then ChaCha20-Poly1305 in pieces of 64 KiB, each of which is
 * authenticated.
 */

import { OperatorError } from '../operator-error.ts';

export const AGE_MAGIC = 'age-encryption.org/v1\n';

type Bytes = AsyncIterable<Uint8Array>;

/** Loaded when it is needed: every other command would start later for it. */
const library = () => import('age-encryption');

export async function encrypted(plain: Bytes, passphrase: string): Promise<Bytes> {
  const { Encrypter } = await library();
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  return encrypter.encrypt(streamOf(plain));
}

/**
 * Throws OperatorError when the passphrase does not fit; what it gives throws when a piece has been
 * changed or is missing.
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
