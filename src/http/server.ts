/** The HTTP server: the endpoint table on an Elysia app, and an answer for everything else. */

import { Elysia } from 'elysia';
import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import type { Log } from '../log.ts';
import { OperatorError } from '../operator-error.ts';
import { clientAddress, countedAs, plainIPv4, type TrustedProxies } from './address.ts';
import { AuthFailures } from './auth-failures.ts';
import type { WireSettings } from './endpoint.ts';
import { endpoints } from './endpoints/index.ts';
import { type InterpreterDeps, interpret, reportFault, respond } from './interpreter.ts';
import { MinuteLimiter } from './limiter.ts';
import { Polls } from './polls.ts';
import { makeStreams, PING_INTERVAL_MS, STREAM_PATH, type Streams } from './stream.ts';

/** Looked at for each request, so that a change holds at once. */
export interface ServerSettings extends WireSettings {
  readonly trustedProxies: TrustedProxies;
  readonly authFailuresPerMinuteMax: number;
  readonly registrationsPerMinuteMax: number;
  readonly streamCountMax: number;
}

export interface ServerOptions {
  core: Core;
  clock: Clock;
  log: Log;
  host: string;
  /** 0 picks a free one. */
  port: number;
  settings: ServerSettings;
  /** How often a stream is asked whether it is alive, ms. */
  pingIntervalMs?: number;
}

export interface RunningServer {
  /** `http://HOST:PORT`. */
  url: string;
  /** Devices that wait here at this moment. */
  pollCount(): number;
  streamCount(): number;
  /** Takes no new requests, finishes those under way, closes every connection. */
  stop(): Promise<void>;
}

/** Seconds after which a connection without a request under way is closed. */
const IDLE_TIMEOUT_S = 30;
/** How often a stop looks whether the last answer is out, ms. */
const STOP_PAUSE_MS = 5;

/** Starts to listen. Rejects with {@link OperatorError} when the address cannot be had. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { core, clock, log, settings } = options;
  const failures = new AuthFailures(settings, log);
  // By default Elysia looks for the path behind a host name of at least four letters.
  const app = new Elysia({ handler: { standardHostname: false } });
  const stopping = new AbortController();

  function clientOf(request: Request): string {
    const peer = plainIPv4(app.server?.requestIP(request)?.address ?? '');
    // Reading one header makes Bun take up all of them: not for a peer that is not believed.
    const isProxy = settings.trustedProxies.includes(peer);
    const forwardedFor = isProxy ? request.headers.get('x-forwarded-for') : null;
    return countedAs(clientAddress(peer, forwardedFor, settings.trustedProxies));
  }

  const polls = new Polls();
  const deps: InterpreterDeps = {
    core,
    clock,
    log,
    settings,
    limits: {
      registrations: new MinuteLimiter(() => settings.registrationsPerMinuteMax),
      polls,
    },
    clientOf,
    authFailed: (client, nowMs) => failures.record(client, nowMs),
    stopping: stopping.signal,
    grantPatience: (request, seconds) => app.server?.timeout(request, seconds),
  };
  const streams = makeStreams({
    core,
    clock,
    log,
    settings,
    pingIntervalMs: options.pingIntervalMs ?? PING_INTERVAL_MS,
    upgrade: (request, data) => app.server?.upgrade(request, { data }) ?? false,
    tokenFailed: (request) => failures.record(clientOf(request), clock.nowMs()),
  });

  const answers = new Map<string, Answer>();
  for (const endpoint of endpoints) answers.set(endpoint.path, interpret(endpoint, deps));
  answers.set(STREAM_PATH, streams.answer);
  // Without a valid Host (HTTP/1.0 needs none) Bun's URL has no host, and Elysia takes the first
  // slash in the query for the beginning of the path.
  const route = (path: string, answer: Answer) =>
    app.all(
      path,
      ({ request }) =>
        request.url.startsWith('/') ? find(answers, pathOf(request.url))(request) : answer(request),
      { parse: 'none' },
    );
  for (const [path, answer] of answers) route(path, answer);
  for (const path of ['/api', '/api/*', '/remote', '/remote/*']) route(path, noSuchEndpoint);
  route('*', notFound);
  // Elysia's own errors would put the request into the answer.
  app.onError(({ error, request, set }) => {
    set.status = 200;
    return respond('unknown_error', { detail: reportFault(log, pathOf(request.url), error) });
  });

  const server = listen(app, options, streams.handlers);
  return {
    url: `http://${bracketed(options.host)}:${server.port}`,
    pollCount: () => polls.count,
    streamCount: streams.count,
    stop: async () => {
      stopping.abort();
      streams.closeAll();
      const stopped = server.stop(false);
      // Bun's own stop waits for ever for a connection that sent half a request head, or one whose
      // large body nobody read.
      while (server.pendingRequests > 0) await Bun.sleep(STOP_PAUSE_MS);
      await server.stop(true);
      await stopped;
    },
  };
}

function listen(
  app: Elysia,
  { host, port }: ServerOptions,
  websocket: Streams['handlers'],
): Bun.Server<unknown> {
  try {
    app.listen({
      hostname: host,
      port,
      // Elysia's default would let a second server share the port in silence.
      reusePort: false,
      idleTimeout: IDLE_TIMEOUT_S,
      // Bun's own refusal of a large body is not JSON; what no endpoint reads, nobody buffers.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Elysia's own .ws() keeps the whole request with each socket, and takes none of the limits.
      websocket: websocket as Bun.WebSocketHandler<unknown>,
    });
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    const reason = LISTEN_FAILURES[String(code)] ?? (error as Error).message;
    throw new OperatorError(`cannot listen on ${bracketed(host)}:${port}: ${reason}`);
  }
  const { server } = app;
  if (!server) throw new Error('the server did not start');
  return server;
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'that port needs more rights',
  ENOENT: 'no such address',
};

/** Null: the request became a WebSocket. */
type Answer = (request: Request) => Response | Promise<Response | null>;

const noSuchEndpoint: Answer = () => respond('no_such_endpoint');
const notFound: Answer = () => new Response('Not found\n', { status: 404 });

/** What answers requests for `path`, by the rules of the routes above. */
function find(answers: ReadonlyMap<string, Answer>, path: string): Answer {
  const found = answers.get(path) ?? answers.get(path.replace(/\/$/, ''));
  return found ?? (/^\/(api|remote)(\/|$)/.test(path) ? noSuchEndpoint : notFound);
}

function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/, '').replace(/[?#].*$/s, '');
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
