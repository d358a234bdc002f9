/** Reads the JSON object of a POST, within bounds of size and time. */

import { unlessAborted } from '../../base/deadline.ts';
import { REQUEST_BOUNDS, readJsonObject } from '../../core/json-input.ts';
import { type Misfit, malformed, Refused } from '../../core/outcome.ts';
import { LARGE_BYTES, type Place } from '../bound/room.ts';

/**
 * The time that a body may take to arrive, ms. Bun's own limit (16 KiB a second, over the idle time
 * of 30 s) closes the connection without an answer.
 */
export const BODY_TIME_MAX_MS = 15_000;

/**
 * Reads the JSON object in a request's body, of any content type. Returns a misfit, without reading
 * the rest, if the body is longer than `bytesMax`, if `enter` has no place for a large one, or
 * (`late`) if it has not arrived after `timeMaxMs`.
 */
export async function readBody(
  request: Request,
  bytesMax: number,
  timeMaxMs: number,
  { enter, turn }: { enter(bytes: number): Promise<Place | null>; turn(): Promise<void> },
): Promise<Readonly<Record<string, unknown>> | Misfit<'malformed' | 'over_bounds' | 'late'>> {
  const declared = Number(request.headers.get('content-length') ?? bytesMax);
  if (declared > bytesMax) return tooLong(bytesMax);
  const place = declared < LARGE_BYTES ? null : await enter(declared);
  if (place === null && declared >= LARGE_BYTES) return malformed(TOO_MANY);
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), timeMaxMs);
  let bytes: Uint8Array | typeof TOO_LONG | null;
  try {
    bytes = await unlessAborted(patience.signal, readBytes(request, bytesMax));
  } catch {
    // The client has disconnected or framed its body wrongly: no fault of the server.
    return malformed('the body was not sent to its end');
  } finally {
    clearTimeout(timer);
    place?.leave();
  }
  if (bytes === null) {
    const detail = `the body did not arrive within ${timeMaxMs / 1000} s`;
    return new Refused('late', { detail }) as Misfit<'late'>;
  }
  if (bytes === TOO_LONG) return tooLong(bytesMax);
  if (bytes.length >= LARGE_BYTES) await turn();
  return readJsonObject(bytes, { ...REQUEST_BOUNDS, bytesMax }, 'the body');
}

/**
 * Reads the form of a page. Returns null if it is longer than `bytesMax`, did not arrive in time or
 * to its end, or is no form.
 */
export async function readForm(
  request: Request,
  bytesMax: number,
  timeMaxMs: number,
): Promise<URLSearchParams | null> {
  const { headers } = request;
  const isForm = headers.get('content-type')?.startsWith('application/x-www-form-urlencoded');
  if (!isForm || Number(headers.get('content-length') ?? bytesMax) > bytesMax) return null;
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), timeMaxMs);
  try {
    const bytes = await unlessAborted(patience.signal, readBytes(request, bytesMax));
    if (bytes === null || bytes === TOO_LONG) return null;
    return new URLSearchParams(new TextDecoder().decode(bytes));
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

const TOO_MANY = 'too many large bodies are under way: send them one after the other';

function tooLong(bytesMax: number): Misfit {
  return malformed(`the body must not be longer than ${bytesMax} bytes`);
}

/** Discards an unread body: Bun would keep a megabyte of it until the answer. */
export function dropBody(request: Request): void {
  if (!request.bodyUsed) void request.body?.cancel().catch(() => {});
}

const TOO_LONG = Symbol('too long');

/** Reads the bytes of a body. */
async function readBytes(
  request: Request,
  bytesMax: number,
): Promise<Uint8Array | typeof TOO_LONG> {
  // Bun returns no more than was declared.
  if (request.headers.has('content-length')) return request.bytes();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) return TOO_LONG;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
