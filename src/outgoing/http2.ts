/**
 * One call by HTTP/2, to an address of the operator's: by `fetch`, which shares few connections
 * among all calls, opens new ones when the server allows no more streams or said GOAWAY, and gives
 * up one on which a call timed out. Its faults hold whole addresses in their messages and `path`:
 * their code alone is taken.
 */

import { answerOf, Gathering } from './answer.ts';
import type { OutgoingAnswer, OutgoingCall } from './call.ts';
import { codeOf, Trouble } from './failure.ts';

export interface Http2Exchange {
  call: OutgoingCall;
  /** Host of its URL. */
  host: string;
  /** Authorities that are believed, PEM; null: the usual ones. */
  ca: string | null;
  signal: AbortSignal;
  nowMs: () => number;
}

/** Longest body that is read in one piece. */
const ONE_PIECE_BYTES_MAX = 16 * 1024;

/** Hosts to which `fetch` goes without a proxy. */
const direct = new Set<string>();

/**
 * Keeps `fetch` from a proxy that the environment names: it cannot be told otherwise, and speaks no
 * HTTP/2 through one. Other hosts stay as the environment has them.
 */
function goDirectly(host: string): void {
  if (direct.has(host)) return;
  direct.add(host);
  const env = process.env;
  // In this order `fetch` reads them.
  const before = env['no_proxy'] || env['NO_PROXY'];
  env['no_proxy'] = before ? `${before},${host}` : host;
}

/** Calls once. When the status is known by the time that it ends, there is an answer. */
export async function exchangeHttp2({
  call,
  host,
  ca,
  signal,
  nowMs,
}: Http2Exchange): Promise<OutgoingAnswer | Trouble> {
  let answer: Response;
  const headers = { ...call.headers, 'accept-encoding': 'identity' };
  goDirectly(host);
  try {
    // Connections are shared by calls whose `tls` is the same to the letter. Without a key of a
    // client its passphrase is for nothing else.
    answer = await fetch(call.url, {
      ...{ method: call.method, body: call.body, signal },
      ...{ headers, protocol: 'http2', redirect: 'manual', decompress: false },
      tls: { ...(ca !== null && { ca }), passphrase: call.http2?.pool ?? '' },
    });
  } catch (fault) {
    if (signal.aborted) return new Trouble('ABORT_ERR');
    return new Trouble(areHeaders(headers) ? codeOf(fault) : 'ERR_INVALID_CHAR');
  }
  const body = new Gathering(call.answerBytesMax);
  const isOver = await gather(answer, body);
  const header = (name: string) => answer.headers.get(name);
  return answerOf({ status: answer.status, header, body, isOver }, nowMs());
}

/** Tells whether these can be sent; asked of a call that failed, as it costs a tenth of one. */
function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

/** Reads a body as far as it is wanted; false: there was more, or it broke off. */
async function gather(answer: Response, body: Gathering): Promise<boolean> {
  try {
    // To read in parts costs as much as the call. The operator's gateways are believed to say
    // little of what they took; else no more is read than the length that was told.
    const length = Number(answer.headers.get('content-length') ?? Number.NaN);
    if (answer.ok || length <= ONE_PIECE_BYTES_MAX) return body.take(await answer.bytes());
    const reader = answer.body?.getReader();
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) return true;
      if (body.take(value)) continue;
      await reader.cancel();
      return false;
    }
    return true;
  } catch {
    // It broke off; the status came before.
    return false;
  }
}
