/**
 * Answers the page of users, at the server's own hosts and at hosts of panels whose provider has
 * the page. Every request that opens no page gets the same answer and counts as a guess.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { actingAs, type Core } from '../../core/core.ts';
import {
  codeIn,
  findMine,
  freeMine,
  hasMy,
  type KeyPaths,
  MY_TEXT_LENGTH_MAX,
  openMy,
  pageNameOf,
  readMyName,
} from '../../core/my.ts';
import { FIGURES_PARAM, figuresProof, namesSubscription } from '../../core/my-figures.ts';
import { type PanelKind, panelOf } from '../../core/panel/kind.ts';
import type { MyName, MySites } from '../../core/port/my.ts';
import { languagesOf } from '../../core/ride/languages.ts';
import { codesAreKeys } from '../../core/secret-code.ts';
import type { MinuteLimiter } from '../bound/limiter.ts';
import type { Parties } from '../bound/parties.ts';
import type { Connection } from '../console/site.ts';
import { reportFault, whyNotNow } from '../interpreter.ts';
import { dropBody, readForm } from '../request/body.ts';
import type { Exposure } from '../strangers.ts';
import type { Traffic } from '../traffic.ts';
import type { PanelProxy } from '../upstream/proxy.ts';
import type { Upstream, UpstreamSettings } from '../upstream/settings.ts';
import { originOf } from './address.ts';
import { answerNews, NEWS_PARTS, type NewsPart } from './news.ts';
import { type Answered, isForeign, page, queryOf, SAFE } from './reply.ts';
import { myLanguage } from './texts.ts';
import { askView, linkView, PLACES_EACH, type Said, type ViewOf } from './view.ts';

/** Settings that are read for each request, so that a change applies at once. */
export interface MySettings extends UpstreamSettings, MySites {
  readonly gateKeyPaths: KeyPaths['keyPaths'];
  readonly gateKey: KeyPaths['key'];
  readonly gateKeySecretFile: string;
  readonly gatePanel: PanelKind | '';
}

interface MyDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: MySettings;
  traffic: Traffic;
  proxy: Pick<PanelProxy, 'answer' | 'upstreamOf'>;
  limits: { registrations: MinuteLimiter };
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
  connectionOf(request: Request): Connection;
  clientOf(request: Request): string;
  parties: Parties;
  bodyTimeMaxMs: number;
}

/** The name under which requests are counted. */
const ENDPOINT = '/my';
const FORM_BYTES_MAX = 4_096;
const SAYS: readonly Said[] = ['freed', 'cut', 'gone', 'cooling'];
const SAID_OF = { ok: 'freed', slot_gone: 'gone', cooling_down: 'cooling' } as const;

type Part = '' | NewsPart;

/** The host of a page: that of a panel, or (null) of this server. */
type Site = Upstream | null;

export type MyDoor = (request: Request, exposure: Exposure) => Promise<Response> | null;

/** Makes the answer of the page; it returns null for a request to another path. */
export function makeMy(deps: MyDeps): MyDoor {
  const { clock, core, log, parties, proxy, secretOf, settings, traffic } = deps;
  const tally = traffic.tallyOf(ENDPOINT);

  function ofHost(host: string): KeyPaths {
    const upstream = settings.gateUpstreams.find((one) => one.host === host);
    if (upstream !== undefined) {
      const { key, keyPaths, keySecretFile, provider: providerCode } = upstream;
      const panel = panelOf(upstream);
      return { keyPaths, key, secret: secretOf(keySecretFile), panel, providerCode };
    }
    const { gateKey: key, gateKeyPaths: keyPaths, gateKeySecretFile } = settings;
    const panel = panelOf({ panel: settings.gatePanel, key });
    return { keyPaths, key, secret: secretOf(gateKeySecretFile), panel, providerCode: null };
  }

  const nameIn = (text: string | null, site: Site): MyName | null =>
    text === null ? null : readMyName(text, ofHost, site?.provider ?? null);

  const viewOf = (request: Request): ViewOf => {
    const language = myLanguage([...languagesOf(request.headers), settings.gateLanguage]);
    return { language, path: settings.myPath, nowMs: clock.nowMs() };
  };

  const notFound = (request: Request, given = queryOf(request).get('link')): Answered => ({
    says: 'link_not_found',
    response: page(request, askView(viewOf(request), true), 404),
    isGuess: true,
    code: codeIn(given ?? ''),
  });

  async function show(request: Request, site: Site): Promise<Answered> {
    const view = viewOf(request);
    const query = queryOf(request);
    const given = query.get('link');
    if (given === null) return { says: 'ok', response: page(request, askView(view, false)) };
    const name = nameIn(given, site);
    const opened = name && (await openMy(core, { name, ...referencesIn(query) }, view.nowMs));
    if (opened === null) return notFound(request);
    parties.found(request, opened.link.installId);
    const from = Math.floor(Number(query.get('from')) / PLACES_EACH) * PLACES_EACH || 0;
    const first = from > 0 && from < opened.places.length ? from : 0;
    // A page of news outlives a reference.
    const hasNews = core.pushKey() !== null && !codesAreKeys(core, opened.link.providerCode);
    const link = { ...opened.link, installCode: pageNameOf(core, opened.link, view.nowMs) };
    const said = SAYS.find((one) => one === query.get('said')) ?? null;
    return {
      says: 'ok',
      response: page(request, linkView({ ...opened, link }, view, { from: first, said, hasNews })),
    };
  }

  /** Opens the page of the link that a person typed, or frees a slot. */
  async function take(request: Request, site: Site): Promise<Answered> {
    const form = await readForm(request, FORM_BYTES_MAX, deps.bodyTimeMaxMs);
    const given = form?.get('link') ?? '';
    const name = given.length > MY_TEXT_LENGTH_MAX ? null : nameIn(given, site);
    if (name === null) return notFound(request, given);
    const nowMs = clock.nowMs();
    const cut = form?.get('cut') ?? null;
    const reference = cut ?? form?.get('free') ?? null;
    if (reference === null) {
      const link = await findMine(core, name, nowMs);
      if (link === null) return notFound(request, given);
      parties.found(request, link.installId, true);
      const proof = namesSubscription(name) ? figuresProof(link, nowMs) : '';
      return seeOther(`${pageNameOf(core, link, nowMs)}${proof}`);
    }
    const from = deps.clientOf(request);
    const acting = actingAs(core, () => ({ kind: 'user', name: 'user', from }));
    const done = await freeMine(acting, name, reference, cut !== null, nowMs);
    if (done === null) return notFound(request, given);
    const said = done.says === 'ok' && cut !== null ? 'cut' : SAID_OF[done.says];
    const proof = form?.get(FIGURES_PARAM) ?? null;
    const ending = proof === null ? '' : `&${FIGURES_PARAM}=${encodeURIComponent(proof)}`;
    return seeOther(`${pageNameOf(core, done.link, nowMs)}${ending}`, said);
  }

  function seeOther(name: string, said?: Said): Answered {
    const to = `${settings.myPath}?link=${name}${said ? `&said=${said}` : ''}`;
    const headers = { ...SAFE, location: to };
    return { says: said ?? 'ok', response: new Response(null, { status: 303, headers }) };
  }

  const newsOf = (site: Site) => ({
    core,
    viewOf,
    notFound,
    clientOf: deps.clientOf,
    parties,
    bodyTimeMaxMs: deps.bodyTimeMaxMs,
    registrations: deps.limits.registrations,
    nameIn: (text: string | null) => nameIn(text, site),
    originOf: (request: Request) => originOf(request, deps.connectionOf(request)),
  });

  async function answerOf(request: Request, site: Site, part: Part): Promise<Answered> {
    const { method } = request;
    const isKnown = method === 'GET' || method === 'HEAD' || method === 'POST';
    if (method === 'POST' && isForeign(request)) return notFound(request);
    if (part !== '' && isKnown) return answerNews(newsOf(site), part, request);
    if (method === 'GET' || method === 'HEAD') return show(request, site);
    if (method === 'POST') return take(request, site);
    const headers = { ...SAFE, allow: 'GET, HEAD, POST' };
    return { says: 'wrong_method', response: new Response(null, { status: 405, headers }) };
  }

  async function answer(request: Request, site: Site, part: Part): Promise<Response> {
    const startMs = clock.steadyMs();
    let answered: Answered;
    let requestId: string | undefined;
    try {
      answered = await answerOf(request, site, part);
    } catch (fault) {
      requestId = traffic.requestIdOf(request);
      const text = `${reportFault(log, ENDPOINT, fault, requestId)}\n`;
      const isLater = whyNotNow(fault) !== null;
      const headers = isLater ? { ...SAFE, 'retry-after': '5' } : SAFE;
      const response = new Response(text, { status: isLater ? 503 : 500, headers });
      answered = { says: isLater ? 'not_now' : 'fault', response };
    }
    const { code, says, response, isGuess = false } = answered;
    dropBody(request);
    const decided = { request, says, startMs, isGuess, code, requestId };
    await traffic.conclude(tally, decided);
    return response;
  }

  /** Answers at a panel's host. The path belongs to the panel unless its provider has the page. */
  async function answerAtPanel(
    request: Request,
    exposure: Exposure,
    site: Upstream,
    part: Part,
  ): Promise<Response> {
    const provider = await core.store.findProvider(site.provider);
    const isOurs = provider !== null && hasMy(provider, clock.nowMs());
    return (isOurs ? null : proxy.answer(request, exposure)) ?? answer(request, site, part);
  }

  return (request, exposure) => {
    const { myPath } = settings;
    const part = myPath === '' ? null : partOf(myPath, request.url);
    if (part === null) return null;
    const site = proxy.upstreamOf(request);
    return site === null
      ? answer(request, null, part)
      : answerAtPanel(request, exposure, site, part);
  };
}

const referencesIn = (query: URLSearchParams) => ({
  reference: query.get('this'),
  proof: query.get(FIGURES_PARAM),
});

/** Returns the part of the page in a URL, empty for the page itself; null: another path. */
function partOf(path: string, url: string): '' | NewsPart | null {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  if (!url.startsWith(path, start)) return null;
  const rest = /^\/?([a-z.]*)\/?(?:\?|$)/.exec(url.slice(start + path.length));
  if (rest === null) return null;
  const [whole, part = ''] = rest;
  if (part === '') return '';
  const isBelow = whole.startsWith('/');
  return (isBelow && NEWS_PARTS.find((known) => known === part)) || null;
}
