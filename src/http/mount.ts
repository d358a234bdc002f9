/**
 * The routes: each path is registered once, in Elysia, which alone finds the record of a request.
 *
 * Where Elysia 1.4 on Bun deviates from the contract (test/http/routes.test.ts asks each over a
 * socket):
 *
 * - It takes the path from the eleventh character of the URL to the first `?`. `plainly` gives it
 *   URLs with which that is right.
 * - A route is of one method, and to HEAD it would read the whole answer, be it a backup. So each
 *   path has one handler for all methods, and the record refuses wrong ones.
 * - `query` has one of two values and does not decode `%D1`. `query.ts` reads strictly.
 * - The body is read and checked before `beforeHandle`. The interpreter checks credentials first,
 *   then reads the body and each parameter.
 */

import { Elysia } from 'elysia';
import { after, type Maybe, settle } from '../core/port/maybe.ts';
import { PROBE_PATH } from '../core/public-probe.ts';
import { answerPreflight, isPreflight } from './answer/cors.ts';
import { respond } from './answer/respond.ts';
import { type ConsoleDeps, callAnswers } from './console/answer.ts';
import { DOWNLOAD_PATH, downloadAnswer } from './console/download.ts';
import { type ConsoleFiles, fileAnswer, PAGES, pageAnswer } from './console/page.ts';
import { LIVE_PATH, type LiveStreams } from './console/stream.ts';
import type { DiscoveryDoor } from './discovery/door.ts';
import { publishedAnswers } from './document/published.ts';
import { pathsOf } from './endpoint.ts';
import { endpoints } from './endpoints/index.ts';
import { GATE_PATH } from './gate/gate.ts';
import { interpret, reportFault } from './interpreter.ts';
import type { MyDoor } from './my/door.ts';
import type { AnswerProbe } from './probe.ts';
import type { CallDeps } from './request/call.ts';
import { bare, type Strangers } from './strangers.ts';
import { STREAM_PATH } from './stream/device-stream.ts';
import type { Streams } from './stream/stream.ts';
import type { EndpointTally, Traffic } from './traffic.ts';
import type { PanelProxy } from './upstream/proxy.ts';

/** The paths that pages of other origins may call. */
const DEVICE_PATHS = '/device/';

/** The console: its page, its calls and its streams. */
type ConsoleParts = ConsoleDeps & {
  files: ConsoleFiles;
  live: LiveStreams;
  settings: { readonly consoleBanner: string | undefined };
};

/** The answers to devices and users besides the endpoints. */
interface DeviceParts {
  streams: Streams;
  gate: Answering;
  proxy: PanelProxy;
  discovery: DiscoveryDoor;
  my: MyDoor;
  strangers: Strangers;
  probe: AnswerProbe;
  /** Returns whether the caller is a proxy that may ask `/gate`. */
  isOfGate(request: Request): boolean;
}

/** Null if the request became a WebSocket. */
type Answering = (request: Request) => Maybe<Response | null>;
type Route = readonly [path: string, answer: Answering];

/** Returns the function that answers every request of the server. */
export function mount(deps: CallDeps, parts: DeviceParts, console: ConsoleParts): Answering {
  const { clock, core, log, parties, traffic } = deps;
  const { discovery, my, probe, proxy, strangers } = parts;
  const other = traffic.tallyOf(null);
  const stranger = (request: Request, startMs = clock.steadyMs()) => {
    traffic.count(other, { request, says: 'stranger', tookMs: null });
    return strangers.answer(request, startMs);
  };

  /** Replaces the answer to a wrong method by that of strangers. */
  const quietly = (request: Request, answer: Maybe<Response | null>) =>
    strangers.isQuiet
      ? after(answer, (response) => (response?.status === 405 ? stranger(request) : response))
      : answer;

  const failed = (path: string | null, request: Request, fault: unknown) => {
    const requestId = traffic.requestIdOf(request);
    const tally = traffic.tallyOf(path);
    const detail = reportFault(log, tally.endpoint, fault, requestId);
    traffic.count(tally, { request, says: 'unknown_error', tookMs: null, requestId });
    if (!strangers.exposureTo(request).isServed) return bare(new Response(null, { status: 500 }));
    return respond('unknown_error', { detail, requestId });
  };

  const app = new Elysia({ strictPath: true });
  // Elysia's own error pages contain the request.
  app.onError(({ error, request, route, set }) => {
    set.status = 200;
    return failed(route === UNKNOWN ? null : route, request, error);
  });
  for (const [path, answer] of routesOf(deps, parts, console)) {
    // Only `request` is destructured: Elysia reads the source and computes all that a handler uses.
    const handle = ({ request }: { request: Request }) => quietly(request, answer(request));
    app.all(path, handle).head(path, handle);
  }
  const elsewhere = elsewhereOf(traffic);
  const unknown = (request: Request, startMs?: number) =>
    strangers.isQuiet ? stranger(request, startMs) : elsewhere(request);
  app.all(UNKNOWN, ({ request }) => unknown(request));
  const route = app.compile().fetch;

  /** Answers requests for the hosts of panels, for the page of users, and of strangers. */
  const outside = (request: Request): Maybe<Response | null> => {
    const exposure = strangers.exposureTo(request);
    if (exposure.isServed) {
      const page = my(request, exposure);
      return page === null ? proxy.answer(request, exposure) : quietly(request, page);
    }
    const isAsked = plainPath(request.url) === GATE_PATH;
    // Proxies ask by any host; the gate knows them by their address.
    return proxy.answer(request, exposure) ?? (isAsked ? null : stranger(request));
  };
  // Of a discovered path that is answered to no stranger: the request has waited since `startMs`.
  const undiscovered = (request: Request, startMs: number) => {
    const exposure = strangers.exposureTo(request);
    // A proxy that asks `/gate` answers all other paths of its hosts itself, at once.
    const isOfProxy = !exposure.isServed && parts.isOfGate(request);
    const sinceMs = isOfProxy ? Number.NEGATIVE_INFINITY : startMs;
    return proxy.answer(request, exposure, startMs) ?? unknown(request, sinceMs);
  };
  // Devices may find the server at any host, and the probe is answered there.
  const atFirst = (request: Request) =>
    isAt(PROBE_PATH, request.url)
      ? after(probe(request), (response) => response ?? outside(request))
      : discovery(request, (startMs) =>
          startMs === undefined ? outside(request) : undiscovered(request, startMs),
        );
  const answer: Answering = (request) =>
    settle(
      () => atFirst(request),
      (fault) => failed(null, request, fault),
      (response) => response ?? route(plainly(request)),
    );
  // Each call of the store is made for the party of its request.
  return (request) => core.store.onBehalfOf(request, parties.of, answer);
}

/** Elysia's pattern for all other paths. */
const UNKNOWN = '*';

/** The handlers by path, each for every method: some proxies forward the client's to the gate. */
function routesOf(deps: CallDeps, { gate, streams }: DeviceParts, console: ConsoleParts): Route[] {
  const { traffic } = deps;
  const called = endpoints.flatMap((endpoint) => {
    const answer = interpret(endpoint, deps);
    return pathsOf(endpoint).map((path): Route => [path, answer]);
  });
  const page = pageAnswer(console.files, console);
  const pages = [
    ...PAGES.map((path) => [path, page] as const),
    [DOWNLOAD_PATH, downloadAnswer(console)] as const,
    ...[...console.files].map(
      ([name, file]) => [`/console/${name}`, fileAnswer(name, file)] as const,
    ),
  ];
  return [
    ...called.map((one) => (one[0].startsWith(DEVICE_PATHS) ? openToPages(one, traffic) : one)),
    openToPages([STREAM_PATH, streams.answer], traffic),
    [GATE_PATH, gate],
    ...publishedAnswers().map(([path, answer]) => countedAt(path, path, answer, traffic)),
    ...pages.map(([path, answer]) => countedAt(path, '/console', answer, traffic)),
    [LIVE_PATH, console.live.answer],
    ...callAnswers(console),
  ];
}

/** Adds the answer to the preflight of a browser. */
function openToPages([path, answer]: Route, traffic: Traffic): Route {
  return [
    path,
    (request) =>
      isPreflight(request)
        ? counted(traffic, traffic.tallyOf(path), request, answerPreflight())
        : answer(request),
  ];
}

/** Counts answers that are no message under the name `endpoint`. */
function countedAt(
  path: string,
  endpoint: string,
  answer: (request: Request) => Maybe<Response>,
  traffic: Traffic,
): Route {
  const tally = traffic.tallyOf(endpoint);
  return [
    path,
    (request) => after(answer(request), (response) => counted(traffic, tally, request, response)),
  ];
}

/** The name of a status in the counts. */
const MESSAGE_OF_STATUS: Readonly<Record<number, string>> = {
  204: 'preflight',
  404: 'not_found',
  405: 'wrong_method',
};

/** Counts an answer that is no message; adds the id of the request in the log, if any. */
function counted(
  traffic: Traffic,
  tally: EndpointTally,
  request: Request,
  response: Response,
): Response {
  const says = MESSAGE_OF_STATUS[response.status] ?? 'ok';
  const requestId = traffic.count(tally, { request, says, tookMs: null });
  if (requestId !== undefined) response.headers.set('x-request-id', requestId);
  return response;
}

/** Makes the function that answers at unknown paths. */
function elsewhereOf(traffic: Traffic): (request: Request) => Response {
  const other = traffic.tallyOf(null);
  return (request) => {
    if (!/^\/(api|remote)(\/|$)/.test(plainPath(request.url))) {
      return counted(traffic, other, request, new Response('Not found\n', { status: 404 }));
    }
    const requestId = traffic.count(other, { request, says: 'no_such_endpoint', tookMs: null });
    return respond('no_such_endpoint', { requestId });
  };
}

/** Returns whether the path in a request's URL is exactly `path`. */
function isAt(path: string, url: string): boolean {
  const start = pathStart(url);
  const end = start + path.length;
  return url.startsWith(path, start) && (end === url.length || url[end] === '?');
}

/** Collapses repeated slashes and drops the last: many clients' base URLs end in a slash. */
function plainPath(url: string): string {
  const path = /^[^?#]*/.exec(url.slice(pathStart(url)))?.[0] ?? '';
  const plain = path.replace(/\/{2,}/g, '/');
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

/** The index of the path in a request's URL; without a valid Host the URL begins with it. */
function pathStart(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
}

/** URLs in which Elysia finds the path, as it is registered. */
const PLAIN = /^https?:\/\/[^/]{4,}\/(?:[^/?#]+(?:\/[^/?#]+)*)?(?:\?|$)/;

/** Gives a request the URL in which Elysia finds the plain path, with the same query. */
function plainly(request: Request): Request {
  const { url } = request;
  if (!PLAIN.test(url)) {
    const query = /\?.*$/s.exec(url)?.[0] ?? '';
    Object.defineProperty(request, 'url', { value: `http://gatepost${plainPath(url)}${query}` });
  }
  return request;
}
