/** Makes answers of calls from their heads and bodies. */

import { retryAfterMs } from '../core/outbox/retry-after.ts';
import type { OutgoingAnswer } from './call.ts';
import { isTooFine } from './slices.ts';

/** Bytes that are read and dropped to keep the connection usable for another call. */
const LET_BY_BYTES = 64 * 1024;

const PIECE_BOUNDS = { piecesFree: 32, pieceBytesMin: 256 };

/** The body of an answer, bounded in bytes and pieces. */
export class BodyBuffer {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #wholeBytes = 0;
  #pieces = 0;

  constructor(private readonly bytesMax: number) {}

  /** Bytes that arrived, kept or dropped. */
  get wholeBytes(): number {
    return this.#wholeBytes;
  }

  /** Returns whether every byte was kept. */
  get isAll(): boolean {
    return this.#bytes === this.#wholeBytes;
  }

  /** Adds a part. Returns false if the rest should not be read. */
  add(chunk: Uint8Array): boolean {
    const wanted = chunk.subarray(0, this.bytesMax - this.#bytes);
    if (wanted.length > 0) this.#chunks.push(wanted);
    this.#bytes += wanted.length;
    this.#wholeBytes += chunk.length;
    this.#pieces += 1;
    if (isTooFine(this.#pieces, this.#wholeBytes, PIECE_BOUNDS)) return false;
    return this.isAll || this.#wholeBytes <= LET_BY_BYTES;
  }

  /** Returns the text; a character that is cut in two or invalid becomes U+FFFD. */
  text(): string {
    return Buffer.concat(this.#chunks, this.#bytes).toString('utf8');
  }
}

interface AnswerParts {
  status: number;
  header(name: string): string | null;
  body: BodyBuffer;
  /** True: the body arrived to its end. */
  isOver: boolean;
}

/** Makes an answer; `nowMs` is the time at which it arrived. */
export function answerOf(
  { status, header, body, isOver }: AnswerParts,
  nowMs: number,
): OutgoingAnswer {
  // An answer that is compressed against our request is not decompressed: a small one can become
  // huge.
  const isPlain = (header('content-encoding') ?? 'identity').trim().toLowerCase() === 'identity';
  return {
    status,
    header,
    text: isPlain ? body.text() : '',
    isWhole: isOver && body.isAll,
    retryAfterMs: retryAfterMs(header('retry-after'), nowMs),
  };
}
