/**
 * One call by HTTP/1.1. It uses `node:http`, which, unlike `fetch`, connects to the IP address that
 * was checked while TLS verifies the name, bounds the head of an answer, decompresses nothing, adds
 * no header of its own, and takes none of the 256 calls that a process may make by `fetch`. The
 * agent of an origin keeps its connections.
 */

import http from 'node:http';
import https from 'node:https';
import { answerOf, BodyBuffer } from './answer.ts';
import type { OutgoingAnswer, OutgoingCall } from './call.ts';
import { ConnectionFault, codeOf } from './failure.ts';
import { boundInterims, readInSlices } from './slices.ts';
import { openTunnel, serverNameOf, type Way } from './tunnel.ts';

/** Largest head of an answer, bytes. */
const HEAD_BYTES_MAX = 16 * 1024;
/** Bytes that the parser gets at once: some hundred pieces of one byte. */
const SLICE_BYTES = 2 * 1024;
/** Most bytes of framing around a body, beyond the size of the body. */
const FRAMING_BYTES_MAX = 4 * 1024;
/** Most bytes of an answer with framing and interim answers. */
const RAW_BYTES_MAX = 256 * 1024;
/** The life of an idle connection: less than most servers allow (Node: 5 s). */
const IDLE_MS = 4_000;

interface Http1Exchange {
  call: OutgoingCall;
  url: URL;
  /** The IP address to connect to; through a proxy of the operator's calls, a name too. */
  address: string;
  /** The agent; false: opens a new connection. */
  agent: http.Agent | false;
  /** Authorities to trust, PEM; null: the usual ones. */
  ca: string | null;
  signal: AbortSignal;
  nowMs: () => number;
  /** Called for each part of the body that arrives. */
  onPart?: (() => void) | undefined;
}

/**
 * Makes the agent that keeps the connections of an origin. `way`: they go through a proxy, which
 * looks the name up; null: none.
 */
export function makeAgent(protocol: string, way: Way | null, keepAlive = true): http.Agent {
  const options = { keepAlive, timeout: IDLE_MS, scheduling: 'lifo' } as const;
  const isSecure = protocol === 'https:';
  const agent = isSecure ? new https.Agent(options) : new http.Agent(options);
  if (way === null) return agent;
  agent.createConnection = (to: https.RequestOptions & Stoppable, done) => {
    const { host, port, servername, ca, stop } = to;
    const target = { host: host ?? '', port: Number(port) };
    openTunnel(way, target, isSecure ? { servername, ca } : null, stop).then(
      (socket) => done?.(null, socket),
      (fault) => done?.(fault, null as never),
    );
    return undefined;
  };
  return agent;
}

/** Calls once. Once the status has arrived, the result is an answer, whole or not. */
export function exchangeHttp1(options: Http1Exchange): Promise<OutgoingAnswer | ConnectionFault> {
  const { call, signal, nowMs, onPart } = options;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(new ConnectionFault('ABORT_ERR'));
    let request: http.ClientRequest;
    try {
      request = requestOf(options);
    } catch (fault) {
      return resolve(new ConnectionFault(codeOf(fault)));
    }
    const body = new BodyBuffer(call.answerBytesMax);
    let message: http.IncomingMessage | null = null;
    const end = (isOver: boolean, code: string) => {
      signal.removeEventListener('abort', leave);
      if (!isOver) request.destroy();
      if (message === null) return resolve(new ConnectionFault(code, request.reusedSocket));
      const { statusCode: status = 0, headers } = message;
      const header = (name: string) => [headers[name] ?? []].flat()[0] ?? null;
      resolve(answerOf({ status, header, body, isOver }, nowMs()));
    };
    const leave = () => end(false, 'ABORT_ERR');
    signal.addEventListener('abort', leave);
    request.on('response', (answer) => {
      message = answer;
      headBytes = rawBytes;
      answer.on('data', (chunk: Buffer) => {
        onPart?.();
        if (!body.add(chunk)) end(false, '');
      });
      answer.on('end', () => end(answer.complete, ''));
      answer.on('error', () => end(false, ''));
    });
    // An answer that switches protocols counts by its status.
    request.on('upgrade', (answer) => {
      message = answer;
      end(false, '');
    });
    let rawBytes = 0;
    let headBytes = 0;
    const onBytes = (count: number) => {
      rawBytes += count;
      const bodyBytes = body.wholeBytes + (message?.readableLength ?? 0);
      // The framing of a read is counted before its pieces reach `body`.
      const isFramed = message !== null && rawBytes - headBytes > 2 * bodyBytes + FRAMING_BYTES_MAX;
      if (isFramed || rawBytes > RAW_BYTES_MAX) end(false, 'HPE_TOO_MANY_BYTES');
    };
    readInSlices(request, { sliceBytesMax: SLICE_BYTES, onBytes });
    boundInterims(request, () => end(false, 'HPE_TOO_MANY_INTERIM'));
    request.on('error', (fault) => end(false, codeOf(fault)));
    request.on('close', () => end(false, 'CLOSED'));
    request.end(call.body ?? undefined);
  });
}

interface Stoppable {
  /** Aborted when the call ends before its connection is open. */
  stop?: AbortSignal;
}

function requestOf(exchange: Http1Exchange): http.ClientRequest {
  const { call, url, address, agent, ca, signal } = exchange;
  const isSecure = url.protocol === 'https:';
  const length = Buffer.byteLength(call.body ?? '');
  const options: https.RequestOptions & Stoppable = {
    host: address,
    agent,
    method: call.method,
    path: `${url.pathname}${url.search}`,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    headers: {
      ...call.headers,
      host: url.host,
      'accept-encoding': 'identity',
      ...(call.method !== 'GET' && { 'content-length': String(length) }),
    },
    ...(isSecure && { servername: serverNameOf(url) }),
    ...(isSecure && ca !== null && { ca }),
    maxHeaderSize: HEAD_BYTES_MAX,
    stop: signal,
  };
  return (isSecure ? https : http).request(options);
}
