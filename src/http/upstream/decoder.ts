/** Decodes the first bytes of a compressed body, with a bound, as they arrive. */

import type { Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';

type Decoding = Transform & { readonly bytesWritten: number };

const DECODERS: Readonly<Record<string, () => Decoding>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Returns the name of a `Content-Encoding` in its common form; empty: there is none. */
export function codingOf(encoding: string | null): string {
  const name = (encoding ?? '')
    .trim()
    .toLowerCase()
    .replace(/^x-gzip$/, 'gzip');
  return name === 'identity' ? '' : name;
}

/** Makes the decoder for a name that {@link codingOf} returned; null: it is unknown. */
export const makeDecoder = (coding: string) =>
  (Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined)?.() ?? null;

/** A body of which the first bytes are decoded; the rest is discarded. */
export class Decoder {
  readonly #stream: Transform | null;
  readonly #parts: Buffer[] = [];
  #length = 0;
  #wake: (() => void) | null = null;

  private constructor(
    stream: Transform | null,
    private readonly bytesMax: number,
  ) {
    this.#stream = stream;
    this.#stream?.on('data', (part: Buffer) => this.#keep(part));
    for (const event of ['error', 'close']) this.#stream?.on(event, () => this.#wake?.());
  }

  /** Returns the decoder for a `Content-Encoding`; null: it is unknown. */
  static of(encoding: string | null, bytesMax: number): Decoder | null {
    const coding = codingOf(encoding);
    if (coding === '') return new Decoder(null, bytesMax);
    const stream = makeDecoder(coding);
    return stream && new Decoder(stream, bytesMax);
  }

  /** True if no more bytes are decoded. */
  get isFull(): boolean {
    return this.#length >= this.bytesMax || this.#stream?.destroyed === true;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns the bytes that are decoded so far. */
  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** Decodes a part. Settles when it is decoded as far as the bound allows. */
  async add(part: Uint8Array): Promise<void> {
    const stream = this.#stream;
    if (stream === null) {
      this.#keep(part);
      return;
    }
    if (this.isFull) return;
    await new Promise<void>((settle) => {
      this.#wake = settle;
      stream.write(part, () => settle());
    });
  }

  /** Frees the memory of the decoder. */
  end(): void {
    this.#stream?.destroy();
  }

  #keep(part: Uint8Array): void {
    const kept = Buffer.from(part.subarray(0, this.bytesMax - this.#length));
    this.#parts.push(kept);
    this.#length += kept.length;
    if (this.#length >= this.bytesMax) this.end();
  }
}
