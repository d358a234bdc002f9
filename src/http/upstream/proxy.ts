/**
 * The proxy in front of panels. A request is judged first, without a write: refused devices never
 * reach the panel. After a 2xx of the panel the slot is taken and the link of a new key is created;
 * then the answer is passed on. So neither guessed paths nor an outage of the panel create rows.
 */

import type { Clock } from '../../clock.ts';
import type { Core } from '../../core/core.ts';
import { hostName } from '../../core/host-name.ts';
import { type KeyInPath, mayPass, type Path, readPath } from '../../core/key-path.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { PageSites } from '../../core/port/my.ts';
import { Deadline } from '../../deadline.ts';
import type { Log } from '../../log.ts';
import { deviceWords } from '../gate/words.ts';
import { reportFault } from '../interpreter.ts';
import { addressOfRefusal, addressOfRequest, originOf } from '../my/address.ts';
import { countedAs } from '../request/address.ts';
import { dropBody } from '../request/body.ts';
import { parseQuery } from '../request/query.ts';
import { addRiders, intervalHeader } from '../ride/answer.ts';
import type { AdmittedFetch, RideDesk } from '../ride/desk.ts';
import type { EndpointTally, Traffic } from '../traffic.ts';
import { admissionOf, isSuccess, isTrue } from './admission.ts';
import { type Obstacle, type Outcome, obstacle, passedOn, refusal } from './answers.ts';
import { type Answer, Failure } from './exchange.ts';
import { keepFresh, keepFromSharedCaches, type Provenance, requestHeaders } from './headers.ts';
import { askForUser, infoPathOf } from './old-token.ts';
import { PanelLimits } from './panel-limits.ts';
import { type Panel, Panels } from './panels.ts';
import { type Denied, FREELY, type LinkLimit, type Passage, passageOf } from './passage.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

interface ProxyOptions {
  core: Core;
  clock: Clock;
  log: Log;
  settings: UpstreamSettings & Pick<PageSites, 'myPath'>;
  traffic: Traffic;
  rides: RideDesk;
  provenanceOf(request: Request): Provenance;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
  /** Returns the limit of new links of the client of a request. */
  limitLinks(request: Request): LinkLimit;
  /** Counts a guess by the client of a request; returns the delay of its answer, ms. */
  guessed(request: Request): number;
  /** Sets the time that an answer may take, if longer than the server's idle time, s. */
  grantPatience(request: Request, seconds: number): void;
}

interface ProxyDeps extends ProxyOptions {
  panelLimits: PanelLimits;
  /** Returns whether the server waits for no more answers. */
  isEnding(): boolean;
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
/** The longest idle time of Bun, s. */
const PATIENCE_MAX_S = 255;
const GRACE_S = 10;
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
  const deps = { ...options, panelLimits: new PanelLimits(options), isEnding: () => isEnding };
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
    answered = { outcome: 'fault', response: obstacle('fault') };
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
  const refuse = async ({ reason, outcome, isGuess, full }: Denied): Promise<Answered> => {
    const at = deps.clock.nowMs();
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
  const path = readPath(target.split('?', 1)[0] ?? '');
  if (path === null) return refuse({ reason: 'link_not_found' });
  const passage = await passageFor(deps, request, panel, { path, target });
  if (typeof passage === 'string') return { outcome: passage, response: obstacle(passage) };
  if ('reason' in passage) return refuse(passage);

  const { isShared, link } = passage;
  const nowMs = deps.clock.nowMs();
  const pageUrl = () =>
    passage.opensPage ? addressOfRequest(settings, origin(), upstream.host, target) : null;
  const fetch = { request, isShared, pageUrl };
  const before = link && (await deps.rides.on({ ...fetch, link }, upstream, nowMs));
  const isWhole = passage.judge !== null || before?.isDue === true;
  const question = { path: target, isWhole };
  const answer = await ask(deps, request, panel, question, passage);
  if (typeof answer === 'string') return { outcome: answer, response: obstacle(answer) };
  if (answer instanceof Failure) {
    const { isDropped, kind } = answer;
    // Some panels close the connection on an unknown key.
    if (isDropped && passage.isNewKey) return refuse({ reason: 'link_not_found', isGuess: true });
    const isGuess = isDropped && passage.isOtherPath;
    return { outcome: kind, response: obstacle(kind), isGuess };
  }
  const isUnknown = answer.status >= 400 && answer.status < 500;
  const isGuess = isUnknown && (passage.isNewKey || passage.isOtherPath);
  const admitted = await admissionOf(passage, answer, deps.clock);
  if (typeof admitted === 'string') {
    answer.cancel();
    return { outcome: admitted, response: obstacle(admitted) };
  }
  if (admitted !== null && 'reason' in admitted) {
    answer.cancel();
    return refuse({ ...admitted, isGuess: isGuess || admitted.isGuess === true });
  }
  const isAdmitted = admitted !== null && isSuccess(answer);
  if (!passage.isForAll) keepFromSharedCaches(answer.headers);
  // Also without a message: a cache must not hide the next one.
  if (isAdmitted && upstream.ride !== 'off') keepFresh(answer.headers);
  if (isAdmitted) await addRides(deps, { ...fetch, link: admitted }, upstream, answer);
  return {
    outcome: isAdmitted ? 'admitted' : 'passed',
    response: passedOn(answer, isAdmitted),
    isGuess,
  };
}

/** Judges a request by the rule of the door. */
function passageFor(
  deps: ProxyDeps,
  request: Request,
  panel: Panel,
  { path, target }: { path: Path; target: string },
): Maybe<Passage | Denied | Obstacle> {
  const { core, clock, limitLinks, panelLimits, secretOf } = deps;
  const { passPaths, keyPaths, keySecretFile } = panel.upstream;
  if (mayPass(passPaths, keyPaths, path)) return FREELY;
  const words = deviceWords(request);
  if ('says' in words) return { reason: 'hwid_required' };
  const visit = {
    ...{ ...words, path, query: parseQuery(target, true), takesSlot: request.method === 'GET' },
    ...{ accepts: request.headers.get('accept') ?? '', limitLinks: limitLinks(request) },
    ...{ secret: secretOf(keySecretFile), panelLimits },
    askForUser: (named: KeyInPath, name: string) => {
      const question = { path: infoPathOf(target.split('?', 1)[0] ?? ''), isWhole: true };
      const asked = () => ask(deps, request, panel, { ...question, isInfo: true }, NEW_KEY);
      return askForUser(panel.userIds, named, name, asked);
    },
  };
  return passageOf(core, panel, visit, clock.nowMs());
}

/**
 * Returns how long a request may wait for a free place, ms, and how long its client may get no
 * byte, s. The panel has all of `timeoutMs`; a long one leaves less for the queue, because of
 * {@link PATIENCE_MAX_S}.
 */
export function timesOf(timeoutMs: number): { waitMs: number; patienceS: number } {
  const leftMs = (PATIENCE_MAX_S - GRACE_S) * 1_000 - timeoutMs;
  const waitMs = Math.min(timeoutMs, leftMs);
  return { waitMs, patienceS: (waitMs + timeoutMs) / 1_000 + GRACE_S };
}

/** Asks the panel when a place is free. */
async function ask(
  { clock, log, isEnding, provenanceOf, grantPatience }: ProxyDeps,
  request: Request,
  panel: Panel,
  { path, isWhole, isInfo = false }: { path: string; isWhole: boolean; isInfo?: boolean },
  { isNewKey }: Pick<Passage, 'isNewKey'>,
): Promise<Answer | Failure | Obstacle> {
  const { client, places, upstream } = panel;
  const { signal } = request;
  const method = request.method === 'HEAD' && !isInfo ? 'HEAD' : 'GET';
  const { waitMs, patienceS } = timesOf(upstream.timeoutMs);
  grantPatience(request, patienceS);
  const provenance = provenanceOf(request);
  const sent = upstream.hostHeader === 'upstream' ? client.host : upstream.host;
  const headers = requestHeaders(request, { sent, asked: upstream.host }, provenance, isWhole);
  // The proxy reads the answer itself.
  if (isInfo) headers['accept-encoding'] = 'identity';
  const patience = new Deadline(waitMs, signal, clock.steadyMs);
  const leave = await places.take(countedAs(provenance.client), patience.signal);
  patience.end();
  if (typeof leave === 'string') return signal.aborted ? 'client_left' : 'upstream_busy';
  if (isEnding()) {
    leave();
    return 'upstream_busy';
  }
  const onEnd = (failure: Failure | null) => {
    leave();
    if (failure === null || !failure.kind.startsWith('upstream_')) return;
    if (!(failure.isDropped && isNewKey)) panel.logFailure(failure, log, clock.steadyMs());
  };
  return client.ask(upstream, { method, path, headers, signal, onEnd });
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
  const riders = await rides.on(fetch, upstream, nowMs);
  if (riders === null) return;
  const carried = addRiders(headers, riders, upstream.announce);
  rides.note(carried, fetch.link, riders.app?.toLowerCase() ?? UNKNOWN_APP, nowMs);
}

/** An old token opens no link until the panel names its user. */
const NEW_KEY = { isNewKey: true };
const UNKNOWN_APP = 'unknown app';
/** Returns path and query of a request's URL, without a fragment. */
function targetOf(url: string): string {
  const target = url.slice(url.indexOf('/', url.indexOf('://') + 3));
  return target.split('#', 1)[0] ?? '';
}
