/**
 * Sends requests to an upstream, by `node:http`. `fetch` adds User-Agent and Accept, by which
 * panels choose the format of a subscription; accepts a response with two Content-Length headers;
 * and has one limit of connections for the whole process. No error contains a path: it is secret.
 */

import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { bareHost } from '../../core/outbox/address.ts';
import { boundInterims, readInSlices } from '../../outgoing/slices.ts';
import {
  type Bounds,
  Exchange,
  Failure,
  STALE,
  UNSENDABLE,
  type UpstreamRequest,
  type UpstreamResponse,
} from './exchange.ts';

/** The largest head of a response, bytes: some panels put routing tables into headers. */
const HEAD_BYTES_MAX = 64 * 1024;
/** Bytes of a response that are parsed at once. */
const SLICE_BYTES = 16 * 1024;
/** The time after which idle connections close, ms: before most panels close them (Node: 5 s). */
const IDLE_MS = 4_000;

/** The connections to one upstream. */
export class UpstreamClient {
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;
  readonly #target: http.RequestOptions;
  readonly #prefix: string;
  readonly #accepted: 'connect' | 'secureConnect';
  readonly #running = new Set<Exchange>();
  /** The host and port in the URL. */
  readonly host: string;

  constructor(readonly url: string) {
    const { protocol, hostname, port, host, pathname } = new URL(url);
    const isSecure = protocol === 'https:';
    const options = { keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' } as const;
    this.#agent = isSecure ? new https.Agent(options) : new http.Agent(options);
    this.#request = isSecure ? https.request : http.request;
    this.#accepted = isSecure ? 'secureConnect' : 'connect';
    // Only URLs put IPv6 addresses in brackets. The certificate must name the host of the URL.
    const name = bareHost(hostname);
    this.#target = {
      hostname: name,
      ...(port !== '' && { port }),
      // SNI allows no IP address; the certificate must name it nevertheless.
      ...(isSecure && { servername: isIP(name) === 0 ? name : '' }),
    };
    this.#prefix = pathname === '/' ? '' : pathname;
    this.host = host;
  }

  /** Sends a request; retries once, on a new connection, if the idle one was closed. */
  async send(upstream: Bounds, request: UpstreamRequest): Promise<UpstreamResponse | Failure> {
    const first = await this.#try(upstream, request, this.#agent);
    if (first !== STALE) return first;
    const second = await this.#try(upstream, request, false);
    return second === STALE ? new Failure('upstream_away', 'ECONNRESET') : second;
  }

  /** Aborts all requests in flight. */
  cut(): void {
    for (const exchange of this.#running) exchange.stop();
  }

  /** Closes every connection. */
  close(): void {
    this.#agent.destroy();
  }

  #try(
    upstream: Bounds,
    request: UpstreamRequest,
    agent: http.Agent | false,
  ): Promise<UpstreamResponse | Failure | typeof STALE> {
    const { method, path, headers, body } = request;
    return new Promise((resolve) => {
      let sent: http.ClientRequest;
      try {
        sent = this.#request({
          ...this.#target,
          agent,
          method,
          headers: { ...headers },
          path: `${this.#prefix}${path}`,
          maxHeaderSize: HEAD_BYTES_MAX,
        });
      } catch {
        // Node parses some characters in headers that it refuses to send; its error quotes them.
        request.onEnd(UNSENDABLE);
        resolve(UNSENDABLE);
        return;
      }
      const exchange = new Exchange(sent, upstream, request, this.#running, resolve);
      sent.on('socket', (socket) => {
        if (!sent.reusedSocket) socket.once(this.#accepted, () => exchange.accept());
      });
      readInSlices(sent, { sliceBytesMax: SLICE_BYTES, onBytes: () => {} });
      boundInterims(sent, () => exchange.flood());
      sent.on('response', (message) => exchange.receive(message));
      sent.on('error', (fault) => exchange.fail(fault));
      sent.end(body);
    });
  }
}
