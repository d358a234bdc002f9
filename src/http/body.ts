/** Reads the JSON object of a POST: no more than it may be long, no longer than it may take. */

import { isRecord, type Problem, problem } from '../core/json-input.ts';

export const BODY_BYTES_MAX = 256 * 1024;
/**
 * How long a body may take to arrive, ms. Bun's own limit (16 KiB a second, over the idle time of
 * 30 s) closes the connection without a word.
 */
export const BODY_TIME_MAX_MS = 15_000;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The JSON object in a request's body, whatever content type it says. One that is longer than
 * {@link BODY_BYTES_MAX}, or has not arrived after `timeMaxMs`, is refused without being read to
 * its end.
 */
export async function readJsonObject(
  request: Request,
  timeMaxMs: number,
): Promise<{ object: Readonly<Record<string, unknown>> } | (Problem & { isLate?: true })> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  let bytes: Uint8Array | null | typeof LATE;
  try {
    bytes = declared > BODY_BYTES_MAX ? null : await inTime(readBytes(request), timeMaxMs);
  } catch {
    // The client is gone, or what it sent is not framed as it said: not a fault of ours.
    return problem('the body was not sent to its end');
  }
  if (bytes === LATE) {
    return { ...problem(`the body did not arrive within ${timeMaxMs / 1000} s`), isLate: true };
  }
  if (bytes === null) return problem(`the body must not be longer than ${BODY_BYTES_MAX} bytes`);
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    if (isRecord(value)) return { object: value };
  } catch {
    // Not UTF-8 or not JSON: said below.
  }
  return problem('the body must be a JSON object in UTF-8');
}

/** Null: it is too long. */
async function readBytes(request: Request): Promise<Uint8Array | null> {
  if (request.headers.has('content-length')) {
    const whole = await request.bytes();
    return whole.length > BODY_BYTES_MAX ? null : whole;
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return null;
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
