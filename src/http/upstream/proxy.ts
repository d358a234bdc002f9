/**
 * The proxy in front of panels. A request is judged first, without a write: refused devices never
 * reach the panel. After a 2xx of the panel the slot is taken and the link of a new key is created;
 * then the answer is passed on. So neither guessed paths nor an outage of the panel create rows.
 */

import type { Core } from '../../core/core.ts';
import { hostName } from '../../core/host-name.ts';
import { type KeyInPath, mayPass, type Path, readRequestPath } from '../../core/key-path.ts';
import { hasPages } from '../../core/my.ts';
import { panelOf } from '../../core/panel/kind.ts';
import type { AdmittedDevice } from '../../core/port/install.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { PageSites } from '../../core/port/my.ts';
import type { Ways } from '../../core/port/way.ts';
import { deviceWords } from '../gate/words.ts';
import { reportFault, whyNotNow } from '../interpreter.ts';
import { addressOfRefusal, addressOfRequest, originOf } from '../my/address.ts';
import { dropBody } from '../request/body.ts';
import { parseQuery } from '../request/query.ts';
import { addRiders, intervalHeader } from '../ride/answer.ts';
import type { AdmittedFetch, RideDesk } from '../ride/desk.ts';
import type { EndpointTally, Traffic } from '../traffic.ts';
import { admissionOf, isSuccess, isTrue } from './admission.ts';
import { type Obstacle, type Outcome, obstacle, passedOn, refusal, toPage } from './answers.ts';
import { type AskDeps, ask, meansUnknown } from './asking.ts';
import { type Answer, Failure } from './exchange.ts';
import { keepFresh, keepFromSharedCaches } from './headers.ts';
import { Inspection } from './inspection.ts';
import { MoveGuard } from './moves.ts';
import { NewLinks } from './new-links.ts';
import { askForUser, infoPathOf } from './old-token.ts';
import type { PanelFollowers } from './panel-followers.ts';
import { type Panel, Panels } from './panels.ts';
import { passageOf } from './passage.ts';
import { type Denied, FREELY, type LinkLimit, type Passage } from './permit.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

interface ProxyOptions extends Omit<AskDeps, 'isEnding'> {
  core: Core;
  settings: UpstreamSettings & Pick<PageSites, 'myPath'> & Pick<Ways, 'rideHosts'>;
  traffic: Traffic;
  rides: RideDesk;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
  panels: PanelFollowers;
  /** Returns the limit of new links of the client of a request. */
  limitLinks(request: Request): LinkLimit;
  /** Asks a panel with made-up keys; returns whether it serves one. */
  servesStrangers(upstream: Upstream): Promise<boolean>;
  /** Counts a guess by the client of a request; returns the delay of its answer, ms. */
  guessed(request: Request): number;
}

interface ProxyDeps extends ProxyOptions, AskDeps {
  moves: MoveGuard;
  inspection: Inspection;
  newLinks: NewLinks;
}

export interface PanelProxy {
  /** Answers a request for a panel's host; returns null for another host. */
  answer(request: Request): Promise<Response> | null;
  /** Returns the panel of a request's host; null: it is the host of no panel. */
  upstreamOf(request: Request): Upstream | null;
  /** Waits for `answered`; aborts questions in flight after {@link LAST_MS}. */
  stop(answered: Promise<void>): Promise<void>;
}

/** The name under which requests for panels are counted. */
const ENDPOINT = 'upstream';
/** The time of questions in flight when the server stops, ms. */
const LAST_MS = 3_000;

interface Answered {
  /** The name under which the answer is counted. */
  outcome: Outcome;
  response: Response;
  /** True if the answer reveals to a guesser that there is no such link. */
  isGuess?: boolean;
}

export function makeProxy(options: ProxyOptions): PanelProxy {
  const panels = new Panels(options.settings);
  const tally = options.traffic.tallyOf(ENDPOINT);
  let isEnding = false;
  const moves = new MoveGuard(options);
  const deps = {
    ...{ ...options, isEnding: () => isEnding },
    ...{ moves, inspection: new Inspection({ store: options.core.store, moves }) },
    newLinks: new NewLinks(options),
  };
  return {
    answer: (request) => {
      const panel = panels.of(request.url);
      return panel === null ? null : conclude(deps, tally, request, panel);
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
  request: Request,
  panel: Panel,
): Promise<Response> {
  const { clock, log, traffic } = deps;
  const startMs = clock.steadyMs();
  dropBody(request);
  let answered: Answered;
  let requestId: string | undefined;
  try {
    answered = await answerOf(deps, request, panel);
  } catch (fault) {
    requestId = traffic.requestIdOf(request);
    reportFault(log, ENDPOINT, fault, requestId);
    const reason = whyNotNow(fault);
    const outcome = reason === null ? 'fault' : 'not_now';
    answered = { outcome, response: obstacle(outcome, reason ?? undefined) };
  }
  const { outcome, response, isGuess } = answered;
  const tookMs = clock.steadyMs() - startMs;
  traffic.count(tally, { request, says: outcome, tookMs, requestId });
  const delayMs = isGuess ? deps.guessed(request) : 0;
  if (delayMs > 0) await clock.sleep(delayMs);
  return response;
}

async function answerOf(deps: ProxyDeps, request: Request, panel: Panel): Promise<Answered> {
  const { settings } = deps;
  const { upstream } = panel;
  const { headers, method } = request;
  const origin = () => originOf(request, deps.provenanceOf(request));
  const refuse = async (denied: Denied): Promise<Answered> => {
    const { reason, outcome, isGuess, full, opensPage } = denied;
    const at = deps.clock.nowMs();
    const own = opensPage ? await pageOf(deps, request, upstream, origin()) : null;
    if (own !== null) return { outcome: outcome ?? reason, response: toPage(own) };
    const page = await addressOfRefusal(deps.core, settings, full, origin(), at);
    const response = refusal(reason, request, upstream, settings, page);
    return { outcome: outcome ?? reason, response, ...(isGuess && { isGuess }) };
  };
  if (method !== 'GET' && method !== 'HEAD') {
    return { outcome: 'wrong_method', response: obstacle('wrong_method') };
  }
  // Two Host headers, or a host that differs from the URL: servers would choose differently.
  const host = headers.get('host') ?? '';
  const isOdd = host !== upstream.host && hostName(host) !== upstream.host;
  if (isOdd || headers.has('upgrade')) {
    return { outcome: 'bad_request', response: obstacle('bad_request') };
  }
  const target = targetOf(request.url);
  const path = readRequestPath(target.split('?', 1)[0] ?? '');
  if (path === null) return refuse({ reason: 'link_not_found' });
  const passage = await passageFor(deps, request, panel, { path, target });
  if (typeof passage === 'string') return { outcome: passage, response: obstacle(passage) };
  if ('reason' in passage) return refuse(passage);

  const { isShared, link } = passage;
  const nowMs = deps.clock.nowMs();
  const pageUrl = () =>
    passage.opensPage ? addressOfRequest(settings, origin(), upstream.host, target) : null;
  const fetch = { request, isShared, pageUrl };
  const before =
    link && (await deps.rides.on({ ...fetch, link }, upstream, panelOf(upstream), nowMs));
  // Only a whole answer gives a slot.
  const isNew = passage.takesSlot && !passage.holdsSlot;
  const isWhole = passage.judge !== null || isNew || before?.isDue === true;
  const question = { path: target, isWhole };
  const answer = await ask(deps, request, panel, question, passage);
  if (typeof answer === 'string') return { outcome: answer, response: obstacle(answer) };
  if (answer instanceof Failure) {
    const { isDropped, kind } = answer;
    const unknown = meansUnknown(answer, panel, passage, deps.clock);
    if (unknown === 'path') return { outcome: 'passed', response: new Response(null, NOT_FOUND) };
    if (unknown === 'key') return refuse({ reason: 'link_not_found', isGuess: true });
    const isGuess = isDropped && passage.isOtherPath;
    return { outcome: kind, response: obstacle(kind), isGuess };
  }
  const isUnknown = answer.status >= 400 && answer.status < 500;
  const isGuess = isUnknown && (passage.isNewKey || passage.isOtherPath);
  const onOther = () => noteOther(deps, upstream.host, answer);
  const onProof = (key: string, { providerId }: AdmittedDevice) =>
    deps.panels.proved(upstream, providerId, key);
  const admitted = await admissionOf(passage, answer, { clock: deps.clock, onOther, onProof });
  if (typeof admitted === 'string') {
    answer.cancel();
    return { outcome: admitted, response: obstacle(admitted) };
  }
  if (admitted !== null && 'reason' in admitted) {
    answer.cancel();
    return refuse({ ...admitted, isGuess: isGuess || admitted.isGuess === true });
  }
  const isAdmitted = admitted !== null && isSuccess(answer);
  await deps.moves.check(answer.headers, upstream, nowMs);
  if (!passage.isForAll) keepFromSharedCaches(answer.headers);
  // Also without a message: a cache must not hide the next one.
  if (isAdmitted && upstream.ride !== 'off') keepFresh(answer.headers);
  if (isAdmitted) await addRides(deps, { ...fetch, link: admitted }, upstream, answer);
  return {
    outcome: isAdmitted ? 'admitted' : 'passed',
    response: passedOn(inspected(deps, answer, upstream, passage), isAdmitted),
    isGuess,
  };
}

/** Returns the address of the page of users for a browser; null: the provider has none. */
async function pageOf(
  { clock, core, settings }: ProxyDeps,
  request: Request,
  { host, provider: code }: Upstream,
  origin: string,
): Promise<string | null> {
  const provider = await core.store.findProvider(code);
  if (provider === null || !hasPages(provider, clock.nowMs())) return null;
  return addressOfRequest(settings, origin, host, targetOf(request.url));
}

/** Has an answer looked into while it passes. */
function inspected(
  { clock, inspection }: ProxyDeps,
  answer: Answer,
  upstream: Upstream,
  { isForAll }: Passage,
): Answer {
  const nowMs = clock.nowMs();
  const isPage = /^\s*text\/html\b/i.test(answer.headers.get('content-type') ?? '');
  const kind = isForAll ? 'pass_path_with_servers' : 'page_with_servers';
  if (!isSuccess(answer)) return answer;
  return isPage || isForAll
    ? inspection.pages(answer, upstream, kind, nowMs)
    : inspection.heads(answer, upstream, nowMs);
}

/** Notes for the doctor what the panel answered to a device without a slot. */
function noteOther({ clock, core }: ProxyDeps, host: string, { headers, status }: Answer): void {
  const type = /^[\w.+/-]{1,64}/.exec(headers.get('content-type') ?? '')?.[0].toLowerCase();
  const subject = `${status} ${type ?? ''}`.trim();
  core.store.noteSighting({ host, kind: 'no_subscription', subject }, clock.nowMs());
}

/** Judges a request by the rule of the door. */
function passageFor(
  deps: ProxyDeps,
  request: Request,
  panel: Panel,
  { path, target }: { path: Path; target: string },
): Maybe<Passage | Denied | Obstacle> {
  const { core, clock, limitLinks, panels, secretOf } = deps;
  const { passPaths, keyPaths, keySecretFile } = panel.upstream;
  if (mayPass(passPaths, keyPaths, path)) return FREELY;
  const subject = panel.countKey(path);
  if (subject !== null) {
    const { host } = panel.upstream;
    core.store.noteSighting({ host, kind: 'keys_are_uuids', subject }, clock.nowMs());
  }
  const words = deviceWords(request);
  if ('says' in words) return { reason: 'hwid_required' };
  const visit = {
    ...{ ...words, path, query: parseQuery(target, true), takesSlot: request.method === 'GET' },
    nowMs: clock.nowMs(),
    ...{ accepts: request.headers.get('accept') ?? '', limitLinks: limitLinks(request) },
    ...{ secret: secretOf(keySecretFile), panels },
    areStrangersServed: () => deps.newLinks.areServed(panel),
    askForUser: (named: KeyInPath, name: string) => {
      const question = { path: infoPathOf(target.split('?', 1)[0] ?? ''), isWhole: true };
      const asked = () => ask(deps, request, panel, { ...question, isInfo: true }, FOR_TOKEN);
      return askForUser(panel.userIds, named, name, asked);
    },
  };
  return passageOf(core, panel, visit, clock.nowMs());
}

/** Adds the headers that ride now: a message may have begun or ended since the panel was asked. */
async function addRides(
  { clock, rides }: ProxyDeps,
  fetch: AdmittedFetch,
  upstream: Upstream,
  { headers }: Answer,
): Promise<void> {
  const interval = intervalHeader(upstream.updateIntervalHours);
  for (const [name, value] of Object.entries(interval)) headers.set(name, value);
  // Beside this header, apps read `announce` as the reason of a refusal.
  if (isTrue(headers, 'x-hwid-limit')) return;
  const nowMs = clock.nowMs();
  const riders = await rides.on(fetch, upstream, panelOf(upstream), nowMs);
  if (riders === null) return;
  const carried = addRiders(headers, riders, upstream.announce);
  rides.note(carried, fetch.link, riders.app?.toLowerCase() ?? UNKNOWN_APP, nowMs);
}

const NOT_FOUND = { status: 404 };
/** An old token opens no link until the panel names its user. */
const FOR_TOKEN = { isForAll: false, isNewKey: false, isOtherPath: false, judge: null };
const UNKNOWN_APP = 'unknown app';
/** Returns path and query of a request's URL, without a fragment. */
function targetOf(url: string): string {
  const target = url.slice(url.indexOf('/', url.indexOf('://') + 3));
  return target.split('#', 1)[0] ?? '';
}
