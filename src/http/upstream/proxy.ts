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
import type { Concluder } from '../bound/concluder.ts';
import { deviceWords } from '../gate/words.ts';
import { reportFault, whyNotNow } from '../interpreter.ts';
import { addressOfRefusal, addressOfRequest, originOf } from '../my/address.ts';
import { dropBody } from '../request/body.ts';
import { parseQuery } from '../request/query.ts';
import type { RideDesk } from '../ride/desk.ts';
import { bare, type Strangers } from '../strangers.ts';
import type { EndpointTally, Traffic } from '../traffic.ts';
import { admissionOf, isSuccess } from './admission.ts';
import { type Answered, hindered, type Obstacle, refusal, toPage } from './answers.ts';
import { type AskDeps, ask, meansUnknown } from './asking.ts';
import { type Answer, Failure } from './exchange.ts';
import { Inspection } from './inspection.ts';
import { MoveGuard } from './moves.ts';
import { NewLinks } from './new-links.ts';
import { askForUser, infoPathOf } from './old-token.ts';
import type { PanelFollowers } from './panel-followers.ts';
import { type Panel, Panels } from './panels.ts';
import { passOn } from './pass-on.ts';
import { passageOf } from './passage.ts';
import { type Denied, FREELY, isOfStranger, type LinkLimit, type Passage } from './permit.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

interface ProxyOptions extends Omit<AskDeps, 'isEnding'> {
  core: Core;
  settings: UpstreamSettings & Pick<PageSites, 'myPath'> & Pick<Ways, 'rideHosts'>;
  traffic: Traffic;
  rides: RideDesk;
  strangers: Strangers;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
  panels: PanelFollowers;
  /** Returns the limit of new links of the client of a request. */
  limitLinks(request: Request): LinkLimit;
  /** Returns the network of the client; null: only that of a proxy is known. */
  sharedAddressOf(request: Request): string | null;
  /** Asks a panel with made-up keys; returns whether it serves one. */
  servesStrangers(upstream: Upstream): Promise<boolean>;
  concluder: Concluder;
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
    answered = hindered(reason === null ? 'fault' : 'not_now', false, reason ?? undefined);
  }
  const { outcome: says, response } = answered;
  const hides = deps.strangers.isQuiet ? answered.hides : undefined;
  // Paths count as keys do, so that no delay tells the one from the other.
  const isGuess = answered.isGuess === true || hides === 'all';
  return deps.concluder.conclude(tally, { request, says, startMs, isGuess, requestId }, () => {
    if (hides === 'all') return deps.strangers.answer(request, startMs);
    return hides === 'text' ? bare(response) : response;
  });
}

async function answerOf(deps: ProxyDeps, request: Request, panel: Panel): Promise<Answered> {
  const { settings, strangers } = deps;
  const { upstream } = panel;
  const { headers, method } = request;
  // The page of users has no address at a host at which it does not answer.
  const origin = () =>
    strangers.areServed(request) ? originOf(request, deps.provenanceOf(request)) : '';
  const refuse = async (denied: Denied): Promise<Answered> => {
    const { reason, outcome, isGuess, full, opensPage } = denied;
    const at = deps.clock.nowMs();
    const own = opensPage ? await pageOf(deps, request, upstream, origin()) : null;
    if (own !== null) return { outcome: outcome ?? reason, response: toPage(own) };
    const page = await addressOfRefusal(deps.core, settings, full, origin(), at);
    const response = refusal(reason, request, upstream, settings, page);
    const hides = isOfStranger(denied) ? 'all' : undefined;
    return { outcome: outcome ?? reason, response, hides, ...(isGuess && { isGuess }) };
  };
  if (method !== 'GET' && method !== 'HEAD') return hindered('wrong_method', false);
  if (isOdd(headers, upstream)) return hindered('bad_request', false);
  const target = targetOf(request.url);
  const path = readRequestPath(target.split('?', 1)[0] ?? '');
  if (path === null) return refuse({ reason: 'link_not_found' });
  const passage = await passageFor(deps, request, panel, { path, target });
  if (typeof passage === 'string') return hindered(passage, false);
  if ('reason' in passage) return refuse(passage);
  const { isShared, link } = passage;
  const hasLink = !passage.isNewKey && !passage.isForAll;
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
  if (typeof answer === 'string') return hindered(answer, hasLink);
  if (answer instanceof Failure) {
    const { isDropped, kind } = answer;
    const unknown = meansUnknown(answer, panel, passage, deps.clock);
    if (unknown === 'path') return absent();
    if (unknown === 'key') return refuse({ reason: 'link_not_found', isGuess: true });
    const isGuess = isDropped && passage.isOtherPath;
    return { ...hindered(kind, hasLink), isGuess };
  }
  const isUnknown = answer.status >= 400 && answer.status < 500;
  const isGuess = isUnknown && (passage.isNewKey || passage.isOtherPath);
  const onOther = () => noteOther(deps, upstream.host, answer);
  const onProof = (key: string, { providerId }: AdmittedDevice) =>
    deps.panels.proved(upstream, providerId, key);
  const admitted = await admissionOf(passage, answer, { clock: deps.clock, onOther, onProof });
  if (typeof admitted === 'string') {
    answer.cancel();
    return hindered(admitted, hasLink);
  }
  if (admitted !== null && 'reason' in admitted) {
    answer.cancel();
    const isUnnamed = passage.isForPage && passage.isNewKey;
    return refuse({ ...admitted, isUnnamed, isGuess: isGuess || admitted.isGuess === true });
  }
  const isStrange = strangers.isQuiet && admitted === null && provesNoKey(passage, answer);
  if (isStrange && isUnknown && !(await passage.passesUnproven())) {
    answer.cancel();
    return refuse({ ...passage.unknown, isGuess });
  }
  await deps.moves.check(answer.headers, upstream, nowMs);
  const isAdmitted = admitted !== null && isSuccess(answer);
  const rider = isAdmitted ? { ...fetch, link: admitted } : null;
  const passing = { answer, passage, hasLink, rider, isStrange };
  return { ...(await passOn(deps, request, panel, passing)), isGuess };
}

/** Returns whether an answer proves no key of a link: it shows nothing of Gatepost to strangers. */
const provesNoKey = ({ isNewKey }: Passage, { status }: Answer): boolean =>
  isNewKey && status >= 300 && status !== NOT_MODIFIED;

/** Returns whether servers could choose differently: two hosts, one not of the URL, an upgrade. */
function isOdd(headers: Headers, upstream: Upstream): boolean {
  const host = headers.get('host') ?? '';
  const isOther = host !== upstream.host && hostName(host) !== upstream.host;
  return isOther || headers.has('upgrade');
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
  if ('says' in words) return { reason: 'hwid_required', isUnnamed: true };
  const visit = {
    ...words,
    path,
    query: parseQuery(target, true),
    takesSlot: request.method === 'GET',
    nowMs: clock.nowMs(),
    accepts: request.headers.get('accept') ?? '',
    limitLinks: limitLinks(request),
    address: () => deps.sharedAddressOf(request),
    secret: secretOf(keySecretFile),
    panels,
    areStrangersServed: () => deps.newLinks.areServed(panel),
    askForUser: (named: KeyInPath, name: string) => {
      const question = { path: infoPathOf(target.split('?', 1)[0] ?? ''), isWhole: true };
      const asked = () => ask(deps, request, panel, { ...question, isInfo: true }, FOR_TOKEN);
      return askForUser(panel.userIds, named, name, asked);
    },
  };
  return passageOf(core, panel, visit, clock.nowMs());
}

const absent = (): Answered => {
  const response = new Response(null, { status: 404 });
  return { outcome: 'passed', response, hides: 'all' };
};
const NOT_MODIFIED = 304;
/** An old token opens no link until the panel names its user. */
const FOR_TOKEN = {
  isForAll: false,
  isNewKey: false,
  isOtherPath: false,
  holdsSlot: false,
  judge: null,
};
/** Returns path and query of a request's URL, without a fragment. */
function targetOf(url: string): string {
  const target = url.slice(url.indexOf('/', url.indexOf('://') + 3));
  return target.split('#', 1)[0] ?? '';
}
