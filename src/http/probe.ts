/**
 * Answers a question of the doctor at the public address: how it arrived, in two parts, and with
 * headers as long as a message that rides. Only the doctor of this database can ask.
 */

import type { Clock } from '../base/clock.ts';
import type { Core } from '../core/core.ts';
import {
  isSignedProbe,
  PROBE_FILL_BYTES,
  PROBE_HEADER,
  PROBE_PAUSE_MS,
  type ProbeSeen,
} from '../core/public-probe.ts';
import type { Connection } from './console/site.ts';
import { authorityOf } from './request/hosts.ts';
import { parseQuery, valueIn } from './request/query.ts';

interface ProbeDeps {
  core: Core;
  clock: Clock;
  connectionOf(request: Request): Connection;
}

/** Returns null for a question that is not signed. */
export type AnswerProbe = (request: Request) => Promise<Response | null>;

export function makeProbe({ core, clock, connectionOf }: ProbeDeps): AnswerProbe {
  return async (request) => {
    const query = parseQuery(request.url, false);
    const signature = valueIn(query, 'sign');
    if (typeof signature !== 'string') return null;
    if (!isSignedProbe(await core.store.readSigningKey(), signature, clock.nowMs())) return null;
    const { isTrusted, scheme } = connectionOf(request);
    const { headers } = request;
    const isForwarded = ['x-forwarded-for', 'via', 'forwarded'].some((name) => headers.has(name));
    const isHttps = isTrusted ? headers.get('x-forwarded-proto') === 'https' : scheme === 'https';
    const seen: ProbeSeen = {
      host: authorityOf(headers, isTrusted),
      scheme: isHttps ? 'https' : 'http',
      proxy: isForwarded ? (isTrusted ? 'trusted' : 'untrusted') : 'none',
    };
    const isFilled = valueIn(query, 'fill') === '1';
    const isInParts = valueIn(query, 'parts') === '2';
    const text = `data: ${JSON.stringify(seen)}\n\n`;
    return new Response(isInParts ? inTwoParts(text, clock) : text, {
      headers: {
        // As the streams of the console.
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        [PROBE_HEADER]: signature,
        ...(isFilled && { announce: 'x'.repeat(PROBE_FILL_BYTES) }),
      },
    });
  };
}

function inTwoParts(text: string, clock: Clock): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: async (controller) => {
      controller.enqueue(Buffer.from(text));
      await clock.sleep(PROBE_PAUSE_MS);
      controller.enqueue(Buffer.from(': the end\n\n'));
      controller.close();
    },
  });
}
