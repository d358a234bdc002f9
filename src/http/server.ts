/** The HTTP server: the endpoint table on an Elysia app, and an answer for everything else. */

import { Elysia } from 'elysia';
import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import type { Log } from '../log.ts';
import { clientAddress, countedAs, plainIPv4 } from './address.ts';
import { AuthFailures } from './auth-failures.ts';
import { BODY_TIME_MAX_MS } from './body.ts';
import { STREAM_PATH } from './device-stream.ts';
import type { WireSettings } from './endpoint.ts';
import { endpoints } from './endpoints/index.ts';
import { type InterpreterDeps, interpret, reportFault } from './interpreter.ts';
import { Large } from './large.ts';
import { MinuteLimiter } from './limiter.ts';
import { type Listener, type ListenOptions, listen } from './listener.ts';
import { Polls } from './polls.ts';
import { publishedAnswers } from './published.ts';
import { respond } from './respond.ts';
import type { RoomBounds } from './room.ts';
import { makeStreams, PING_INTERVAL_MS, type Streams } from './stream.ts';
import { type EndpointTally, Traffic, type TrafficSettings } from './traffic.ts';

/** Looked at for each request, so that a change holds at once. */
export interface ServerSettings extends WireSettings, TrafficSettings {
  readonly authFailuresPerMinuteMax: number;
  readonly registrationsPerMinuteMax: number;
  readonly streamCountMax: number;
}

export interface ServerOptions extends Omit<ListenOptions, 'tls'> {
  core: Core;
  clock: Clock;
  log: Log;
  settings: ServerSettings;
  /** Plain HTTP without. */
  tls?: ListenOptions['tls'];
  /** {@link BODY_TIME_MAX_MS} unless a test is in a hurry. */
  bodyTimeMaxMs?: number;
  /** See {@link Large}. */
  room?: RoomBounds;
  /** How often a stream is asked whether it is alive, ms. */
  pingIntervalMs?: number;
}

/** A limit by which callers are held up. */
type Limit = 'answers' | 'auth_failures' | 'registrations' | 'streams';

export interface RunningServer {
  /** `http://HOST:PORT` or `https://HOST:PORT`. */
  url: string;
  /** Devices that wait here at this moment. */
  pollCount(): number;
  streamCount(): number;
  /** What was answered since the start, of each endpoint. */
  tallies(): Iterable<EndpointTally>;
  /** How often each limit held something up since the start. */
  limited(): Readonly<Record<Limit, number>>;
  /** See {@link Listener}. */
  replaceCertificate: Listener['replaceCertificate'];
  /** See {@link Listener}. Polls are answered and streams closed at once. */
  stop: Listener['stop'];
}

/** Starts to listen. Rejects with {@link OperatorError} when the address cannot be had. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { core, clock, log, settings } = options;
  const failures = new AuthFailures(settings, log);
  // By default Elysia looks for the path behind a host name of at least four letters.
  const app = new Elysia({ handler: { standardHostname: false } });
  const stopping = new AbortController();

  const peerOf = (request: Request) =>
    plainIPv4(listener.serverOf(request).requestIP(request)?.address ?? '');
  const addressOf = (request: Request) => {
    const peer = peerOf(request);
    // Reading one header makes Bun take up all of them: not for a peer that is not believed.
    if (!settings.trustedProxies.includes(peer)) return peer;
    return clientAddress(peer, request.headers.get('x-forwarded-for'), settings.trustedProxies);
  };
  const clientOf = (request: Request) => countedAs(addressOf(request));

  const traffic = new Traffic({ log, settings, peerOf, addressOf });
  const registrations = new MinuteLimiter(() => settings.registrationsPerMinuteMax);
  const polls = new Polls();
  // Bun knows the address of a request until its answer is with the kernel, or the caller left.
  const large = new Large(clock, (request) => peerOf(request) === '', options.room);
  const deps: InterpreterDeps = {
    core,
    clock,
    log,
    settings,
    limits: { registrations, polls, turns: large.turns },
    large,
    traffic,
    clientOf,
    authFailed: (client, nowMs) => failures.record(client, nowMs),
    stopping: stopping.signal,
    bodyTimeMaxMs: options.bodyTimeMaxMs ?? BODY_TIME_MAX_MS,
    grantPatience: (request, seconds) => listener.serverOf(request).timeout(request, seconds),
  };
  const streams = makeStreams({
    core,
    clock,
    log,
    settings,
    room: large.devices,
    turns: large.turns,
    traffic,
    pingIntervalMs: options.pingIntervalMs ?? PING_INTERVAL_MS,
    upgrade: (request, data) => listener.serverOf(request).upgrade(request, { data }),
    tokenFailed: (request) => failures.record(clientOf(request), clock.nowMs()),
  });

  const answers = answersByPath(deps, streams);
  const elsewhere = elsewhereOf(traffic);
  // One route and one set of rules. Elysia's own router would not do: without a valid Host, which
  // HTTP/1.0 does not need, Bun's URL has no host, and Elysia takes the first slash in the query
  // for the beginning of the path.
  const findPlain = (path: string) => answers.get(path) ?? elsewhere(path);
  const find = (path: string) => answers.get(path) ?? findPlain(plainPath(path));
  // The paths stand in Elysia's table too, for speed alone: it takes longer to find that none fits.
  for (const path of [...answers.keys(), '*']) {
    app.all(path, ({ request }) => find(pathOf(request.url))(request), { parse: 'none' });
  }
  // Elysia's own errors would put the request into the answer.
  app.onError(({ error, request, set }) => {
    set.status = 200;
    const requestId = traffic.requestIdOf(request);
    const path = plainPath(pathOf(request.url));
    const tally = traffic.tallyOf(answers.has(path) ? path : null);
    const detail = reportFault(log, tally.endpoint, error, requestId);
    traffic.count(tally, { request, says: 'unknown_error', tookMs: null, requestId });
    return respond('unknown_error', { detail, requestId });
  });

  const listener = listen(
    app,
    { ...options, tls: options.tls ?? null },
    streams.handlers as Bun.WebSocketHandler<unknown>,
  );
  return {
    url: listener.url,
    pollCount: () => polls.count,
    streamCount: streams.count,
    tallies: () => traffic.tallies,
    limited: () => ({
      answers: large.refusedCount,
      auth_failures: failures.delayedCount,
      registrations: registrations.refusedCount,
      streams: streams.refusedCount(),
    }),
    replaceCertificate: listener.replaceCertificate,
    stop: async (lastCallMs) => {
      stopping.abort();
      streams.closeAll();
      large.close();
      await listener.stop(lastCallMs);
    },
  };
}

/** Null: the request became a WebSocket. */
type Answer = (request: Request) => Response | Promise<Response | null>;

/** What a status says, in the words of the other answers. */
const SAID: Readonly<Record<number, string>> = { 404: 'not_found', 405: 'wrong_method' };

function answersByPath(deps: InterpreterDeps, streams: Streams): Map<string, Answer> {
  const { traffic } = deps;
  const answers = new Map<string, Answer>();
  for (const endpoint of endpoints) answers.set(endpoint.path, interpret(endpoint, deps));
  answers.set(STREAM_PATH, streams.answer);
  for (const [path, answer] of publishedAnswers()) {
    answers.set(path, counted(traffic, traffic.tallyOf(path), answer));
  }
  return answers;
}

/** Counts what is answered with a page. */
function counted(
  traffic: Traffic,
  tally: EndpointTally,
  answer: (request: Request) => Response,
): Answer {
  return (request) => {
    const response = answer(request);
    const says = SAID[response.status] ?? 'ok';
    const requestId = traffic.count(tally, { request, says, tookMs: null });
    if (requestId !== undefined) response.headers.set('x-request-id', requestId);
    return response;
  };
}

/** A path without slashes too many, as base addresses end in one: of a run one is left. */
function plainPath(path: string): string {
  const plain = path.replace(/\/{2,}/g, '/');
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

/** What answers requests for paths that are none of ours. */
function elsewhereOf(traffic: Traffic): (path: string) => Answer {
  const other = traffic.tallyOf(null);
  const noSuchEndpoint: Answer = (request) => {
    const requestId = traffic.count(other, { request, says: 'no_such_endpoint', tookMs: null });
    return respond('no_such_endpoint', { requestId });
  };
  const pageNotFound = () => new Response('Not found\n', { status: 404 });
  const notFound = counted(traffic, other, pageNotFound);
  return (path) => (/^\/(api|remote)(\/|$)/.test(path) ? noSuchEndpoint : notFound);
}

/** The path of a request's URL, which without a valid Host begins with it. */
function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', start);
  const path = url.slice(start, query < 0 ? undefined : query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}
