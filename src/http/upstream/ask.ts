/**
 * Asks an upstream. By `node:http`, not `fetch`, as tried in the compiled executable: what a client
 * did not send stays unsent (`fetch` adds User-Agent and Accept, and panels choose the form of a
 * subscription by them), an answer that tells its length twice is refused, and no bound of the
 * whole process is shared. Neither its errors nor ours hold a path.
 */

import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { boundInterims, readInSlices } from '../../slices.ts';
import { type Answer, Exchange, Failure, type Question, STALE, UNSENDABLE } from './exchange.ts';
import type { Upstream } from './settings.ts';

/** Largest head of an answer, bytes: some panels put routing tables into headers. */
const HEAD_BYTES_MAX = 64 * 1024;
/** Bytes of an answer that are parsed in one go. */
const SLICE_BYTES = 16 * 1024;
/** Idle connections are closed before most panels would (Node: 5 s). */
const IDLE_MS = 4_000;

/** The connections to one upstream. */
export class Asker {
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;
  readonly #target: http.RequestOptions;
  readonly #prefix: string;
  readonly #accepted: 'connect' | 'secureConnect';
  readonly #running = new Set<Exchange>();
  /** The host and port that the URL names. */
  readonly host: string;

  constructor(readonly url: string) {
    const { protocol, hostname, port, host, pathname } = new URL(url);
    const isSecure = protocol === 'https:';
    const options = { keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' } as const;
    this.#agent = isSecure ? new https.Agent(options) : new http.Agent(options);
    this.#request = isSecure ? https.request : http.request;
    this.#accepted = isSecure ? 'secureConnect' : 'connect';
    // IPv6 has brackets in a URL alone. The certificate is that of the URL, whatever Host says.
    const name = hostname.replace(/^\[|\]$/g, '');
    this.#target = {
      hostname: name,
      ...(port !== '' && { port }),
      // An address is no name that TLS could ask for; the certificate must have it all the same.
      ...(isSecure && { servername: isIP(name) === 0 ? name : '' }),
    };
    this.#prefix = pathname === '/' ? '' : pathname;
    this.host = host;
  }

  /** Asks once; again if the connection was one that the upstream had closed by then. */
  async ask(upstream: Upstream, question: Question): Promise<Answer | Failure> {
    const first = await this.#try(upstream, question, this.#agent);
    if (first !== STALE) return first;
    const second = await this.#try(upstream, question, false);
    return second === STALE ? new Failure('upstream_away', 'ECONNRESET') : second;
  }

  /** Waits for no answer any more, and breaks those off that are under way. */
  cut(): void {
    for (const exchange of this.#running) exchange.stop();
  }

  /** Closes every connection. */
  close(): void {
    this.#agent.destroy();
  }

  #try(
    upstream: Upstream,
    question: Question,
    agent: http.Agent | false,
  ): Promise<Answer | Failure | typeof STALE> {
    const { method, path, headers } = question;
    return new Promise((resolve) => {
      let request: http.ClientRequest;
      try {
        request = this.#request({
          ...this.#target,
          ...{ agent, method, headers: { ...headers }, path: `${this.#prefix}${path}` },
          maxHeaderSize: HEAD_BYTES_MAX,
        });
      } catch {
        // It has signs that may come in and not go out. Its error would name the header.
        question.onEnd(UNSENDABLE);
        resolve(UNSENDABLE);
        return;
      }
      const exchange = new Exchange(request, upstream, question, this.#running, resolve);
      request.on('socket', (socket) => {
        if (!request.reusedSocket) socket.once(this.#accepted, () => exchange.accept());
      });
      readInSlices(request, { sliceBytesMax: SLICE_BYTES, onBytes: () => {} });
      boundInterims(request, () => exchange.flood());
      request.on('response', (message) => exchange.hear(message));
      request.on('error', (fault) => exchange.fail(fault));
      request.end();
    });
  }
}
