/** Reads the JSON object of a POST: no more than it may be long, no longer than it may take. */

import { type Problem, problem, REQUEST_BOUNDS, readJsonObject } from '../core/json-input.ts';

/**
 * How long a body may take to arrive, ms. Bun's own limit (16 KiB a second, over the idle time of
 * 30 s) closes the connection without a word.
 */
export const BODY_TIME_MAX_MS = 15_000;

/**
 * The JSON object in a request's body, whatever content type it says. One that is longer than
 * `bytesMax`, or has not arrived after `timeMaxMs`, is refused without being read to its end.
 */
export async function readBody(
  request: Request,
  bytesMax: number,
  timeMaxMs: number,
): Promise<{ object: Readonly<Record<string, unknown>> } | (Problem & { isLate?: true })> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  let bytes: Uint8Array | null | typeof LATE;
  try {
    bytes = declared > bytesMax ? null : await inTime(readBytes(request, bytesMax), timeMaxMs);
  } catch {
    // The client is gone, or what it sent is not framed as it said: not a fault of ours.
    return problem('the body was not sent to its end');
  }
  if (bytes === LATE) {
    return { ...problem(`the body did not arrive within ${timeMaxMs / 1000} s`), isLate: true };
  }
  if (bytes === null) return problem(`the body must not be longer than ${bytesMax} bytes`);
  return readJsonObject(bytes, { ...REQUEST_BOUNDS, bytesMax }, 'the body');
}

/** Null: it is too long. */
async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array | null> {
  // Bun gives no more than was declared.
  if (request.headers.has('content-length')) return request.bytes();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const LATE = Symbol('late');

async function inTime<T>(reading: Promise<T>, timeMaxMs: number): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), timeMaxMs);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}
