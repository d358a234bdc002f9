/**
 * The answer to a proxy about one request, by its status: 204, and it goes to the panel; 403, and
 * it does not; 500 for a fault, so that the proxy stays shut. The rule is that of `/install`.
 */

import type { Clock } from '../../clock.ts';
import type { Core } from '../../core/core.ts';
import { AT_DOOR, admitDevice, type DeviceCall, judgeDevice } from '../../core/door.ts';
import { HWID } from '../../core/formats.ts';
import { type KeyPath, keyIn } from '../../core/key-path.ts';
import { isRefused } from '../../core/outcome.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { Log } from '../../log.ts';
import { respond } from '../answer/respond.ts';
import { MinuteLine } from '../bound/limiter.ts';
import { reportFault } from '../interpreter.ts';
import type { MessageKey } from '../messages.ts';
import type { TrustedProxies } from '../request/address.ts';
import { dropBody } from '../request/body.ts';
import { Hosts } from '../request/hosts.ts';
import { type Query, valueIn } from '../request/query.ts';
import type { Traffic } from '../traffic.ts';
import { type OriginalRequest, readOriginal } from './original.ts';
import { deviceWords } from './words.ts';

/** Settings that are looked at for each request, so that a change holds at once. */
export interface GateSettings {
  /** Templates of paths with the key of a subscription. */
  readonly gateKeyPaths: readonly KeyPath[];
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
  /** The address of a request's peer. */
  peerOf(request: Request): string;
  /** Counts a guess by the client of a request; returns the delay of its answer, ms. */
  guessed(request: Request): number;
}

export const GATE_PATH = '/gate';

/** The conclusion about a request. */
interface Conclusion {
  says: MessageKey;
  /** Words instead of the message's own. */
  detail?: string | undefined;
  /** The reason of a message that has several: it stands in the log and the metrics. */
  reason?: string | undefined;
  requestId?: string;
}

/** The answering of `/gate`. Nothing that it reads is in a log or a count. */
export function makeGate(deps: GateDeps): (request: Request) => Maybe<Response> {
  const { clock, core, log, settings, traffic } = deps;
  const tally = traffic.tallyOf(GATE_PATH);
  const hosts = new Hosts();
  const untrusted = new MinuteLine();

  function judge(request: Request): Maybe<Conclusion> {
    const nowMs = clock.nowMs();
    const peer = deps.peerOf(request);
    if (!(settings.gateProxies ?? settings.trustedProxies).includes(peer)) {
      if (untrusted.due(nowMs) > 0) log.warn('gate_untrusted', { client: peer });
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
    const words = deviceWords(request);
    if ('says' in words) return words;
    const { facts, hwid } = words;
    const device = { domainHash: host.hash, hwid, providerCode };
    const decide = (link: Pick<DeviceCall, 'installCode' | 'subscriptionKey'>) =>
      method === 'HEAD'
        ? lookAt({ ...device, ...link }, nowMs)
        : admit({ ...device, ...link }, facts, nowMs);
    const installCode = textIn(query, 'installid');
    const key = keyIn(settings.gateKeyPaths, path);
    if (key === null || isRefused(key)) return decide({ installCode });
    // What the panel goes by is the key. Where a link has it, no code stands for another link.
    return after(decide({ installCode: null, subscriptionKey: key }), (conclusion) =>
      conclusion === UNKNOWN && installCode !== null ? decide({ installCode }) : conclusion,
    );
  }

  function admit(call: DeviceCall, facts: DeviceFacts, nowMs: number): Maybe<Conclusion> {
    return after(admitDevice(core, call, facts, nowMs), (admitted) =>
      isRefused(admitted) ? admitted : ADMITTED,
    );
  }

  /** HEAD takes no slot: a proxy that tells no method would let everybody in who says HEAD. */
  function lookAt(call: DeviceCall, nowMs: number): Maybe<Conclusion> {
    return after(judgeDevice(core, call, nowMs), (judged) => {
      if (isRefused(judged)) return judged;
      return judged.holdsSlot ? ADMITTED : { says: 'gate_no_slot' };
    });
  }

  function conclude(request: Request, startMs: number, conclusion: Conclusion): Maybe<Response> {
    const { says, reason = says, detail = DETAILS[says] } = conclusion;
    const tookMs = clock.steadyMs() - startMs;
    const requestId = traffic.count(tally, {
      request,
      says: reason,
      tookMs,
      requestId: conclusion.requestId,
    });
    if (says === 'ok') return new Response(null, LET_THROUGH);
    dropBody(request);
    const { body, headers } = respond(says, { detail, requestId });
    headers.set('x-hwid-active', 'true');
    const refusal = new Response(body, { status: says === 'unknown_error' ? 500 : 403, headers });
    const delayMs = says === 'link_not_found' ? deps.guessed(request) : 0;
    return delayMs === 0 ? refusal : clock.sleep(delayMs).then(() => refusal);
  }

  function fail(request: Request, fault: unknown): Conclusion {
    const requestId = traffic.requestIdOf(request);
    const detail = reportFault(log, GATE_PATH, fault, requestId);
    return { says: 'unknown_error', detail, requestId };
  }

  return (request) => {
    const startMs = clock.steadyMs();
    let conclusion: Maybe<Conclusion>;
    try {
      conclusion = judge(request);
    } catch (fault) {
      conclusion = fail(request, fault);
    }
    if (!(conclusion instanceof Promise)) return conclude(request, startMs, conclusion);
    return conclusion
      .catch((fault) => fail(request, fault))
      .then((settled) => conclude(request, startMs, settled));
  };
}

const ADMITTED: Conclusion = { says: 'ok' };
/** The refusal of a key that no link has. */
const UNKNOWN: Conclusion = AT_DOOR.link_not_found;

function textIn(query: Query, name: string): string | null {
  const value = valueIn(query, name);
  return typeof value === 'string' ? value : null;
}

const LET_THROUGH = {
  status: 204,
  headers: new Headers({ 'x-hwid-active': 'true', 'cache-control': 'no-store' }),
};

/** Words of messages that are those of another call. */
const DETAILS: Readonly<Partial<Record<MessageKey, string>>> = {
  hwid_required: `the app tells no device: x-hwid must be ${HWID.rule}`,
  link_not_found:
    'the request names no limited link, or its host is not actively bound to the provider',
};
