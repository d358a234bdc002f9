/** The HTTP server: the endpoint table on an Elysia app, and an answer for everything else. */

import { Elysia } from 'elysia';
import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import type { Log } from '../log.ts';
import { clientAddress, countedAs, type TrustedProxies } from './address.ts';
import { AuthFailures } from './auth-failures.ts';
import type { WireSettings } from './endpoint.ts';
import { endpoints } from './endpoints/index.ts';
import { type InterpreterDeps, interpret, reportFault, respond } from './interpreter.ts';
import { MinuteLimiter } from './limiter.ts';
import { Polls } from './polls.ts';
import { makeStreams, PING_INTERVAL_MS } from './stream.ts';

export interface ServerOptions {
  core: Core;
  clock: Clock;
  log: Log;
  host: string;
  /** 0 picks a free one. */
  port: number;
  settings: WireSettings;
  trustedProxies: TrustedProxies;
  authFailuresPerMinuteMax: number;
  registrationsPerMinuteMax: number;
  streamCountMax: number;
  /** How often a stream is asked whether it is alive, ms. */
  pingIntervalMs?: number;
}

export interface RunningServer {
  /** `http://HOST:PORT`. */
  url: string;
  /** Takes no new requests, finishes those under way, closes every connection. */
  stop(): Promise<void>;
}

/** Seconds after which a connection without a request under way is closed. */
const IDLE_TIMEOUT_S = 30;
/** How often a stop asks whether the requests under way are finished, ms. */
const STOP_POLL_MS = 5;

/** Starts to listen. Rejects when the address cannot be had. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { core, clock, log, settings, trustedProxies } = options;
  const failures = new AuthFailures(options.authFailuresPerMinuteMax, log);
  const app = new Elysia();

  function clientOf(request: Request): string {
    const peer = app.server?.requestIP(request)?.address ?? '';
    const forwardedFor = request.headers.get('x-forwarded-for');
    return countedAs(clientAddress(peer, forwardedFor, trustedProxies));
  }

  const polls = new Polls();
  const deps: InterpreterDeps = {
    core,
    clock,
    log,
    settings,
    limits: { registrations: new MinuteLimiter(options.registrationsPerMinuteMax), polls },
    clientOf,
    authFailed: (client, nowMs) => failures.record(client, nowMs),
    grantPatience: (request, seconds) => app.server?.timeout(request, seconds),
  };
  const streams = makeStreams({
    core,
    clock,
    log,
    settings,
    streamCountMax: options.streamCountMax,
    pingIntervalMs: options.pingIntervalMs ?? PING_INTERVAL_MS,
    tokenFailed: (request) => failures.record(clientOf(request), clock.nowMs()),
  });

  for (const endpoint of endpoints) {
    const answer = interpret(endpoint, deps);
    app.all(endpoint.path, ({ request }) => answer(request), { parse: 'none' });
  }
  app.use(streams.route());
  for (const unknown of ['/api', '/api/*', '/remote', '/remote/*']) {
    app.all(unknown, () => respond('no_such_endpoint'), { parse: 'none' });
  }
  app.all('*', () => new Response('Not found\n', { status: 404 }), { parse: 'none' });
  // Elysia's own errors would put the request into the answer.
  app.onError(({ error, request, set }) => {
    set.status = 200;
    return respond('unknown_error', { detail: reportFault(log, pathOf(request.url), error) });
  });

  app.listen({
    hostname: options.host,
    port: options.port,
    idleTimeout: IDLE_TIMEOUT_S,
    // Bun's own refusal of a large body is not JSON; what no endpoint reads, nobody buffers.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  const { server } = app;
  if (!server) throw new Error('the server did not start');
  return {
    url: `http://${bracketed(options.host)}:${server.port}`,
    stop: async () => {
      streams.closeAll();
      polls.endAll();
      const stopped = server.stop(false);
      while (server.pendingRequests > 0) {
        await new Promise((resolve) => setTimeout(resolve, STOP_POLL_MS));
      }
      // A connection whose large body nobody read stays open for ever otherwise (Bun 1.4.5).
      await server.stop(true);
      await stopped;
    },
  };
}

function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/, '').replace(/[?#].*$/s, '');
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
