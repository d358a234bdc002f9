/**
 * One call by HTTP/1.1, on `node:http` and not `fetch`, as tried in the compiled executable: it
 * connects to the address that was checked while TLS asks for the name; its head has a bound; it
 * keeps nothing packed open and shares no bound of the process, of which `fetch` has 256; and it
 * sends no header of its own. The connections of an origin are kept by its agent.
 */

import http from 'node:http';
import https from 'node:https';
import { boundInterims, readInSlices } from '../slices.ts';
import { answerOf, Gathering } from './answer.ts';
import type { OutgoingAnswer, OutgoingCall } from './call.ts';
import { codeOf, Trouble } from './failure.ts';

/** Largest head of an answer, bytes. */
const HEAD_BYTES_MAX = 16 * 1024;
/** Bytes that the parser gets in one go: some hundred pieces of a byte. */
const SLICE_BYTES = 2 * 1024;
/** Bytes around the pieces of a body, beyond as many as it has itself. */
const FRAMING_BYTES_MAX = 4 * 1024;
/** Bytes of an answer with its framing, and with the interim answers before it. */
const RAW_BYTES_MAX = 256 * 1024;
/** Idle connections are closed before most servers would (Node: 5 s). */
const IDLE_MS = 4_000;

export interface Http1Exchange {
  call: OutgoingCall;
  url: URL;
  /** The IP address that is connected to. */
  address: string;
  /** False: on a connection of its own. */
  agent: http.Agent | false;
  /** Authorities that are believed, PEM; null: the usual ones. */
  ca: string | null;
  signal: AbortSignal;
  nowMs: () => number;
}

/** The connections to an origin. */
export function agentFor(protocol: string): http.Agent {
  const options = { keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' } as const;
  return protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
}

/** Calls once. When the status is known by the time that it ends, there is an answer. */
export function exchangeHttp1(options: Http1Exchange): Promise<OutgoingAnswer | Trouble> {
  const { call, signal, nowMs } = options;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(new Trouble('ABORT_ERR'));
    let request: http.ClientRequest;
    try {
      request = requestOf(options);
    } catch (fault) {
      return resolve(new Trouble(codeOf(fault)));
    }
    const body = new Gathering(call.answerBytesMax);
    let message: http.IncomingMessage | null = null;
    const end = (isOver: boolean, code: string) => {
      signal.removeEventListener('abort', leave);
      if (!isOver) request.destroy();
      if (message === null) return resolve(new Trouble(code, request.reusedSocket));
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
        if (!body.take(chunk)) end(false, '');
      });
      answer.on('end', () => end(answer.complete, ''));
      answer.on('error', () => end(false, ''));
    });
    // An answer that becomes another protocol is one all the same: its status says enough.
    request.on('upgrade', (answer) => {
      message = answer;
      end(false, '');
    });
    let rawBytes = 0;
    let headBytes = 0;
    const onBytes = (count: number) => {
      rawBytes += count;
      const bodyBytes = body.wholeBytes + (message?.readableLength ?? 0);
      // Pieces that came in one read are handed on after it: their framing is seen before.
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

function requestOf({ call, url, address, agent, ca }: Http1Exchange): http.ClientRequest {
  const isSecure = url.protocol === 'https:';
  const length = Buffer.byteLength(call.body ?? '');
  const isNamed = !/^\[|^[\d.]+$/.test(url.hostname);
  return (isSecure ? https : http).request({
    ...{ host: address, agent, method: call.method, path: `${url.pathname}${url.search}` },
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    headers: {
      ...call.headers,
      ...{ host: url.host, 'accept-encoding': 'identity' },
      ...(call.method !== 'GET' && { 'content-length': String(length) }),
    },
    // An address is no name that TLS could ask for; the certificate must have it all the same.
    ...(isSecure && { servername: isNamed ? url.hostname.replace(/\.$/, '') : '' }),
    ...(isSecure && ca !== null && { ca }),
    maxHeaderSize: HEAD_BYTES_MAX,
  });
}
