/** Calls by HTTP/2 through a proxy, on `node:http2`: `fetch` speaks none there. */

import http2 from 'node:http2';
import type tls from 'node:tls';
import { unlessAborted } from '../base/deadline.ts';
import { answerOf, BodyBuffer } from './answer.ts';
import type { OutgoingAnswer, OutgoingCall } from './call.ts';
import { ConnectionFault, codeOf } from './failure.ts';
import { placeOf } from './proxy.ts';
import { openTunnel, serverNameOf, type Way } from './tunnel.ts';

interface TunnelExchange {
  call: OutgoingCall;
  url: URL;
  /** Authorities to trust, PEM; null: the usual ones. */
  ca: string | null;
  way: Way;
  signal: AbortSignal;
  nowMs: () => number;
}

/** The life of a connection without calls, ms. */
const IDLE_MS = 5 * 60_000;

type Session = http2.ClientHttp2Session;

/** The connections through proxies, one for each pool of an origin; calls share them. */
export class TunnelSessions {
  readonly #byKey = new Map<string, Promise<Session>>();

  /** Returns the connection of a call, or opens one. Rejects with a {@link ConnectionFault}. */
  async of({ call, url, ca, way }: TunnelExchange): Promise<Session> {
    const pool = call.http2?.pool ?? '';
    const key = JSON.stringify([placeOf(way.proxy), way.proxy.kind, url.origin, pool, ca !== null]);
    const held = await this.#byKey.get(key)?.catch(() => null);
    if (held && !held.closed && !held.destroyed) return held;
    const opening = this.#byKey.get(key);
    // Another call may have begun to open one meanwhile.
    if (opening !== undefined && (await opening.catch(() => null)) !== held) return opening;
    const fresh = open(url, ca, way);
    this.#byKey.set(key, fresh);
    return fresh;
  }

  /** Closes every connection; calls on them end first. */
  close(): void {
    for (const session of this.#byKey.values())
      session.then(
        (one) => one.close(),
        () => {},
      );
    this.#byKey.clear();
  }
}

async function open(url: URL, ca: string | null, way: Way): Promise<Session> {
  const port = Number(url.port || 443);
  const secure = {
    servername: serverNameOf(url),
    ALPNProtocols: ['h2'],
    ...(ca !== null && { ca }),
  };
  const socket = (await openTunnel(way, { host: url.hostname, port }, secure)) as tls.TLSSocket;
  if (socket.alpnProtocol !== 'h2') {
    socket.destroy();
    throw new ConnectionFault('HTTP2Unsupported');
  }
  const session = http2.connect(url.origin, { createConnection: () => socket });
  session.setTimeout(IDLE_MS, () => session.close());
  session.on('goaway', () => session.close());
  // Each call hears of it.
  session.on('error', () => {});
  session.unref();
  return session;
}

/** Calls once. Once the status has arrived, the result is an answer, whole or not. */
export async function exchangeThroughTunnel(
  exchange: TunnelExchange,
  sessions: TunnelSessions,
): Promise<OutgoingAnswer | ConnectionFault> {
  const { call, url, signal, nowMs } = exchange;
  let session: Session | null;
  try {
    session = await unlessAborted(signal, sessions.of(exchange));
  } catch (fault) {
    return new ConnectionFault(codeOf(fault));
  }
  if (session === null) return new ConnectionFault('ABORT_ERR');
  let stream: http2.ClientHttp2Stream;
  try {
    stream = session.request({
      ...call.headers,
      ':method': call.method,
      ':path': `${url.pathname}${url.search}`,
      'accept-encoding': 'identity',
    });
  } catch (fault) {
    return new ConnectionFault(codeOf(fault));
  }
  const body = new BodyBuffer(call.answerBytesMax);
  let headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
  return new Promise((resolve) => {
    const end = (isOver: boolean, code: string) => {
      signal.removeEventListener('abort', leave);
      if (!isOver) stream.close(http2.constants.NGHTTP2_CANCEL);
      const status = headers[':status'];
      if (status === undefined) return resolve(new ConnectionFault(code));
      const header = (name: string) => [headers[name] ?? []].flat()[0] ?? null;
      resolve(answerOf({ status, header, body, isOver }, nowMs()));
    };
    const leave = () => {
      // A connection on which a call timed out may be dead.
      session.close();
      end(false, 'ABORT_ERR');
    };
    signal.addEventListener('abort', leave);
    stream.on('response', (given) => {
      headers = given;
    });
    stream.on('data', (chunk: Buffer) => {
      if (!body.add(chunk)) end(false, '');
    });
    stream.on('end', () => end(headers[':status'] !== undefined, 'CLOSED'));
    stream.on('error', (fault) => {
      const isRefused = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
      end(false, isRefused ? 'HTTP2RefusedStream' : codeOf(fault));
    });
    stream.on('close', () => end(false, 'CLOSED'));
    stream.end(call.body ?? undefined);
  });
}
