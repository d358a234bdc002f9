/**
 * Answers the page of users, at the server's own hosts and at those of panels whose provider has
 * it. All that opens no page is answered alike, and counted as a guess.
 */

import type { Clock } from '../../clock.ts';
import { actingAs, type Core } from '../../core/core.ts';
import {
  freeMine,
  hasPages,
  type KeyPaths,
  MY_TEXT_LENGTH_MAX,
  openMy,
  readMyName,
} from '../../core/my.ts';
import type { MyName, PageSites } from '../../core/port/my.ts';
import { languagesOf } from '../../core/ride/languages.ts';
import type { Log } from '../../log.ts';
import { reportFault } from '../interpreter.ts';
import { dropBody, readForm } from '../request/body.ts';
import type { Traffic } from '../traffic.ts';
import type { PanelProxy } from '../upstream/proxy.ts';
import type { Upstream, UpstreamSettings } from '../upstream/settings.ts';
import { myLanguage } from './texts.ts';
import { askView, linkView, PLACES_EACH, type Said, type ViewOf } from './view.ts';

/** Settings that are read for each request, so that a change applies at once. */
export interface MySettings extends UpstreamSettings, PageSites {
  readonly gateKeyPaths: KeyPaths['keyPaths'];
}

interface MyDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: MySettings;
  traffic: Traffic;
  proxy: Pick<PanelProxy, 'answer' | 'upstreamOf'>;
  clientOf(request: Request): string;
  /** Counts a guess by the client of a request; returns the delay of its answer, ms. */
  guessed(request: Request): number;
  bodyTimeMaxMs: number;
}

/** The name under which requests are counted, whatever the path. */
const ENDPOINT = '/my';
const FORM_BYTES_MAX = 4_096;
const SAYS: readonly Said[] = ['freed', 'gone', 'cooling'];
const SAID_OF = { ok: 'freed', slot_gone: 'gone', cooling_down: 'cooling' } as const;

const SAFE = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

interface Answered {
  /** The name under which it is counted. */
  says: string;
  response: Response;
  isGuess?: boolean;
}

/** The site of a page: the host of a panel, or (null) of the server. */
type Site = Upstream | null;

export type MyDoor = (request: Request) => Promise<Response> | null;

/** Makes the answers of the page; null: the request is for another path. */
export function makeMy(deps: MyDeps): MyDoor {
  const { clock, core, log, proxy, settings, traffic } = deps;
  const tally = traffic.tallyOf(ENDPOINT);

  function ofHost(host: string): KeyPaths {
    const upstream = settings.gateUpstreams.find((one) => one.host === host);
    if (upstream === undefined) return { keyPaths: settings.gateKeyPaths, providerCode: null };
    return { keyPaths: upstream.keyPaths, providerCode: upstream.provider };
  }

  const nameIn = (text: string | null, site: Site): MyName | null =>
    text === null ? null : readMyName(text, ofHost, site?.provider ?? null);

  const viewOf = (request: Request): ViewOf => {
    const language = myLanguage([...languagesOf(request.headers), settings.gateLanguage]);
    return { language, path: settings.myPath, nowMs: clock.nowMs() };
  };

  const notFound = (request: Request): Answered => ({
    says: 'link_not_found',
    response: page(request, askView(viewOf(request), true), 404),
    isGuess: true,
  });

  async function show(request: Request, site: Site): Promise<Answered> {
    const view = viewOf(request);
    const query = new URL(request.url).searchParams;
    const given = query.get('link');
    if (given === null) return { says: 'ok', response: page(request, askView(view, false)) };
    const name = nameIn(given, site);
    const opened = name && (await openMy(core, name, query.get('this'), view.nowMs));
    if (opened === null) return notFound(request);
    const from = Math.floor(Number(query.get('from')) / PLACES_EACH) * PLACES_EACH || 0;
    const first = from > 0 && from < opened.places.length ? from : 0;
    const said = SAYS.find((one) => one === query.get('said')) ?? null;
    return { says: 'ok', response: page(request, linkView(opened, view, first, said)) };
  }

  /** Opens the page of what a person typed, or frees a place. */
  async function take(request: Request, site: Site): Promise<Answered> {
    const form = await readForm(request, FORM_BYTES_MAX, deps.bodyTimeMaxMs);
    const given = form?.get('link') ?? '';
    const name = given.length > MY_TEXT_LENGTH_MAX ? null : nameIn(given, site);
    if (name === null) return notFound(request);
    const nowMs = clock.nowMs();
    const reference = form?.get('free') ?? null;
    if (reference === null) {
      const link = await core.store.findMy(name, nowMs);
      return link === null ? notFound(request) : seeOther(link.installCode);
    }
    const from = deps.clientOf(request);
    const acting = actingAs(core, () => ({ kind: 'user', name: 'user', from }));
    const done = await freeMine(acting, name, reference, nowMs);
    if (done === null) return notFound(request);
    return seeOther(done.link.installCode, SAID_OF[done.says]);
  }

  function seeOther(installCode: string, said?: Said): Answered {
    const to = `${settings.myPath}?link=${installCode}${said ? `&said=${said}` : ''}`;
    const headers = { ...SAFE, location: to };
    return { says: said ?? 'ok', response: new Response(null, { status: 303, headers }) };
  }

  async function answerOf(request: Request, site: Site): Promise<Answered> {
    const { method } = request;
    if (method === 'GET' || method === 'HEAD') return show(request, site);
    if (method === 'POST') return take(request, site);
    const headers = { ...SAFE, allow: 'GET, HEAD, POST' };
    return { says: 'wrong_method', response: new Response(null, { status: 405, headers }) };
  }

  async function answer(request: Request, site: Site): Promise<Response> {
    const startMs = clock.steadyMs();
    let answered: Answered;
    let requestId: string | undefined;
    try {
      answered = await answerOf(request, site);
    } catch (fault) {
      requestId = traffic.requestIdOf(request);
      const text = `${reportFault(log, ENDPOINT, fault, requestId)}\n`;
      answered = { says: 'fault', response: new Response(text, { status: 500, headers: SAFE }) };
    }
    const { says, response, isGuess } = answered;
    const tookMs = clock.steadyMs() - startMs;
    traffic.count(tally, { request, says, tookMs, requestId });
    dropBody(request);
    const delayMs = isGuess ? deps.guessed(request) : 0;
    if (delayMs > 0) await clock.sleep(delayMs);
    return response;
  }

  /** The path of a panel's host belongs to the panel, unless its provider has the page. */
  async function answerAtPanel(request: Request, site: Upstream): Promise<Response> {
    const provider = await core.store.findProvider(site.provider);
    const isOurs = provider !== null && hasPages(provider, clock.nowMs());
    return (isOurs ? null : proxy.answer(request)) ?? answer(request, site);
  }

  return (request) => {
    const { myPath } = settings;
    if (myPath === '' || !isAt(myPath, request.url)) return null;
    const site = proxy.upstreamOf(request);
    return site === null ? answer(request, null) : answerAtPanel(request, site);
  };
}

/** Returns whether the path of a URL is this one, perhaps with a slash at its end. */
function isAt(path: string, url: string): boolean {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  if (!url.startsWith(path, start)) return false;
  const rest = url.slice(start + path.length);
  return rest === '' || rest === '/' || rest.startsWith('?') || rest.startsWith('/?');
}

const CLOSED = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('base64');

function page(
  { method }: Request,
  { text, style }: { text: string; style: string },
  status = 200,
): Response {
  const policy = `style-src 'sha256-${hashOf(style)}'; ${CLOSED}`;
  const headers = {
    ...SAFE,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    vary: 'accept-language, x-device-locale',
  };
  return new Response(method === 'HEAD' ? null : text, { status, headers });
}
