/**
 * The Elysia app: a plugin for each audience, all of them mounted here, each route made of its
 * record. Elysia's table of routes is the only one; a request that fits none of them is looked at
 * again by its path.
 *
 * Where Elysia 1.4 on Bun does not do as the contract asks (each tried over a socket):
 *
 * - It takes `//api//x` for another path than `/api/x`, and counts a `#` to the path. Bases of URLs
 *   end in a slash too many, so the route `*` looks the plain path up.
 * - What is no route as it stands, and all that a listener that retires serves, it routes by what
 *   follows the first slash behind seven characters: with a Host, that is the path, but not without
 *   a valid one, which HTTP/1.0 does not need, nor always with `https://`. So each handler
 *   compares the path, and looks again.
 * - A method that a route does not have is a NOT_FOUND of `onError`, which knows no record. It has
 *   words and headers of the record's own: `*` finds the route by its path alone.
 * - HEAD runs the GET route. It must change nothing, so the interpreter compares the method.
 * - A schema is checked before `beforeHandle`, and each misfit is one VALIDATION. Credentials come
 *   first, and each parameter has words of its own, so the interpreter reads parameters. `parse`
 *   would read the body before all that, however long it is: it is off.
 * - Its `query` holds the last of two values, and leaves `%D1` as it is: `query.ts` reads strictly.
 * - `onError` sees a fault, and neither its record nor how far the call had come. The interpreter
 *   answers its own faults; `onError` has those of everything else.
 * - Hooks do not run when `*` calls a handler, and a route composed anew costs more than a request.
 *   Nothing may come in past a look at access or a count, so both are in the handler.
 */

import { Elysia } from 'elysia';
import type { Maybe } from '../core/port/maybe.ts';
import { answerPreflight, isPreflight } from './answer/cors.ts';
import { respond } from './answer/respond.ts';
import { publishedAnswers } from './document/published.ts';
import { type Endpoint, pathsOf } from './endpoint.ts';
import { appEndpoints } from './endpoints/app.ts';
import { endpoints } from './endpoints/index.ts';
import { messagingEndpoints } from './endpoints/messaging.ts';
import { GATE_PATH } from './gate/gate.ts';
import { interpret, reportFault } from './interpreter.ts';
import type { CallDeps } from './request/call.ts';
import { STREAM_PATH } from './stream/device-stream.ts';
import type { Streams } from './stream/stream.ts';
import type { EndpointTally, Traffic } from './traffic.ts';
import type { PanelProxy } from './upstream/proxy.ts';

/** Elysia reads no body: the interpreter does, behind the look at access. */
const UNREAD = { parse: 'none' } as const;

/** The paths that pages of other origins may call. */
const DEVICE_PATHS = '/device/';

/** Null if the request became a WebSocket. */
type Answering = (request: Request) => Maybe<Response | null>;

/** Puts the plugins together, and an answer for everything that is none of theirs. */
export function mount(
  deps: CallDeps,
  streams: Streams,
  gate: Answering,
  proxy: PanelProxy,
): Elysia {
  const { clientOf, core, crowd, log, traffic } = deps;
  // By default Elysia looks for the path behind a host name of at least four letters.
  const app = new Elysia({ handler: { standardHostname: false } });
  const preflight = (path: string, request: Request) =>
    counted(traffic, traffic.tallyOf(path), request, answerPreflight());
  const doors = { elsewhere: elsewhereOf(traffic), preflight, proxied: proxy.answer };
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
    .use(publishedDocuments(traffic, paths));
  // Not the whole context: Elysia reads the sources, and would make all that this could need.
  app.all('*', ({ request }) => paths.answer(request), UNREAD);
  // Elysia's own errors would put the request into the answer.
  app.onError(({ error, request, set }) => {
    set.status = 200;
    const requestId = traffic.requestIdOf(request);
    const path = plainPath(request.url);
    const tally = traffic.tallyOf(paths.has(path) ? path : null);
    const detail = reportFault(log, tally.endpoint, error, requestId);
    traffic.count(tally, { request, says: 'unknown_error', tookMs: null, requestId });
    return respond('unknown_error', { detail, requestId });
  });
  return app;
}

/** The answers to requests that are at no endpoint. */
interface Doors {
  /** Answers at all other paths. */
  elsewhere(path: string, request: Request): Response;
  /** Answers a browser that asks about a path of devices. */
  preflight(path: string, request: Request): Response;
  /** Answers the requests for the hosts of panels, whatever their path; null stands for others. */
  proxied: PanelProxy['answer'];
}

/**
 * Handlers by path, for requests whose path Elysia did not find. Every request comes by here, and
 * `begin` begins it: in turns, and on behalf of its client.
 */
class Paths {
  readonly #answers = new Map<string, Answering>();

  constructor(
    private readonly doors: Doors,
    private readonly begin: (request: Request, answer: Answering) => Maybe<Response | null>,
  ) {}

  has(path: string): boolean {
    return this.#answers.has(path);
  }

  /** Notes what answers at a path; returns it for Elysia, which may find it at another one. */
  handler(path: string, answer: Answering): Answering {
    this.#answers.set(path, answer);
    const here: Answering = (request) =>
      this.doors.proxied(request) ??
      (isAt(path, request.url) ? answer(request) : this.#answer(request));
    return (request) => this.begin(request, here);
  }

  answer(request: Request): Maybe<Response | null> {
    return this.begin(request, this.#anywhere);
  }

  #anywhere: Answering = (request) => this.doors.proxied(request) ?? this.#answer(request);

  #answer(request: Request): Maybe<Response | null> {
    const path = plainPath(request.url);
    const answer = this.#answers.get(path);
    if (answer === undefined) return this.doors.elsewhere(path, request);
    if (path.startsWith(DEVICE_PATHS) && isPreflight(request)) {
      return this.doors.preflight(path, request);
    }
    return answer(request);
  }
}

/** The answer to proxies, by any method: some hand the client's on. */
function gatePlugin(answer: Answering): Elysia {
  const plugin = new Elysia({ name: 'gate' });
  plugin.all(GATE_PATH, ({ request }) => answer(request), UNREAD);
  return plugin;
}

/** The texts that are the same for everybody. */
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

/** The endpoints of one audience, each route made of its record. */
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

/** The message that a status stands for in the counts. */
const MESSAGE_OF_STATUS: Readonly<Record<number, string>> = {
  204: 'preflight',
  404: 'not_found',
  405: 'wrong_method',
};

/** Counts an answer that is a page. */
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

/** The answer to a request for a path that is none of ours. */
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

/** Tells whether the path in a request's URL is `path` as it stands. */
function isAt(path: string, url: string): boolean {
  const start = pathStart(url);
  const end = start + path.length;
  return url.startsWith(path, start) && (end === url.length || url[end] === '?');
}

/** Base addresses end in a slash too many: of a run one is left, at the end none. */
function plainPath(url: string): string {
  const path = /^[^?#]*/.exec(url.slice(pathStart(url)))?.[0] ?? '';
  const plain = path.replace(/\/{2,}/g, '/');
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

/** Index of the path in a request's URL, which without a valid Host begins with it. */
function pathStart(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
}
