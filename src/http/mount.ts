/**
 * The Elysia app: one plugin for each audience, one route for each record.
 *
 * Where Elysia 1.4 on Bun deviates from the contract (each tested over a socket):
 *
 * - `//api//x` and `/api/x` are different paths, and a `#` belongs to the path. Base URLs often end
 *   in a slash, so the route `*` finds the record by the plain path.
 * - The path of an unknown route, and of any route at a retiring listener, begins at the first
 *   slash after seven characters: wrong without a valid Host (HTTP/1.0), and at times with
 *   `https://`. So each handler compares the path.
 * - A wrong method is NOT_FOUND in `onError`, without a record. `*` finds the record by its path.
 * - HEAD runs the GET route. The interpreter compares the method.
 * - `parse` reads bodies of any length and schemas are checked before `beforeHandle`. The
 *   interpreter checks credentials first, then reads the body and each parameter.
 * - `query` keeps the last of two values and does not decode `%D1`. `query.ts` reads strictly.
 * - `onError` gets a fault without its record. The interpreter answers its own faults.
 * - Hooks do not run when `*` calls a handler. Access checks and counts are part of the handler.
 */

import { Elysia } from 'elysia';
import { after, type Maybe } from '../core/port/maybe.ts';
import { PROBE_PATH } from '../core/public-probe.ts';
import { answerPreflight, isPreflight } from './answer/cors.ts';
import { respond } from './answer/respond.ts';
import { type ConsoleDeps, callAnswers } from './console/answer.ts';
import { DOWNLOAD_PATH, downloadAnswer } from './console/download.ts';
import { type ConsoleFiles, fileAnswer, PAGES, pageAnswer } from './console/page.ts';
import { LIVE_PATH, type LiveStreams } from './console/stream.ts';
import { publishedAnswers } from './document/published.ts';
import { type Endpoint, pathsOf } from './endpoint.ts';
import { appEndpoints } from './endpoints/app.ts';
import { endpoints } from './endpoints/index.ts';
import { messagingEndpoints } from './endpoints/messaging.ts';
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

/** The interpreter reads bodies, after the access check. */
const UNREAD = { parse: 'none' } as const;

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
  my: MyDoor;
  strangers: Strangers;
  probe: AnswerProbe;
}

/** Null if the request became a WebSocket. */
type Answering = (request: Request) => Maybe<Response | null>;

/** Assembles the plugins, and answers to all other requests. */
export function mount(
  deps: CallDeps,
  { streams, gate, proxy, my, strangers, probe }: DeviceParts,
  console: ConsoleParts,
): Elysia {
  const { clientOf, clock, core, crowd, log, traffic } = deps;
  // By default Elysia expects the path after a host name of at least four letters.
  const app = new Elysia({ handler: { standardHostname: false } });
  const preflight = (path: string, request: Request) =>
    counted(traffic, traffic.tallyOf(path), request, answerPreflight());
  const other = traffic.tallyOf(null);
  const stranger = (request: Request) => {
    traffic.count(other, { request, says: 'stranger', tookMs: null });
    return strangers.answer(request, clock.steadyMs());
  };
  const elsewhere = elsewhereOf(traffic);
  const doors = { elsewhere, preflight, proxied: proxy.answer, my, strangers, stranger };
  const paths = new Paths(doors, (request, answer) =>
    crowd.begin(request, (begun) => core.store.onBehalfOf(begun, clientOf, answer)),
  );
  const providerEndpoints = endpoints.filter(({ audience }) => audience === 'provider');
  const deviceProtocol = endpointPlugin('device-protocol', messagingEndpoints, deps, paths);
  const stream = paths.handler(STREAM_PATH, (request) => streams.answer(request));
  deviceProtocol.get(STREAM_PATH, ({ request }) => stream(request), UNREAD);
  app
    .use(endpointPlugin('provider-api', providerEndpoints, deps, paths))
    .use(endpointPlugin('app-calls', appEndpoints, deps, paths))
    .use(deviceProtocol)
    .use(gatePlugin(paths.handler(GATE_PATH, gate)))
    .use(publishedDocuments(traffic, paths))
    .use(consolePlugin(console, paths));
  const probed = paths.before(PROBE_PATH, probe);
  app.get(PROBE_PATH, ({ request }) => probed(request), UNREAD);
  // Only `request` is destructured: Elysia reads the source and computes all that a handler uses.
  app.all('*', ({ request }) => paths.answer(request), UNREAD);
  // Elysia's own error pages contain the request.
  app.onError(({ error, request, set }) => {
    set.status = 200;
    const requestId = traffic.requestIdOf(request);
    const path = plainPath(request.url);
    const tally = traffic.tallyOf(paths.has(path) ? path : null);
    const detail = reportFault(log, tally.endpoint, error, requestId);
    traffic.count(tally, { request, says: 'unknown_error', tookMs: null, requestId });
    if (!strangers.areServed(request)) return bare(new Response(null, { status: 500 }));
    return respond('unknown_error', { detail, requestId });
  });
  return app;
}

/** The answers to requests that fit no endpoint. */
interface Doors {
  /** Answers at unknown paths. */
  elsewhere(path: string, request: Request): Response;
  /** Answers the preflight of a browser for a path of devices. */
  preflight(path: string, request: Request): Response;
  /** Answers requests for the hosts of panels; null for another host. */
  proxied: PanelProxy['answer'];
  /** Answers the page of users, also at the hosts of panels; null for another path. */
  my: MyDoor;
  strangers: Strangers;
  /** Gives a stranger the one answer. */
  stranger(request: Request): Promise<Response>;
}

/** Handlers by path. Every request passes `begin`, which queues it and sets its client as party. */
class Paths {
  readonly #answers = new Map<string, Answering>();

  constructor(
    private readonly doors: Doors,
    private readonly begin: (request: Request, answer: Answering) => Maybe<Response | null>,
  ) {}

  has(path: string): boolean {
    return this.#answers.has(path);
  }

  /** Registers the handler of a path; returns it for Elysia, which may call it for another path. */
  handler(path: string, answer: Answering): Answering {
    this.#answers.set(path, answer);
    const here: Answering = (request) =>
      this.#outside(request) ??
      (isAt(path, request.url) ? this.#quietly(request, answer(request)) : this.#answer(request));
    return (request) => this.begin(request, here);
  }

  /** Returns a handler for a path at any host; with null the path is unknown. */
  before(path: string, answer: (request: Request) => Promise<Response | null>): Answering {
    const here: Answering = (request) =>
      isAt(path, request.url)
        ? after(answer(request), (response) => response ?? this.#anywhere(request))
        : this.#anywhere(request);
    return (request) => this.begin(request, here);
  }

  answer(request: Request): Maybe<Response | null> {
    return this.begin(request, this.#anywhere);
  }

  #anywhere: Answering = (request) => this.#outside(request) ?? this.#answer(request);

  #outside(request: Request): Promise<Response> | null {
    const { my, proxied, stranger, strangers } = this.doors;
    if (strangers.areServed(request)) {
      const page = my(request);
      return page === null ? proxied(request) : this.#quietly(request, page);
    }
    const isAsked = plainPath(request.url) === GATE_PATH;
    // Proxies ask by any host; the gate knows them by their address.
    return proxied(request) ?? (isAsked ? null : stranger(request));
  }

  /** Replaces the answer to a wrong method by that of strangers. */
  #quietly<R extends Response | null>(request: Request, answer: Promise<R>): Promise<R | Response>;
  #quietly(request: Request, answer: Maybe<Response | null>): Maybe<Response | null>;
  #quietly(request: Request, answer: Maybe<Response | null>): Maybe<Response | null> {
    const { stranger, strangers } = this.doors;
    if (!strangers.isQuiet) return answer;
    return after(answer, (response) => (response?.status === 405 ? stranger(request) : response));
  }

  #answer(request: Request): Maybe<Response | null> {
    const path = plainPath(request.url);
    const answer = this.#answers.get(path);
    if (answer === undefined) {
      const { elsewhere, stranger, strangers } = this.doors;
      return strangers.isQuiet ? stranger(request) : elsewhere(path, request);
    }
    if (path.startsWith(DEVICE_PATHS) && isPreflight(request)) {
      return this.doors.preflight(path, request);
    }
    return this.#quietly(request, answer(request));
  }
}

/** The gate, by any method: some proxies forward the method of the client. */
function gatePlugin(answer: Answering): Elysia {
  const plugin = new Elysia({ name: 'gate' });
  plugin.all(GATE_PATH, ({ request }) => answer(request), UNREAD);
  return plugin;
}

/** The documents of the API. */
function publishedDocuments(traffic: Traffic, paths: Paths): Elysia {
  const plugin = new Elysia({ name: 'published-documents' });
  for (const [path, answer] of publishedAnswers()) {
    const tally = traffic.tallyOf(path);
    const handle = paths.handler(path, (request) =>
      counted(traffic, tally, request, answer(request)),
    );
    plugin.get(path, ({ request }) => handle(request), UNREAD);
  }
  return plugin;
}

/** The page of the console with its files, and its calls. */
function consolePlugin(deps: ConsoleParts, paths: Paths): Elysia {
  const plugin = new Elysia({ name: 'console' });
  const tally = deps.traffic.tallyOf('/console');
  const page = pageAnswer(deps.files, deps);
  const answers = [
    ...PAGES.map((path) => [path, page] as const),
    [DOWNLOAD_PATH, downloadAnswer(deps)] as const,
    ...[...deps.files].map(([name, file]) => [`/console/${name}`, fileAnswer(name, file)] as const),
  ];
  for (const [path, answer] of answers) {
    const handle = paths.handler(path, async (request) =>
      counted(deps.traffic, tally, request, await answer(request)),
    );
    plugin.get(path, ({ request }) => handle(request), UNREAD);
  }
  const live = paths.handler(LIVE_PATH, deps.live.answer);
  plugin.get(LIVE_PATH, ({ request }) => live(request), UNREAD);
  for (const [path, answer] of callAnswers(deps)) {
    const handle = paths.handler(path, answer);
    plugin.post(path, ({ request }) => handle(request), UNREAD);
  }
  return plugin;
}

/** The endpoints of one audience. */
function endpointPlugin(
  name: string,
  endpoints: readonly Endpoint[],
  deps: CallDeps,
  paths: Paths,
): Elysia {
  const plugin = new Elysia({ name });
  for (const endpoint of endpoints) {
    const answering = interpret(endpoint, deps);
    for (const path of pathsOf(endpoint)) {
      const answer = paths.handler(path, answering);
      plugin.route(endpoint.method, path, ({ request }) => answer(request), UNREAD);
    }
  }
  return plugin;
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
function elsewhereOf(traffic: Traffic): (path: string, request: Request) => Response {
  const other = traffic.tallyOf(null);
  return (path, request) => {
    if (!/^\/(api|remote)(\/|$)/.test(path)) {
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
