/** Looks into responses of panels while they pass, for the doctor. The response stays as it is. */

import { HEAD_BYTES } from '../../core/app-moves.ts';
import type { SightingKind, SightingStore } from '../../core/port/sighting.ts';
import { serversIn } from '../../core/servers-in-text.ts';
import { isSuccess } from './admission.ts';
import { Decoder } from './decoder.ts';
import type { UpstreamResponse } from './exchange.ts';
import { isPage } from './headers.ts';
import type { MoveGuard } from './moves.ts';
import type { Upstream } from './settings.ts';

/** The decoded bytes of a page that are read. */
const PAGE_BYTES = 1024 * 1024;
/** Answers that are looked into at a time; others pass unseen, as memory is bounded. */
const AT_ONCE_MAX = 8;
/** The pause between two looks at the head of a subscription of a panel, ms. */
const HEAD_PAUSE_MS = 10_000;

interface Deps {
  store: Pick<SightingStore, 'noteSighting'>;
  moves: Pick<MoveGuard, 'noteLines'>;
}

export class Inspection {
  #running = 0;
  /** The time of the last look at the head of a subscription, by host. */
  readonly #headsAtMs = new Map<string, number>();

  constructor(private readonly deps: Deps) {}

  /** Looks into a response of success; `isForAll`: it has no limit. */
  of(
    response: UpstreamResponse,
    upstream: Upstream,
    isForAll: boolean,
    nowMs: number,
  ): UpstreamResponse {
    if (!isSuccess(response)) return response;
    const kind = isForAll ? 'pass_path_with_servers' : 'page_with_servers';
    return isForAll || isPage(response.headers)
      ? this.#pages(response, upstream, kind, nowMs)
      : this.#heads(response, upstream, nowMs);
  }

  /** Counts the servers in a response without a limit: a page, or one at a path of `pass_paths`. */
  #pages(
    response: UpstreamResponse,
    { host }: Upstream,
    kind: Extract<SightingKind, 'page_with_servers' | 'pass_path_with_servers'>,
    nowMs: number,
  ): UpstreamResponse {
    return this.#look(response, PAGE_BYTES, async (text) => {
      for (const [subject, count] of serversIn(text)) {
        this.deps.store.noteSighting({ host, kind, subject }, nowMs, count);
      }
    });
  }

  /** Looks at the head of a subscription, now and then. */
  #heads(response: UpstreamResponse, upstream: Upstream, nowMs: number): UpstreamResponse {
    const lastMs = this.#headsAtMs.get(upstream.host) ?? Number.NEGATIVE_INFINITY;
    if (Math.abs(nowMs - lastMs) < HEAD_PAUSE_MS) return response;
    this.#headsAtMs.set(upstream.host, nowMs);
    return this.#look(response, HEAD_BYTES, (text) =>
      this.deps.moves.noteLines(text, upstream, nowMs),
    );
  }

  /** Returns the same answer; `onText` gets its decoded start when the body has gone out. */
  #look(
    response: UpstreamResponse,
    bytesMax: number,
    onText: (text: string) => Promise<void>,
  ): UpstreamResponse {
    const decoder =
      this.#running < AT_ONCE_MAX
        ? Decoder.of(response.headers.get('content-encoding'), bytesMax)
        : null;
    if (decoder === null) return response;
    this.#running += 1;
    let isOver = false;
    const finish = async () => {
      if (isOver) return;
      isOver = true;
      this.#running -= 1;
      const text = decoder.bytes.toString();
      decoder.end();
      // A fault of the look must not be one of the response.
      await onText(text).catch(() => undefined);
    };
    return {
      ...response,
      body: () => {
        const bytes = response.body();
        if (bytes === null) {
          void finish();
          return null;
        }
        if (bytes instanceof Uint8Array) {
          void decoder.add(bytes).then(finish);
          return bytes;
        }
        return watched(bytes, decoder, finish);
      },
      cancel: () => {
        void finish();
        response.cancel();
      },
    };
  }
}

/** Passes a stream on, and its parts to the decoder until that is full. */
function watched(
  stream: ReadableStream<Uint8Array>,
  decoder: Decoder,
  finish: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          await finish();
          return;
        }
        controller.enqueue(value);
        if (!decoder.isFull) await decoder.add(value);
      } catch (fault) {
        controller.error(fault);
        await finish();
      }
    },
    async cancel(reason) {
      await finish();
      await reader.cancel(reason);
    },
  });
}
