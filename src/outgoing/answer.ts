/** Answers, put together from what came of them. */

import { retryAfterMs } from '../core/outbox/retry-after.ts';
import { isTooFine } from '../slices.ts';
import type { OutgoingAnswer } from './call.ts';

/** Bytes that are let by so that the connection can be used again, beyond what is wanted. */
const LET_BY_BYTES = 64 * 1024;

const PIECE_BOUNDS = { piecesFree: 32, pieceBytesMin: 256 };

/** A body as it comes in, up to a number of bytes, and of pieces. */
export class Gathering {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #wholeBytes = 0;
  #pieces = 0;

  constructor(private readonly bytesMax: number) {}

  /** Bytes that came, wanted or not. */
  get wholeBytes(): number {
    return this.#wholeBytes;
  }

  /** Tells whether all that came was wanted. */
  get isAll(): boolean {
    return this.#bytes === this.#wholeBytes;
  }

  /** Takes a part; false: the rest is not worth waiting for. */
  take(chunk: Uint8Array): boolean {
    const wanted = chunk.subarray(0, this.bytesMax - this.#bytes);
    if (wanted.length > 0) this.#chunks.push(wanted);
    this.#bytes += wanted.length;
    this.#wholeBytes += chunk.length;
    this.#pieces += 1;
    if (isTooFine(this.#pieces, this.#wholeBytes, PIECE_BOUNDS)) return false;
    return this.isAll || this.#wholeBytes <= LET_BY_BYTES;
  }

  /** The text; a sign that is cut in two, or is none, becomes U+FFFD. */
  text(): string {
    return Buffer.concat(this.#chunks, this.#bytes).toString('utf8');
  }
}

export interface AnswerParts {
  status: number;
  header(name: string): string | null;
  body: Gathering;
  /** Whether its end came. */
  isOver: boolean;
}

/** Makes an answer; `nowMs` is the time at which it came. */
export function answerOf(
  { status, header, body, isOver }: AnswerParts,
  nowMs: number,
): OutgoingAnswer {
  // What was compressed against our wish stays packed: a small body can hold a huge one.
  const isPlain = (header('content-encoding') ?? 'identity').trim().toLowerCase() === 'identity';
  return {
    ...{ status, header, text: isPlain ? body.text() : '' },
    isWhole: isOver && body.isAll,
    retryAfterMs: retryAfterMs(header('retry-after'), nowMs),
  };
}
