/**
 * The proxy in front of panels. A request is decided first, without a write: refused devices never
 * reach the panel. After a 2xx of the panel the slot is taken and the link of a new key is created;
 * then the response is forwarded. So neither guessed paths nor an outage of the panel create rows.
 */

import { countBotFetch } from '../../core/bot.ts';
import type { Core } from '../../core/core.ts';
import type { ClientParts } from '../../core/door.ts';
import { readNamedPath } from '../../core/key-path.ts';
import { hasMy, myUrlOfLink, myUrlOfNames, myUrlOfRefusal } from '../../core/my.ts';
import { NOT_FOUND, unknownTo, WITHOUT_HWID } from '../../core/named-link.ts';
import { isRefused } from '../../core/outcome.ts';
import { panelOf, signedForm } from '../../core/panel/kind.ts';
import { oldNameIn } from '../../core/panel/token.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { MySites } from '../../core/port/my.ts';
import type { AdmittedLink } from '../../core/port/slot.ts';
import type { Ways } from '../../core/port/way.ts';
import { readDeviceHeaders } from '../gate/device-headers.ts';
import { reportFault, whyNotNow } from '../interpreter.ts';
import { myUrlOfRequest, originOf } from '../my/address.ts';
import { dropBody } from '../request/body.ts';
import { botOf } from '../request/bot.ts';
import { pathOf, REPEATED } from '../request/query.ts';
import type { RideDesk } from '../ride/desk.ts';
import { noteFetch } from '../ride/fetch.ts';
import { bare, type Exposure, type Strangers } from '../strangers.ts';
import type { EndpointTally, Traffic } from '../traffic.ts';
import { admissionOf, isSuccess, passesUnproven } from './admission.ts';
import { decide, type SubscriptionRequest } from './decision.ts';
import { Failure, type UpstreamResponse } from './exchange.ts';
import { type ForwardDeps, forward, meansUnknown } from './forward.ts';
import { BY_OTHER_PATH, type Denied, FOR_ALL, type Forwarding } from './forwarding.ts';
import { codeIn, guessedCode, guessesCode } from './guesses.ts';
import { Inspection } from './inspection.ts';
import { MoveGuard } from './moves.ts';
import { type LinkLimit, NewLinks } from './new-links.ts';
import { askForUser, infoPathOf } from './old-token.ts';
import { refusalWithEnd } from './panel-end.ts';
import type { PanelFollowers } from './panel-followers.ts';
import { type Panel, Panels } from './panels.ts';
import { isOdd, targetOf } from './request-line.ts';
import { respond } from './respond.ts';
import { failed, type ProxyError, type ProxyResponse, redirect, refusal } from './responses.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

interface ProxyOptions extends Omit<ForwardDeps, 'isEnding'> {
  core: Core;
  settings: UpstreamSettings & Pick<MySites, 'myPath'> & Pick<Ways, 'rideHosts'>;
  traffic: Traffic;
  rides: RideDesk;
  strangers: Strangers;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
  panels: PanelFollowers;
  /** Returns the limit of new links of the client of a request. */
  limitLinks(request: Request): LinkLimit;
  /** Returns the parts of a call to the door that depend on its client. */
  clientPartsOf(request: Request): ClientParts;
  /** Asks a panel with made-up keys; returns whether it serves one. */
  servesStrangers(upstream: Upstream): Promise<boolean | null>;
}

interface ProxyDeps extends ProxyOptions, ForwardDeps {
  moves: MoveGuard;
  inspection: Inspection;
  newLinks: NewLinks;
}

export interface PanelProxy {
  /**
   * Answers a request for a panel's host, which arrived at the steady time `startMs` (by default
   * now); returns null for another host.
   */
  answer(request: Request, exposure: Exposure, startMs?: number): Promise<Response> | null;
  /** Returns the panel of a request's host; null: it is the host of no panel. */
  upstreamOf(request: Request): Upstream | null;
  /** Waits for `answered`; aborts requests in flight after {@link LAST_MS}. */
  stop(answered: Promise<void>): Promise<void>;
}

/** The name under which requests for panels are counted. */
const ENDPOINT = 'upstream';
const DOOR = 'subscription' as const;
/** The time of requests in flight when the server stops, ms. */
const LAST_MS = 3_000;

export function makeProxy(options: ProxyOptions): PanelProxy {
  const panels = new Panels(options.settings);
  const tally = options.traffic.tallyOf(ENDPOINT);
  let isEnding = false;
  const moves = new MoveGuard(options);
  const deps = {
    ...options,
    isEnding: () => isEnding,
    moves,
    inspection: new Inspection({ store: options.core.store, moves }),
    newLinks: new NewLinks(options),
  };
  return {
    answer: (request, exposure, startMs = options.clock.steadyMs()) => {
      const panel = panels.of(request.url);
      if (panel === null) return null;
      const asked = { request, panel, target: targetOf(request.url), exposure };
      return conclude(deps, tally, asked, startMs);
    },
    upstreamOf: (request) => panels.of(request.url)?.upstream ?? null,
    stop: async (answered) => {
      const timer = setTimeout(() => {
        isEnding = true;
        panels.cut();
      }, LAST_MS);
      await answered;
      clearTimeout(timer);
      panels.close();
    },
  };
}

async function conclude(
  deps: ProxyDeps,
  tally: EndpointTally,
  asked: Asked,
  startMs: number,
): Promise<Response> {
  const { log, strangers, traffic } = deps;
  const { exposure, request } = asked;
  dropBody(request);
  let answered: ProxyResponse;
  let requestId: string | undefined;
  try {
    answered = await responseTo(deps, asked);
  } catch (fault) {
    requestId = traffic.requestIdOf(request);
    reportFault(log, ENDPOINT, fault, requestId);
    const reason = whyNotNow(fault);
    answered = failed(reason === null ? 'fault' : 'not_now', false, reason ?? undefined);
  }
  const { outcome: says, response } = answered;
  const hides = exposure.isQuiet ? answered.hides : undefined;
  // Paths count as keys do, so that no delay tells the one from the other.
  const isGuess = answered.isGuess === true || hides === 'all';
  const code = isGuess ? guessedCode(asked.panel.upstream, asked.target) : null;
  await traffic.conclude(tally, { request, says, startMs, isGuess, code, requestId });
  if (hides === 'all') return strangers.answer(request, startMs);
  return hides === 'text' ? bare(response) : response;
}

/** A request for a panel, with its parts. */
interface Asked {
  request: Request;
  panel: Panel;
  /** Its path and query. */
  target: string;
  exposure: Exposure;
}

async function responseTo(deps: ProxyDeps, asked: Asked): Promise<ProxyResponse> {
  const { request, panel } = asked;
  const { headers, method } = request;
  if (method !== 'GET' && method !== 'HEAD') return failed('wrong_method', false);
  if (isOdd(headers, panel.upstream)) return failed('bad_request', false);
  const read = readNames(deps, asked);
  if ('refused' in read) return refuse(deps, asked, read);
  if (!('device' in read)) return exchange(deps, asked, read, null);
  const named = await withUserNumber(deps, asked, await withBot(deps, asked, read));
  if (typeof named === 'string') return failed(named, false);
  if ('refused' in named) return refuse(deps, asked, named);
  const decided = await decide(deps, panel, named, deps.clock.nowMs());
  // The address of an old token opens no page.
  const decision = named.key === read.key ? decided : { ...decided, opensMy: false };
  if ('refused' in decision) return refuse(deps, asked, decision);
  return exchange(deps, asked, decision, named);
}

/**
 * Reads the names of a link in a request, and its device. Returns the refusal of a token that is
 * none, or the permission for a path without a name.
 */
function readNames(
  { clientPartsOf, secretOf }: ProxyDeps,
  { exposure, panel, request, target }: Asked,
): SubscriptionRequest | Forwarding | Denied {
  const { hash: domainHash, upstream } = panel;
  const { enforce: enforces, key: kind, otherPaths, provider: providerCode } = upstream;
  const secret = secretOf(upstream.keySecretFile);
  const reading = { ...upstream, secret, panel: panelOf(upstream) };
  const named = readNamedPath(pathOf(target), reading);
  if (named === null) return NOT_FOUND;
  if (named.mayPass) return FOR_ALL;
  const reported = readDeviceHeaders(request);
  if ('says' in reported) return WITHOUT_HWID;
  const { facts, hwid, junkHwid } = reported;
  const { key, path } = named;
  const code = codeIn(target);
  if (isRefused(key) && kind !== 'plain') return unknownTo(hwid);
  if (isRefused(key) || code === REPEATED) return NOT_FOUND;
  if (key === null && !code) return otherPaths === 'pass' ? BY_OTHER_PATH : NOT_FOUND;
  const isPage = /\btext\/html\b/i.test(request.headers.get('accept') ?? '');
  const parts = { ...clientPartsOf(request), door: DOOR };
  return {
    path,
    device: { domainHash, hwid, junkHwid, providerCode, enforces, ...parts },
    facts,
    key,
    code: code || null,
    codesAsKeys: upstream.codesAsKeys,
    mayJoin: request.method === 'GET',
    // Browsers send no HWID.
    isApp: hwid !== null || junkHwid !== null || !isPage,
    isQuiet: exposure.isQuiet,
  };
}

/** Names the trusted bot that asks without a HWID; other requests stay as they are. */
function withBot(
  { core, provenanceOf }: ProxyDeps,
  { panel, request }: Asked,
  read: SubscriptionRequest,
): Maybe<SubscriptionRequest> {
  if (read.device.hwid !== null) return read;
  const { host, provider: providerCode } = panel.upstream;
  const bot = botOf(core, request, { host, providerCode }, () => {
    const { client, isTrusted, scheme } = provenanceOf(request);
    const reported = isTrusted ? request.headers.get('x-forwarded-proto') : null;
    return { reported, isEncrypted: scheme === 'https', client };
  });
  return after(bot, (of) =>
    of === null ? read : { ...read, isApp: true, device: { ...read.device, botId: of.id } },
  );
}

/** Asks the panel for the number of the user in an old token; other requests stay as they are. */
async function withUserNumber(
  deps: ProxyDeps,
  { request, panel, target }: Asked,
  named: SubscriptionRequest,
): Promise<SubscriptionRequest | Denied | ProxyError> {
  const { key } = named;
  const form = signedForm(panel.upstream.key);
  const name = key === null || form === null ? null : oldNameIn(form, key.key);
  if (form === null || key === null || name === null) return named;
  const path = infoPathOf(form, pathOf(target));
  const info = { path, isWhole: true, isInfo: true };
  const ask = () => forward(deps, request, panel, info, FOR_TOKEN);
  const found = await askForUser(form, panel.userIds, key, name, ask);
  if (typeof found === 'string') return found;
  return found === null ? unknownTo(named.device.hwid) : { ...named, key: found };
}

/** Sends a request to the panel, admits its device by the response, and forwards that. */
async function exchange(
  deps: ProxyDeps,
  asked: Asked,
  forwarding: Forwarding,
  subscription: SubscriptionRequest | null,
): Promise<ProxyResponse> {
  const { clock, settings } = deps;
  const { exposure, panel, request, target } = asked;
  const { upstream } = panel;
  const { isNewKey, isOtherPath, isShared, link } = forwarding;
  const hasLink = !isNewKey && !forwarding.isForAll;
  const nowMs = clock.nowMs();
  const keys = subscription && panel.countKey(subscription.path);
  if (keys !== null) {
    const sighting = { host: upstream.host, kind: 'keys_are_uuids', subject: keys } as const;
    deps.core.store.noteSighting(sighting, nowMs);
  }
  const myUrl = (of: AdmittedLink, showsFigures: boolean) => {
    const origin = originAt(deps, asked);
    const plain = () => myUrlOfRequest(settings, origin, upstream.host, target);
    const isByCode = typeof codeIn(target) === 'string';
    const how = { plain, isByCode, showsFigures, nowMs: clock.nowMs() };
    return forwarding.opensMy ? myUrlOfLink(deps.core, settings, origin, of, how) : null;
  };
  const fetch = { request, isShared, namesLink: forwarding.opensMy, myUrl };
  const before =
    link && (await deps.rides.on({ ...fetch, link }, upstream, panelOf(upstream), nowMs));
  // Only a whole response gives a slot.
  const isNew = forwarding.takesSlot && !forwarding.holdsSlot;
  const isWhole = forwarding.isUnproven || isNew || before?.isDue === true;
  const asks = { path: target, isWhole };
  const response = await forward(deps, request, panel, asks, forwarding);
  if (typeof response === 'string') return failed(response, hasLink);
  if (response instanceof Failure) {
    const { isDropped, kind } = response;
    const unknown = meansUnknown(response, panel, forwarding, clock);
    if (unknown === 'path') return absent();
    if (unknown === 'key') return refuse(deps, asked, { ...NOT_FOUND, isGuess: true });
    return { ...failed(kind, hasLink), isGuess: isDropped && isOtherPath };
  }
  const isUnknown = response.status >= 400 && response.status < 500;
  const isGuess = isUnknown && (isNewKey || isOtherPath);
  const admitted = await admissionOf(deps, { request, panel, subscription, forwarding }, response);
  if (typeof admitted === 'string') {
    response.cancel();
    return failed(admitted, hasLink);
  }
  if (admitted !== null && 'refused' in admitted) {
    response.cancel();
    const isUnnamed =
      admitted.refused.says === 'link_not_found' || (forwarding.isForPage && isNewKey);
    return refuse(deps, asked, { ...admitted, isUnnamed, isGuess: isGuess || admitted.isGuess });
  }
  const isStrange = exposure.isQuiet && admitted === null && provesNoKey(forwarding, response);
  const asksPanel = { forwarding, subscription };
  if (isStrange && isUnknown && !(await passesUnproven(deps.core, asksPanel, nowMs))) {
    response.cancel();
    return refuse(deps, asked, { ...forwarding.unknown, isGuess });
  }
  if (!(await isWithinBounds(deps, subscription, response, nowMs))) {
    response.cancel();
    return failed('bot_limit_reached', hasLink);
  }
  await deps.moves.check(response.headers, upstream, nowMs);
  const isGiven = admitted !== null && isSuccess(response);
  // Also of an empty body, by which some panels refuse who ended.
  if (isGiven) deps.panels.notes.noteLater(admitted, response.headers);
  const refused = await refusalWithEnd(deps, request, upstream, forwarding, response);
  const isAdmitted = isGiven && refused === null;
  const isFetch = request.method === 'GET' && response.status === 200 && forwarding.slot !== null;
  if (isAdmitted && isFetch) noteFetch(deps, admitted, nowMs);
  const rider = isAdmitted ? { ...fetch, link: admitted } : null;
  const given = { response: refused ?? response, forwarding, hasLink, rider, isStrange };
  const responded = await respond(deps, request, panel, given);
  return { ...responded, isGuess: isGuess || (await guessesCode(deps.core, subscription)) };
}

/** Counts an answer to a bot that forwards no HWID. Returns false beyond its bound of the day. */
function isWithinBounds(
  { core }: ProxyDeps,
  subscription: SubscriptionRequest | null,
  { status }: UpstreamResponse,
  nowMs: number,
): Maybe<boolean> {
  const { botId, hwid } = subscription?.device ?? {};
  if (subscription === null || botId === undefined || hwid !== null || status >= 400) return true;
  return countBotFetch(core, botId, subscription, nowMs);
}

/** Refuses a request; `opensMy`: sends its browser to the page of users. */
async function refuse(
  { clock, core, settings, ...deps }: ProxyDeps,
  asked: Asked,
  { isGuess, isUnnamed, names, opensMy, refused, outcome = refused.reason ?? refused.says }: Denied,
): Promise<ProxyResponse> {
  const { request, target } = asked;
  const { upstream } = asked.panel;
  const origin = originAt(deps, asked);
  const nowMs = clock.nowMs();
  if (opensMy) {
    const provider = await core.store.findProvider(upstream.provider);
    const pageOf = () =>
      names === undefined
        ? myUrlOfRequest(settings, origin, upstream.host, target)
        : myUrlOfNames(core, settings, origin, names, nowMs);
    const own = provider !== null && hasMy(provider, nowMs) ? await pageOf() : null;
    if (own !== null) return { outcome, response: redirect(own) };
  }
  const page = await myUrlOfRefusal(core, settings, refused, origin, nowMs);
  const response = refusal(refused, request, upstream, settings, page);
  return { outcome, response, isGuess, hides: isGuess || isUnnamed ? 'all' : undefined };
}

/** Returns the origin of the page of users; empty at a host at which the page does not answer. */
const originAt = (
  { provenanceOf }: Pick<ProxyDeps, 'provenanceOf'>,
  { exposure, request }: Asked,
): string => (exposure.isServed ? originOf(request, provenanceOf(request)) : '');

/** Returns whether a response proves no key of a link: strangers see nothing of Gatepost in it. */
const provesNoKey = ({ isNewKey }: Forwarding, { status }: UpstreamResponse): boolean =>
  isNewKey && status >= 300 && status !== NOT_MODIFIED;

const absent = (): ProxyResponse => ({
  outcome: 'passed',
  response: new Response(null, { status: 404 }),
  hides: 'all',
});
const NOT_MODIFIED = 304;
/** An old token opens no link until the panel names its user. */
const FOR_TOKEN = {
  isForAll: false,
  isNewKey: false,
  isOtherPath: false,
  holdsSlot: false,
  isUnproven: false,
};
