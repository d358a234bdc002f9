/** Calls by HTTP/2 through a proxy, on `node:http2`: `fetch` speaks none there. */

import http2 from 'node:http2';
import type tls from 'node:tls';
import { unlessAborted } from '../base/deadline.ts';
import { bareHost } from '../core/outbox/address.ts';
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
/** The time in which calls on a closed connection end, ms; a dead one has no other end. */
const CLOSING_MS = 30_000;

interface Connection {
  session: http2.ClientHttp2Session;
  /** Lets no more calls begin on it, and closes it when those on it are over. */
  end(): void;
}

/** The connections through proxies, one for each pool of an origin; calls share them. */
export class TunnelConnections {
  readonly #byKey = new Map<string, Promise<Connection>>();

  /** Returns the connection of a call, or opens one. Rejects with a {@link ConnectionFault}. */
  of({ call, url, ca, way }: TunnelExchange): Promise<Connection> {
    const pool = call.http2?.pool ?? '';
    const key = JSON.stringify([placeOf(way.proxy), way.proxy.kind, url.origin, pool, ca !== null]);
    const held = this.#byKey.get(key);
    if (held !== undefined) return held;
    const forget = () => {
      if (this.#byKey.get(key) === opening) this.#byKey.delete(key);
    };
    const opening = open(url, ca, way, forget);
    this.#byKey.set(key, opening);
    opening.catch(forget);
    return opening;
  }

  /** Closes every connection; calls on them end first. */
  close(): void {
    for (const opening of [...this.#byKey.values()]) {
      opening.then(
        ({ end }) => end(),
        () => {},
      );
    }
    this.#byKey.clear();
  }
}

/** Opens a connection. `forget` is called as soon as no more calls may begin on it. */
async function open(
  url: URL,
  ca: string | null,
  way: Way,
  forget: () => void,
): Promise<Connection> {
  const target = { host: bareHost(url.hostname), port: Number(url.port || 443) };
  const trusted = ca === null ? {} : { ca };
  const secure = { servername: serverNameOf(url), ALPNProtocols: ['h2'], ...trusted };
  const socket = (await openTunnel(way, target, secure)) as tls.TLSSocket;
  if (socket.alpnProtocol !== 'h2') {
    socket.destroy();
    throw new ConnectionFault('HTTP2Unsupported');
  }
  const session = http2.connect(url.origin, { createConnection: () => socket });
  const end = () => {
    forget();
    session.close();
    setTimeout(() => session.destroy(), CLOSING_MS).unref();
  };
  session.setTimeout(IDLE_MS, end);
  session.once('goaway', end);
  session.on('close', forget);
  // Each call hears of it.
  session.on('error', forget);
  session.unref();
  return { session, end };
}

/** Calls once. Once the status has arrived, the result is an answer, whole or not. */
export async function exchangeThroughTunnel(
  exchange: TunnelExchange,
  connections: TunnelConnections,
): Promise<OutgoingAnswer | ConnectionFault> {
  const { call, url, signal, nowMs } = exchange;
  let connection: Connection | null;
  try {
    connection = await unlessAborted(signal, connections.of(exchange));
  } catch (fault) {
    return new ConnectionFault(codeOf(fault));
  }
  if (connection === null) return new ConnectionFault('ABORT_ERR');
  const { end: endConnection, session } = connection;
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
      endConnection();
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
