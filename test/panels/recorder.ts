/** Notes what a real panel answers, as Gatepost's readers ask it. */

import { textIn } from '../support/made-up.ts';
import type { Exchange } from '../support/recorded.ts';

/** Headers of answers that Gatepost reads or passes on, and a panel makes itself. */
const KEPT_HEADERS = new RegExp(
  [
    '^(?:content-type|content-disposition|location|subscription-userinfo|profile-.*',
    'support-url|announce.*|x-hwid-.*|routing.*)$',
  ].join('|'),
);
const LINKS_MAX = 3;
const LIST_MAX = 3;
const PAGE_LENGTH_MAX = 400;

/** The answer of a panel: a type that both kinds of `Response` have. */
interface Answer {
  status: number;
  headers: Iterable<[string, string]>;
  text(): Promise<string>;
}

async function exchangeOf(
  path: string,
  asked: Readonly<Record<string, string>>,
  answer: Answer,
): Promise<Exchange> {
  const text = await answer.text();
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => KEPT_HEADERS.test(name)),
  );
  const isJson = headers['content-type']?.includes('json') ?? false;
  let body: unknown = text;
  if (isJson && text !== '') body = JSON.parse(text);
  const wanted = Object.keys(asked).length > 0 && { asked };
  return { path, ...wanted, status: answer.status, headers, body };
}

export interface Recorder {
  /** The address of the API by way of the recorder. */
  url: string;
  /** Returns what was exchanged since the last call. */
  taken(): Exchange[];
  stop(): Promise<void>;
}

/** Stands between a reader and the API of a panel. */
export function recordApi(api: string): Recorder {
  const { origin, pathname: base } = new URL(api);
  let exchanges: Exchange[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { host: _, ...headers } = Object.fromEntries(request.headers);
      const { method } = request;
      const sent = method === 'GET' ? null : await request.text();
      const answer = await fetch(origin + pathname + search, {
        method,
        headers,
        redirect: 'manual',
        ...(sent !== null && { body: sent }),
      });
      // Its own path is the part of the address before `/api`.
      const path = pathname.slice(base === '/' ? 0 : base.length) + search;
      const exchange = await exchangeOf(path, {}, answer.clone() as unknown as Answer);
      const change = sent !== null && { method, sent: JSON.parse(sent) as unknown };
      exchanges.push({ ...change, ...exchange });
      return new Response(await answer.text(), {
        status: answer.status,
        headers: { 'content-type': answer.headers.get('content-type') ?? '' },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}${base === '/' ? '' : base}`,
    taken: () => {
      const all = exchanges;
      exchanges = [];
      return all;
    },
    stop: () => server.stop(true),
  };
}

/** Asks for a subscription. */
export async function recordSubscription(
  url: string,
  path: string,
  asked: Readonly<Record<string, string>>,
): Promise<Exchange> {
  const answer = await fetch(url + path, { headers: asked, redirect: 'manual', keepalive: false });
  const exchange = await exchangeOf(path, asked, answer);
  const isPage = exchange.headers['content-type']?.includes('html') ?? false;
  if (isPage) return { ...exchange, body: String(exchange.body).slice(0, PAGE_LENGTH_MAX) };
  return { ...exchange, body: shortened(exchange.body) };
}

/** Returns a subscription with a few servers, of each protocol at least one. */
export function shortened(body: unknown): unknown {
  if (Array.isArray(body)) {
    const kinds = new Map<unknown, number>();
    const kept = body.filter((one) => {
      const { type, protocol } = (one ?? {}) as Record<string, unknown>;
      const seen = kinds.get(type ?? protocol) ?? 0;
      kinds.set(type ?? protocol, seen + 1);
      return seen < (type === undefined && protocol === undefined ? LIST_MAX : 1);
    });
    return kept.map(shortened);
  }
  if (typeof body === 'object' && body !== null) {
    return Object.fromEntries(Object.entries(body).map(([name, one]) => [name, shortened(one)]));
  }
  if (typeof body !== 'string') return body;
  const decoded = /^[\w+/]{40,}={0,2}\s*$/.test(body) ? textIn(body.trim()) : null;
  if (decoded !== null) return Buffer.from(String(shortened(decoded))).toString('base64');
  const lines = body.split('\n');
  const isLinks = lines.every((line) => line === '' || /^[\w+]+:\/\//.test(line));
  return isLinks ? `${lines.slice(0, LINKS_MAX).join('\n')}\n` : body;
}

/** Returns the names in the JSON of answers, so that two versions can be compared. */
export function namesIn(value: unknown, at = ''): Set<string> {
  if (Array.isArray(value)) return new Set(value.flatMap((one) => [...namesIn(one, `${at}[]`)]));
  if (typeof value !== 'object' || value === null) return new Set([at]);
  return new Set(
    Object.entries(value).flatMap(([name, inner]) => [...namesIn(inner, `${at}.${name}`)]),
  );
}
