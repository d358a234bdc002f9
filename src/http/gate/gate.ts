/**
 * Answers a proxy whether a request may pass to the panel, by the rule of `/install`:
 *
 * | status | the request |
 * |---|---|
 * | 204 | passes |
 * | 403 | is refused |
 * | 500 | is refused because of a fault |
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { countBotFetch } from '../../core/bot.ts';
import type { Core } from '../../core/core.ts';
import { SHORT_INTERVAL_HOURS } from '../../core/cut-off.ts';
import { admitDevice, type DeviceCall } from '../../core/door.ts';
import type { RefusedAtDoor } from '../../core/door-refusals.ts';
import { type KeyInPath, type KeyPath, keyIn, type Path } from '../../core/key-path.ts';
import { myNameOf, myUrlOfFetch, myUrlOfLink, myUrlOfRefusal } from '../../core/my.ts';
import {
  decideByName,
  FORGED,
  judgeByName,
  type NamedRequest,
  unknownTo,
} from '../../core/named-link.ts';
import { isRefused } from '../../core/outcome.ts';
import { type PanelKey, type PanelKind, panelOf } from '../../core/panel/kind.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { AdmittedDevice } from '../../core/port/link.ts';
import { after, type Maybe, settle } from '../../core/port/maybe.ts';
import type { MySites } from '../../core/port/my.ts';
import type { Ways } from '../../core/port/way.ts';
import type { Riders } from '../../core/ride/riding.ts';
import { PASSES } from '../../core/without-hwid.ts';
import { MinuteLine } from '../bound/limiter.ts';
import { reportFault } from '../interpreter.ts';
import type { TrustedProxies } from '../request/address.ts';
import { dropBody } from '../request/body.ts';
import { botOf } from '../request/bot.ts';
import { Hosts } from '../request/hosts.ts';
import { valueIn } from '../request/query.ts';
import { handedOn, intervalHeader, replacingButtons } from '../ride/answer.ts';
import type { AdmittedFetch, RideDesk } from '../ride/desk.ts';
import { discoveryHeader } from '../ride/discovery.ts';
import { noteFetch } from '../ride/fetch.ts';
import { bare, type Strangers } from '../strangers.ts';
import type { Traffic } from '../traffic.ts';
import {
  ADMITTED,
  type Conclusion,
  conclusionOf,
  isGuess,
  isOfStranger,
  LET_THROUGH_HEADERS,
  letThrough,
  refusalOf,
} from './conclusion.ts';
import { readDeviceHeaders } from './device-headers.ts';
import { type GatePanel, panelAdmits } from './gate-panel.ts';
import { type OriginalRequest, readOriginal } from './original.ts';
import type { TextSettings } from './texts.ts';

/** Settings that are read for each request, so that a change applies at once. */
export interface GateSettings
  extends TextSettings,
    MySites,
    Pick<Ways, 'gateProviderIdFile' | 'gateRide' | 'gateUpdateIntervalHours'> {
  /** Templates of paths with a subscription key. */
  readonly gateKeyPaths: readonly KeyPath[];
  /** The kind of key in its segment; a token needs the secret that signs it. */
  readonly gateKey: PanelKey;
  readonly gateKeySecretFile: string;
  /** The panel behind the proxies, the URL of its API, and the file with the token of that API. */
  readonly gatePanel: PanelKind | '';
  readonly gatePanelUrl: string;
  readonly gatePanelTokenFile: string;
  readonly gatePanelAccountFile: string;
  readonly gatePanelHeadersFile: string;
  /** `panel`: figures of subscriptions are read from that API. */
  readonly gateRead: 'off' | 'panel';
  /** Networks that may ask; null: those of `trustedProxies`. */
  readonly gateProxies: TrustedProxies | null;
  readonly trustedProxies: TrustedProxies;
}

interface GateDeps {
  core: Core;
  clock: Clock;
  log: Log;
  settings: GateSettings;
  traffic: Traffic;
  rides: RideDesk;
  strangers: Strangers;
  panel: GatePanel;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
  /** Returns the address of the peer. */
  peerOf(request: Request): string;
  /** Returns whether the caller is a proxy that may ask. */
  isOfGate(request: Request): boolean;
  /** Returns the name under which refused phones share an address; null: it is not known. */
  sharedAddressOf(request: Request, trusted: TrustedProxies): string | null;
  /** Returns what hears of the link that a request names. */
  onLinkOf(request: Request): NonNullable<DeviceCall['onLink']>;
}

export const GATE_PATH = '/gate';

const DOOR = 'subscription' as const;
const BOT_LIMIT: Conclusion = { says: 'gate_bot_limit' };

/** The question of a proxy; `isHead`: about a request that takes no slot. */
interface Asking {
  request: Request;
  isHead: boolean;
}

/** Makes the handler of `/gate`. It logs and counts nothing that it reads. */
export function makeGate(deps: GateDeps): (request: Request) => Maybe<Response> {
  const { clock, core, log, settings, traffic } = deps;
  const tally = traffic.tallyOf(GATE_PATH);
  const hosts = new Hosts();
  const untrusted = new MinuteLine();

  function decide(request: Request): Maybe<Conclusion> {
    const nowMs = clock.nowMs();
    if (!deps.isOfGate(request)) {
      const client = deps.peerOf(request);
      if (untrusted.due(nowMs) > 0) log.warn('gate_untrusted', { client });
      return { says: 'gate_untrusted' };
    }
    const original = readOriginal(request, hosts);
    if (isRefused(original)) return { says: 'gate_unclear', detail: original.detail };
    return answer(original, request, nowMs);
  }

  function answer(
    { host, method, path, providerCode, query }: OriginalRequest,
    request: Request,
    nowMs: number,
  ): Maybe<Conclusion> {
    if (method !== 'GET' && method !== 'HEAD') return { says: 'gate_method' };
    const reported = readDeviceHeaders(request);
    if ('says' in reported) return { ...reported, isUnnamed: true };
    const { facts, hwid, junkHwid } = reported;
    const key = keyOf(path);
    if (isRefused(key)) return conclusionOf(unknownTo(hwid));
    const trusted = settings.gateProxies ?? settings.trustedProxies;
    const address = () => deps.sharedAddressOf(request, trusted);
    const onLink = deps.onLinkOf(request);
    const code = valueIn(query, 'installid');
    const isHead = method === 'HEAD';
    const named = {
      device: { domainHash: host.hash, hwid, junkHwid, providerCode, address, onLink, door: DOOR },
      facts,
      key,
      code: typeof code === 'string' ? code : null,
      codesAsKeys: false,
      mayJoin: !isHead,
      isApp: true,
      isQuiet: deps.strangers.isQuiet,
    };
    const ask = (named: NamedRequest) => askFor(named, { isHead, host, path, request }, nowMs);
    if (hwid !== null) return ask(named);
    const at = { host: host.name, providerCode };
    const bot = botOf(core, request, at, () => {
      const reported = request.headers.get('x-forwarded-proto');
      return { reported, isEncrypted: false, client: address() };
    });
    return after(bot, (of) => {
      if (of === null) return ask(named);
      const device = { ...named.device, botId: of.id, providerCode: of.providerCode };
      return after(ask({ ...named, device }), (conclusion) => {
        if (conclusion.says !== 'ok') return conclusion;
        const isIn = countBotFetch(core, of.id, named, nowMs);
        return after(isIn, (is) => (is ? conclusion : BOT_LIMIT));
      });
    });
  }

  /** Decides about the link that a request names. */
  function askFor(
    named: NamedRequest,
    { host, isHead, path, request }: Pick<OriginalRequest, 'host' | 'path'> & Asking,
    nowMs: number,
  ): Maybe<Conclusion> {
    const { facts } = named;
    const decided = isHead
      ? judgeByName(core, named, nowMs)
      : decideByName<Conclusion>(core, named, nowMs, (call, key) =>
          after(mayEnter(call, key, facts), (may) => {
            const myUrl = (link: AdmittedDevice, showsFigures: boolean) => {
              const { installCode } = call;
              const { providerCode } = link;
              const name = installCode && myNameOf({ installCode, providerCode });
              const plain = () => myUrlFor(host.name, path, name);
              const how = { plain, isByCode: installCode !== null, showsFigures, nowMs };
              return myUrlOfLink(core, settings, settings.myUrl, link, how);
            };
            return may ? admit(call, facts, { request, myUrl, key }, nowMs) : FORGED;
          }),
        );
    return after(decided, (found) => {
      if (found === null) return conclusionOf(unknownTo(named.device.hwid));
      if ('refused' in found) return conclusionOf(found);
      const { outcome } = found;
      if (outcome === PASSES) return ADMITTED;
      if ('says' in outcome) return outcome;
      // HEAD takes no slot: a device without one could ask by HEAD and read by GET.
      return outcome.holdsSlot ? ADMITTED : { says: 'gate_no_slot' };
    });
  }

  /** Returns whether the panel takes the key: it is asked before a new device gets a slot. */
  function mayEnter(call: DeviceCall, key: KeyInPath | null, facts: DeviceFacts): Maybe<boolean> {
    return key === null || !deps.panel.isAsked() || panelAdmits(deps, key, call, facts);
  }

  /** Reads the key of a path; null: it has none. */
  function keyOf(path: Path): KeyInPath | typeof FORGED | null {
    const { gateKey: key, gateKeyPaths: keyPaths, gateKeySecretFile } = settings;
    const secret = deps.secretOf(gateKeySecretFile);
    const panel = panelOf({ panel: settings.gatePanel, key });
    const named = keyIn({ keyPaths, key, secret, panel }, path);
    const isOdd = path.looseAt !== undefined;
    if (named === null || (isRefused(named) && key === 'plain' && !isOdd)) return null;
    // A code does not help either: the panel may read the key differently.
    return isRefused(named) || !named.isProven ? FORGED : named;
  }

  function admit(
    call: DeviceCall,
    facts: DeviceFacts,
    { key, ...about }: Pick<AdmittedFetch, 'request' | 'myUrl'> & { key: KeyInPath | null },
    nowMs: number,
  ): Maybe<Conclusion | RefusedAtDoor> {
    return after(
      admitDevice(core, call, facts, nowMs),
      (link): Maybe<Conclusion | RefusedAtDoor> => {
        if (isRefused(link)) return link;
        if (key !== null) deps.panel.readLater(link, key);
        // The path of nearly all requests.
        const isPlain = link.facts === undefined && link.awaitsFetch === undefined;
        if (isPlain && settings.gateUpdateIntervalHours === 0) return ADMITTED;
        noteFetch(deps, link, nowMs);
        const { gateKey, gateProviderIdFile: providerIdFile, gateRide: ride } = settings;
        const panel = panelOf({ panel: settings.gatePanel, key: gateKey });
        const isShared = call.isShared === true;
        const fetch = { ...about, link, isShared, namesLink: true };
        return after(deps.rides.on(fetch, { ride, providerIdFile }, panel, nowMs), (riders) =>
          withRiders(riders, fetch, nowMs),
        );
      },
    );
  }

  /** Returns the address of the page for the subscription in the proxy's question. */
  function myUrlFor(host: string, path: Path, installCode: string | null): string | null {
    const at = `/${path.map(encodeURIComponent).join('/')}`;
    return myUrlOfFetch(settings, settings.myUrl, { host, path: at, installCode });
  }

  /** Passes the headers that ride to the proxy. */
  function withRiders(riders: Riders | null, fetch: AdmittedFetch, nowMs: number): Conclusion {
    const hours = fetch.link.awaitsFetch ? SHORT_INTERVAL_HOURS : settings.gateUpdateIntervalHours;
    if (riders === null && hours === 0) return ADMITTED;
    // A record: a Headers object costs 1 us more.
    const headers: Record<string, string> = {
      ...LET_THROUGH_HEADERS,
      ...intervalHeader(hours),
      ...(riders && handedOn(riders)),
      ...discoveryHeader(riders, fetch),
    };
    if (riders === null) return { says: 'ok', headers };
    // Only the proxy knows whether the panel has buttons of its own.
    Object.assign(headers, replacingButtons(riders));
    if (riders.isDue) headers[RIDES_HEADER] = Object.keys(handedOn(riders)).join(', ') || 'none';
    deps.rides.note(riders.carried, fetch.link, 'proxy', nowMs);
    return { says: 'ok', headers };
  }

  function conclude(request: Request, startMs: number, conclusion: Conclusion): Maybe<Response> {
    const { refused } = conclusion;
    const page = myUrlOfRefusal(core, settings, refused, settings.myUrl, clock.nowMs());
    return after(page, (address) => answerWith(request, startMs, conclusion, address));
  }

  function answerWith(
    request: Request,
    startMs: number,
    conclusion: Conclusion,
    page: string | null,
  ): Maybe<Response> {
    const { says, reason = says } = conclusion;
    const isOne = isGuess(conclusion);
    const original = isOne ? readOriginal(request, hosts) : null;
    const decided = {
      request,
      says: reason,
      startMs,
      isGuess: isOne,
      code: original && !isRefused(original) && valueIn(original.query, 'installid'),
      requestId: conclusion.requestId,
    };
    return after(traffic.conclude(tally, decided), (requestId) => {
      if (says === 'ok') return letThrough(conclusion);
      dropBody(request);
      const isQuiet = deps.strangers.isQuiet && isOfStranger(conclusion);
      if (isQuiet && says === 'gate_untrusted') return deps.strangers.answer(request, startMs);
      const told = refusalOf(conclusion, request, { settings, page, requestId });
      return isQuiet ? bare(told) : told;
    });
  }

  function fail(request: Request, fault: unknown): Conclusion {
    const requestId = traffic.requestIdOf(request);
    const detail = reportFault(log, GATE_PATH, fault, requestId);
    return { says: 'unknown_error', detail, requestId };
  }

  return (request) => {
    const startMs = clock.steadyMs();
    return settle(
      () => decide(request),
      (fault) => fail(request, fault),
      (conclusion) => conclude(request, startMs, conclusion),
    );
  };
}

/**
 * The header that lists the headers that ride, for proxies that cannot tell an empty header from
 * none. It is present, as `none`, also if the app reads none of them: the panel's answer must be
 * complete then.
 */
const RIDES_HEADER = 'x-gatepost-rides';
