/** Answers, put together from what came of them. */

import { retryAfterMs } from '../core/outbox/retry-after.ts';
import type { OutgoingAnswer } from './call.ts';

/** A body as it comes in, up to a number of bytes. */
export class Gathering {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** Takes a part; false: the body is longer than is wanted. */
  take(chunk: Uint8Array): boolean {
    const room = this.bytesMax - this.#bytes;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.#bytes += Math.min(chunk.length, room);
    return chunk.length <= room;
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
  isWhole: boolean;
}

/** Makes an answer; `nowMs` is the time at which it came. */
export function answerOf(
  { status, header, body, isWhole }: AnswerParts,
  nowMs: number,
): OutgoingAnswer {
  // What was compressed against our wish stays packed: a small body can hold a huge one.
  const isPlain = (header('content-encoding') ?? 'identity').trim().toLowerCase() === 'identity';
  const asked = retryAfterMs(header('retry-after'), nowMs);
  return { status, header, text: isPlain ? body.text() : '', isWhole, retryAfterMs: asked };
}
