/** Responses of the proxy itself: refusals of devices, and failures of the panel. */

import type { RefusedAtDoor } from '../../core/door-refusals.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { announcing, type GateReason, textFor, textNameOf } from '../gate/texts.ts';
import { messages } from '../messages.ts';
import type { FailureKind, UpstreamResponse } from './exchange.ts';
import { placeholderFor } from './placeholder.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

/** Failures: answers that refuse no device. */
export type ProxyError =
  | FailureKind
  | 'wrong_method'
  | 'upstream_busy'
  | 'new_link_limit_reached'
  | 'bot_limit_reached'
  | 'not_now'
  | 'fault';

/** The names under which responses are counted. */
export type Outcome =
  | 'admitted'
  | 'passed'
  | 'link_domain_not_bound'
  | 'key_ambiguous'
  | 'not_named'
  | 'barred'
  | 'install_code_limit_reached'
  | GateReason
  | ProxyError;

const ERRORS: Readonly<Record<ProxyError, { status: number; text: string }>> = {
  // It is counted but never delivered.
  client_left: { status: 400, text: 'the client has left' },
  bad_request: { status: 400, text: 'this request cannot be passed on' },
  wrong_method: { status: 405, text: 'only GET and HEAD are passed on' },
  new_link_limit_reached: { status: 429, text: 'too many new subscriptions from this address' },
  bot_limit_reached: { status: 429, text: 'this bot has fetched the key often enough today' },
  fault: { status: 500, text: 'internal fault, see the log of the server' },
  // With the reason.
  not_now: { status: 503, text: '' },
  upstream_away: { status: 502, text: 'the panel cannot be reached' },
  upstream_malformed: { status: 502, text: 'the panel gave an answer that is no HTTP' },
  upstream_too_large: { status: 502, text: 'the panel gave an answer that is too large' },
  upstream_busy: { status: 503, text: 'the panel has too much to do' },
  upstream_slow: { status: 504, text: 'the panel did not answer in time' },
};

const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };

/** Further headers by status. */
const HEADERS: Readonly<Record<number, Record<string, string>>> = {
  405: { allow: 'GET, HEAD' },
  429: { 'retry-after': '60' },
  503: { 'retry-after': '5' },
};

/** Builds the response to a request that cannot be passed on. */
function errorResponse(kind: ProxyError, text = ERRORS[kind].text): Response {
  const { status } = ERRORS[kind];
  return new Response(`${text}\n`, { status, headers: { ...PLAIN, ...HEADERS[status] } });
}

export interface ProxyResponse {
  /** The name under which the response is counted. */
  outcome: Outcome;
  response: Response;
  /** True if the response reveals to a guesser that there is no such link. */
  isGuess?: boolean;
  /**
   * Hides Gatepost from a caller that names no link, where strangers are answered quietly: `all`
   * stands for the one answer to strangers; `text` keeps the status, by which apps of new customers
   * learn that the panel is away.
   */
  hides?: 'all' | 'text' | undefined;
}

/**
 * Makes the response to a request that cannot be passed on; `hasLink`: it names a link. `text`: the
 * reason, where it is not that of the kind.
 */
export function failed(kind: ProxyError, hasLink: boolean, text?: string): ProxyResponse {
  const hides = kind === 'wrong_method' || kind === 'bad_request' ? 'all' : 'text';
  return { outcome: kind, response: errorResponse(kind, text), ...(!hasLink && { hides }) };
}

/**
 * Builds the refusal of a device in the form that panels use, with a text in its language. `page`:
 * the address where its user may free a place; null: none.
 */
export function refusal(
  refused: Pick<RefusedAtDoor, 'says' | 'reason'>,
  request: Request,
  { panel, placeholder, refusedAs, refusedStatus }: Upstream,
  settings: UpstreamSettings,
  page: string | null,
): Response {
  const { says: reason } = refused;
  const wording = textFor(settings, textNameOf(refused), request.headers, page);
  // The name of a server has no room for the address.
  const { text: name } = textFor(settings, textNameOf(refused), request.headers);
  const { pathname } = new URL(request.url);
  const headers = {
    ...PLAIN,
    'x-hwid-active': 'true',
    ...messages[reason].headers,
    ...announcing(wording, page, request.headers.get('user-agent')),
  };
  if (refusedAs === 'panel' && panel !== '') {
    const as = PANEL_TRAITS[panel].refusalOf(reason);
    const own = as.body === null ? placeholderFor(request.headers, pathname, name) : null;
    const type = own === null ? {} : { 'content-type': own.type };
    const all = { ...headers, ...as.headers, ...type };
    return new Response(own?.body ?? as.body, { status: as.status, headers: all });
  }
  const inApp = placeholder ? placeholderFor(request.headers, pathname, name) : null;
  if (inApp !== null) {
    return new Response(inApp.body, { headers: { ...headers, 'content-type': inApp.type } });
  }
  const address = page === null ? '' : `${page}\n`;
  const body = BODILESS.has(refusedStatus) ? null : `${readable(wording.text)}\n${address}`;
  return new Response(body, { status: refusedStatus, headers });
}

/** Sends a browser to the page of users. */
export function redirect(location: string): Response {
  return new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store' } });
}

/**
 * Marks a text that begins with a right-to-left script: browsers lay out plain text from left to
 * right, and put its full stop at the wrong end.
 */
function readable(text: string): string {
  return /^\P{L}*[\u0590-\u08ff]/u.test(text) ? `\u2067${text}\u2069` : text;
}

/** Statuses whose responses have no body (RFC 9110). */
const BODILESS = new Set([204, 205, 304]);

/** Passes on the response of the panel. */
export function forwarded(
  { status, headers, body }: UpstreamResponse,
  isAdmitted: boolean,
): Response {
  if (isAdmitted) headers.set('x-hwid-active', 'true');
  const bytes = body();
  // Bun adds a content type to bytes without one, but not to a stream.
  const isUntyped = bytes instanceof Uint8Array && !headers.has('content-type');
  return new Response(isUntyped ? streamOf(bytes) : bytes, { status, headers });
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
