/**
 * Answers the page of news: registers browsers, shows their messages, and takes acknowledgements.
 */

import { listNews, registerBrowser, tokenHashOf } from '../../core/browser.ts';
import type { Core } from '../../core/core.ts';
import { authenticateDevice } from '../../core/device.ts';
import { readAckItems } from '../../core/message/device-input.ts';
import { acknowledge } from '../../core/message/inbox.ts';
import { findMine, myNameOf } from '../../core/my.ts';
import { FIGURES_PARAM, furtherProof, mayShowFigures } from '../../core/my-figures.ts';
import { isRefused } from '../../core/outcome.ts';
import type { MyLink, MyName } from '../../core/port/my.ts';
import { languagesOf } from '../../core/ride/languages.ts';
import type { MinuteLimiter } from '../bound/limiter.ts';
import type { Parties } from '../bound/parties.ts';
import { cookieIn } from '../console/site.ts';
import { readBody, readForm } from '../request/body.ts';
import { manifestOf, NEWS_MAX, newsView } from './news-view.ts';
import { type Answered, page, queryOf, SAFE } from './reply.ts';
import { iconOf, NEWS_SCRIPT, WORKER_SCRIPT } from './scripts.ts';
import type { ViewOf } from './view.ts';

interface NewsDeps {
  core: Core;
  bodyTimeMaxMs: number;
  registrations: MinuteLimiter;
  clientOf(request: Request): string;
  parties: Parties;
  viewOf(request: Request): ViewOf;
  /** Reads the name of a link; null: it is malformed. */
  nameIn(text: string | null): MyName | null;
  /** Returns the origin of a request. */
  originOf(request: Request): string;
  notFound(request: Request): Answered;
}

const COOKIE = '__Secure-gatepost-news';
/** The longest time for which browsers keep a cookie, s. */
const COOKIE_AGE_S = 400 * 86_400;
const BODY_BYTES_MAX = 16 * 1024;
const FORM_BYTES_MAX = 4_096;
/** The longest host: a name of 253 characters, and a port. */
const HOST_LENGTH_MAX = 259;
const NOTHING = { enter: async () => null, turn: async () => undefined };

const FILES: Readonly<Record<string, { type: string; text: string }>> = {
  'news.js': { type: 'text/javascript; charset=utf-8', text: NEWS_SCRIPT },
  'worker.js': { type: 'text/javascript; charset=utf-8', text: WORKER_SCRIPT },
};

/** The parts of the page below its path. */
export const NEWS_PARTS = ['news', 'news.js', 'worker.js', 'app.webmanifest', 'icon.svg'] as const;
export type NewsPart = (typeof NEWS_PARTS)[number];

const json = (body: object, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...SAFE, 'content-type': 'application/json', ...headers },
  });

/** Answers a part of the page. */
export function answerNews(
  deps: NewsDeps,
  part: NewsPart,
  request: Request,
): Promise<Answered> | Answered {
  const file = FILES[part];
  if (file !== undefined) return fileAnswer(file, request);
  const isPost = request.method === 'POST' && part === 'news';
  if (isPost) return isForm(request) ? stop(deps, request) : change(deps, request);
  return show(deps, part, request);
}

const isForm = ({ headers }: Request) =>
  headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true;

function fileAnswer({ text, type }: { text: string; type: string }, { method }: Request): Answered {
  const policy = "default-src 'none'; connect-src 'self'";
  const headers = { ...SAFE, 'content-type': type, 'content-security-policy': policy };
  const body = method === 'HEAD' ? null : text;
  return { says: 'ok', response: new Response(body, { headers }) };
}

const cookieOf = (path: string, token: string) =>
  [
    ...[`${COOKIE}=${token}`, `Path=${path}`, `Max-Age=${token === '' ? 0 : COOKIE_AGE_S}`],
    ...['Secure', 'HttpOnly', 'SameSite=Strict'],
  ].join('; ');

async function show(deps: NewsDeps, part: NewsPart, request: Request): Promise<Answered> {
  const { core } = deps;
  const view = deps.viewOf(request);
  const key = core.pushKey();
  const query = queryOf(request);
  const name = deps.nameIn(query.get('link'));
  const link = name && key !== null && (await findMine(core, name, view.nowMs));
  if (!link || key === null) return deps.notFound(request);
  deps.parties.found(request, link.installId);
  if (part === 'app.webmanifest') {
    const headers = { 'content-type': 'application/manifest+json' };
    return { says: 'ok', response: json(manifestOf(link, view), 200, headers) };
  }
  if (part === 'icon.svg') {
    const headers = { ...SAFE, 'content-type': 'image/svg+xml' };
    return { says: 'ok', response: new Response(iconOf(link.myColor ?? '#2456c9'), { headers }) };
  }
  const hash = tokenHashOf(cookieIn(request.headers, COOKIE));
  const own = hash && (await core.store.findBrowser(hash));
  const isHere = hash !== null && own?.installId === link.installId;
  const by = { name, proof: query.get(FIGURES_PARAM) };
  const hasFigures = mayShowFigures(link, by, view.nowMs);
  const news = isHere ? await listNews(core, link, hash, hasFigures, view.nowMs, NEWS_MAX) : null;
  const browserCount = await core.store.countBrowsers(link.installId);
  const languages = [...languagesOf(request.headers), view.language];
  const further = hasFigures ? furtherProof(link, by, view.nowMs) : null;
  const proof = further === null ? '' : `&${FIGURES_PARAM}=${further}`;
  const made = newsView({ link, news, browserCount, key, languages, proof }, view);
  return { says: 'ok', response: page(request, made) };
}

/** Unsubscribes this browser, or all of the link. */
async function stop(deps: NewsDeps, request: Request): Promise<Answered> {
  const { core } = deps;
  const { nowMs, path } = deps.viewOf(request);
  const form = await readForm(request, FORM_BYTES_MAX, deps.bodyTimeMaxMs);
  const name = deps.nameIn(form?.get('link') ?? null);
  const link = name && (await findMine(core, name, nowMs));
  if (link === null) return deps.notFound(request);
  const isAll = form?.get('stop') === 'all';
  const hash = tokenHashOf(cookieIn(request.headers, COOKIE));
  if (isAll) await core.store.endBrowsers(link.installId, null);
  else if (hash !== null) await core.store.endBrowsers(link.installId, hash);
  const headers = {
    ...SAFE,
    location: `${path}/news?link=${myNameOf(link)}`,
    'set-cookie': cookieOf(path, ''),
  };
  return { says: 'stopped', response: new Response(null, { status: 303, headers }) };
}

/** Registers a browser, or saves its acknowledgements. */
async function change(deps: NewsDeps, request: Request): Promise<Answered> {
  const body = await readBody(request, BODY_BYTES_MAX, deps.bodyTimeMaxMs, NOTHING);
  if (isRefused(body)) return deps.notFound(request);
  const token = cookieIn(request.headers, COOKIE);
  return 'items' in body
    ? acknowledged(deps, request, token, body['items'])
    : register(deps, request, token, body);
}

async function acknowledged(
  { core, notFound, viewOf }: NewsDeps,
  request: Request,
  token: string | null,
  given: unknown,
): Promise<Answered> {
  const { nowMs } = viewOf(request);
  const device = await authenticateDevice(core, token, nowMs);
  const items = readAckItems(given);
  if (device === null || isRefused(items)) return notFound(request);
  // A browser reads notifications only: no command is executed there, and none fails.
  const read = items.filter(({ state }) => state === 'received' || state === 'opened');
  await acknowledge(core, device, read, nowMs);
  return { says: 'ok', response: json({}) };
}

async function register(
  deps: NewsDeps,
  request: Request,
  token: string | null,
  body: Readonly<Record<string, unknown>>,
): Promise<Answered> {
  const { core, parties, registrations } = deps;
  const { nowMs, path } = deps.viewOf(request);
  const link = await linkOf(deps, token, body['link'], nowMs);
  const origin = URL.parse(deps.originOf(request));
  // The browser names the host, which is stored and sent: it must be valid.
  const isHost = origin !== null && origin.host.length <= HOST_LENGTH_MAX;
  if (link === null || core.pushKey() === null || !isHost) return deps.notFound(request);
  const wish = {
    subscription: body['push'],
    locale: body['locale'],
    token,
    userAgent: request.headers.get('user-agent') ?? '',
    page: `${origin.origin}${path}/news?link=${myNameOf(link)}`,
  };
  const by = { client: deps.clientOf(request), link: parties.found(request, link.installId, true) };
  const make = () => registerBrowser(core, link, wish, nowMs);
  const made = await registrations.attemptBy(by, nowMs, make, (done) => !isRefused(done));
  if (made === null) {
    return { says: 'too_many_requests', response: json({ refused: 'too_many_requests' }, 429) };
  }
  if (isRefused(made)) {
    const { says } = made;
    if (says === 'link_not_found') return deps.notFound(request);
    const status = says === 'malformed' ? 400 : 409;
    return { says, response: json({ refused: says, detail: made.detail }, status) };
  }
  const headers = { 'set-cookie': cookieOf(path, made.token) };
  return { says: 'registered', response: json({}, 200, headers) };
}

/** Finds the link that a browser names, or without a name the link of the browser. */
async function linkOf(
  { core, nameIn }: NewsDeps,
  token: string | null,
  given: unknown,
  nowMs: number,
): Promise<MyLink | null> {
  if (typeof given === 'string') {
    const name = nameIn(given);
    return name && findMine(core, name, nowMs);
  }
  const hash = tokenHashOf(token);
  const own = hash && (await core.store.findBrowser(hash));
  const link = own && (await core.store.findLinkById(own.installId));
  const name = link && nameIn(myNameOf(link));
  return name && findMine(core, name, nowMs);
}
