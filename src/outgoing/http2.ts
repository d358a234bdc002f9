/**
 * One call by HTTP/2 to an address of the operator. It uses `fetch`, which shares few connections
 * among all calls, opens new ones when the server allows no more streams or sends GOAWAY, and
 * closes one on which a call timed out. Message and `path` of its faults hold whole addresses: only
 * their code is used.
 */

import { answerOf, BodyBuffer } from './answer.ts';
import type { OutgoingAnswer, OutgoingCall } from './call.ts';
import { ConnectionFault, codeOf } from './failure.ts';

interface Http2Exchange {
  call: OutgoingCall;
  /** The host of its URL. */
  host: string;
  /** Authorities to trust, PEM; null: the usual ones. */
  ca: string | null;
  signal: AbortSignal;
  nowMs: () => number;
}

/** The longest body of a failure that is read at once. */
const ONE_PIECE_BYTES_MAX = 16 * 1024;

/** Hosts that `fetch` calls without a proxy. */
const direct = new Set<string>();

/**
 * Excludes a host from the proxy of the environment: `fetch` has no option for that, and speaks no
 * HTTP/2 through a proxy. Other hosts keep the proxy.
 */
function bypassProxy(host: string): void {
  if (direct.has(host)) return;
  direct.add(host);
  const env = process.env;
  // `fetch` reads them in this order.
  const before = env['no_proxy'] || env['NO_PROXY'];
  env['no_proxy'] = before ? `${before},${host}` : host;
}

/** Calls once. Once the status has arrived, the result is an answer, whole or not. */
export async function exchangeHttp2({
  call,
  host,
  ca,
  signal,
  nowMs,
}: Http2Exchange): Promise<OutgoingAnswer | ConnectionFault> {
  let answer: Response;
  const headers = { ...call.headers, 'accept-encoding': 'identity' };
  bypassProxy(host);
  try {
    // Calls with an equal `tls` share connections. The passphrase, unused without a client key,
    // tells the pools apart.
    answer = await fetch(call.url, {
      method: call.method,
      body: call.body,
      signal,
      headers,
      protocol: 'http2',
      redirect: 'manual',
      decompress: false,
      tls: { ...(ca !== null && { ca }), passphrase: call.http2?.pool ?? '' },
    });
  } catch (fault) {
    if (signal.aborted) return new ConnectionFault('ABORT_ERR');
    return new ConnectionFault(areHeaders(headers) ? codeOf(fault) : 'ERR_INVALID_CHAR');
  }
  const body = new BodyBuffer(call.answerBytesMax);
  const isOver = await read(answer, body);
  const header = (name: string) => answer.headers.get(name);
  return answerOf({ status: answer.status, header, body, isOver }, nowMs());
}

/**
 * Returns whether headers can be sent; checked after a failure, as the check costs a tenth of a
 * call.
 */
function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

/** Reads a body up to its bound. Returns false if there was more, or it broke off. */
async function read(answer: Response, body: BodyBuffer): Promise<boolean> {
  try {
    // Reading in parts costs as much as the call. A gateway's answer to an accepted message is
    // trusted to be short; other bodies are read at once if their length says so.
    const length = Number(answer.headers.get('content-length') ?? Number.NaN);
    if (answer.ok || length <= ONE_PIECE_BYTES_MAX) return body.add(await answer.bytes());
    const reader = answer.body?.getReader();
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) return true;
      if (body.add(value)) continue;
      await reader.cancel();
      return false;
    }
    return true;
  } catch {
    // The body broke off after the status.
    return false;
  }
}
