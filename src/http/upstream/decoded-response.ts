/**
 * Decodes responses of panels for clients that take no encoding: some panels compress for all, and
 * v2rayN and PassWall decode nothing. Bounded, and as it arrives.
 */

import { pipeline, Readable, type Transform } from 'node:stream';
import { acceptsCoding } from '../request/coding.ts';
import { codingOf, makeDecoder } from './decoder.ts';
import { type Bounds, Failure, type UpstreamResponse } from './exchange.ts';
import { describeDecoded, varyBy } from './headers.ts';

/** The most decoded bytes for an encoded one. */
const RATIO_MAX = 100;
/** Decoded bytes that may exceed the ratio: a short list of like servers does. */
const FREE_BYTES = 64 * 1024;
/** Decoded bytes that are gathered, so that a short response has a length, and fails whole. */
const WHOLE_BYTES_MAX = 128 * 1024;

interface Reading extends Pick<Bounds, 'answerBytesMax'> {
  /** The `Accept-Encoding` of the client; null: it sent none. */
  accepted: string | null;
  /** Called if the response cannot be decoded. If the panel breaks off, its exchange says so. */
  onFailure(failure: Failure): void;
}

/**
 * Returns the response as the client can read it: unchanged if it takes the encoding, if that is
 * unknown, or if the response is a part. Returns the failure of a short response that is complete;
 * a longer one is cut off.
 */
export async function decodedFor(
  response: UpstreamResponse,
  reading: Reading,
): Promise<UpstreamResponse | Failure> {
  const { headers, status } = response;
  const coding = codingOf(headers.get('content-encoding'));
  const decoder = makeDecoder(coding);
  if (decoder === null) return response;
  varyBy(headers, ['accept-encoding']);
  if (status === PARTIAL || acceptsCoding(reading.accepted, coding)) return response;
  describeDecoded(headers);
  const encoded = response.body();
  if (encoded === null) return { ...response, body: () => null };
  const parts = decodedParts(encoded, decoder, reading);
  if (!(encoded instanceof Uint8Array)) return { ...response, body: () => streamOf(parts) };
  const first: Uint8Array[] = [];
  try {
    for (let length = 0; length <= WHOLE_BYTES_MAX; ) {
      const { done, value } = await parts.next();
      if (done) return { ...response, body: () => Buffer.concat(first) };
      first.push(value);
      length += value.length;
    }
  } catch (fault) {
    if (fault instanceof Broken) return fault.failure;
    throw fault;
  }
  return { ...response, body: () => streamOf(joined(first, parts)) };
}

const PARTIAL = 206;

/** The fault of an encoding. */
class Broken extends Error {
  constructor(readonly failure: Failure) {
    super(failure.code);
  }
}

/** Yields the decoded bytes. Throws {@link Broken}, or the fault of the source. */
async function* decodedParts(
  encoded: Uint8Array | ReadableStream<Uint8Array>,
  decoder: Transform & { readonly bytesWritten: number },
  { answerBytesMax, onFailure }: Reading,
): AsyncGenerator<Uint8Array, void> {
  let isCut = false;
  async function* source() {
    try {
      if (encoded instanceof Uint8Array) yield encoded;
      else yield* encoded;
    } catch (fault) {
      isCut = true;
      throw fault;
    }
  }
  pipeline(Readable.from(source()), decoder, () => {});
  try {
    let length = 0;
    for await (const part of decoder as AsyncIterable<Buffer>) {
      length += part.length;
      const bytesMax = Math.max(FREE_BYTES, RATIO_MAX * decoder.bytesWritten);
      if (length > Math.min(answerBytesMax, bytesMax)) throw new Broken(TOO_LARGE);
      yield part;
    }
  } catch (fault) {
    if (isCut) throw fault;
    const broken = fault instanceof Broken ? fault : new Broken(UNREADABLE);
    onFailure(broken.failure);
    throw broken;
  } finally {
    decoder.destroy();
  }
}

const TOO_LARGE = new Failure('upstream_too_large', 'DECODED');
const UNREADABLE = new Failure('upstream_malformed', 'ENCODING');

async function* joined(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>) {
  yield* first;
  yield* rest;
}

/** Returns parts as a stream, which reads one when the client has room for it. */
function streamOf(parts: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch {
        // Bun prints an error that it is given.
        controller.error(undefined);
      }
    },
    async cancel() {
      await parts.return();
    },
  });
}
