/** Reads the JSON object of a POST, and no more of it than it may be long. */

import { isRecord, type Problem, problem } from '../core/json-input.ts';

export const BODY_BYTES_MAX = 256 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The JSON object in a request's body, whatever content type it says. One that is longer than
 * {@link BODY_BYTES_MAX} is refused without being read to its end.
 */
export async function readJsonObject(
  request: Request,
): Promise<{ object: Readonly<Record<string, unknown>> } | Problem> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  let bytes: Uint8Array | null;
  try {
    bytes = declared > BODY_BYTES_MAX ? null : await readBytes(request);
  } catch {
    // The client is gone, or what it sent is not framed as it said: not a fault of ours.
    return problem('the body was not sent to its end');
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
