/**
 * The device protocol at the host of a subscription, under {@link DISCOVERED_PATH}. Only a device
 * that shows a token which is known there, or the address of a subscription on which it has a slot,
 * is answered. Every other request gets the answer of an unknown path: a prober learns nothing.
 */

import { isDiscoveredAt } from '../../core/device.ts';
import { fetchedKey, findFetchedSlot, targetAt } from '../../core/discovery.ts';
import { readOwnHwid } from '../../core/formats.ts';
import { isText } from '../../core/json-input.ts';
import { isJunkHwid } from '../../core/junk-hwid.ts';
import { readRegistration } from '../../core/message/device-input.ts';
import { isRefused, type Refused } from '../../core/outcome.ts';
import { type PanelKind, panelOf } from '../../core/panel/kind.ts';
import { after, type Maybe, settle } from '../../core/port/maybe.ts';
import type { AdmittedLink } from '../../core/port/slot.ts';
import { bodyOf, Responses } from '../answer/respond.ts';
import { MinuteCounter } from '../bound/limiter.ts';
import { type SharedSettings, timesOf } from '../bound/parties.ts';
import type { Reply } from '../endpoint.ts';
import { ackEndpoint, inboxEndpoint, pushKeyEndpoint, register } from '../endpoints/messaging.ts';
import type { GateSettings } from '../gate/gate.ts';
import { interpret, reportFault } from '../interpreter.ts';
import type { MessageKey } from '../messages.ts';
import { readBody } from '../request/body.ts';
import { bearerToken, type CallDeps, IncomingCall } from '../request/call.ts';
import { authorityOf, Hosts } from '../request/hosts.ts';
import { parseQuery, pathOf, valueIn } from '../request/query.ts';
import { DISCOVERED_PATH } from '../ride/discovery.ts';
import { STRANGER_MS, type Strangers } from '../strangers.ts';
import { readHandshake } from '../stream/handshake.ts';
import type { Streams } from '../stream/stream.ts';
import type { PanelProxy } from '../upstream/proxy.ts';

/** Settings that are read for each request, so that a change applies at once. */
type DiscoverySettings = CallDeps['settings'] &
  Pick<GateSettings, 'gateKey' | 'gateKeyPaths' | 'gateKeySecretFile'> & {
    readonly gatePanel: PanelKind | '';
    readonly authFailuresPerMinuteMax: number;
  } & SharedSettings;

interface DiscoveryDeps extends CallDeps {
  settings: DiscoverySettings;
  proxy: Pick<PanelProxy, 'upstreamOf'>;
  streams: Pick<Streams, 'answer'>;
  strangers: Pick<Strangers, 'isQuiet'>;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
  /** Returns whether the peer of a request is a proxy whose `X-Forwarded-*` are trusted. */
  isTrusted(request: Request): boolean;
}

type Answer = Response | null;

/**
 * Answers a request; null: it became a WebSocket. `asUnknown` answers at another path, and callers
 * that are strangers here; the request arrived at the steady time `startMs`.
 */
export type DiscoveryDoor = (
  request: Request,
  asUnknown: (startMs?: number) => Maybe<Answer>,
) => Maybe<Answer>;

/** The caller is a stranger. */
const UNKNOWN = Symbol('unknown');
const REGISTER = 'register';
const BODY_BYTES_MAX = 8 * 1024;

export function makeDiscovery(deps: DiscoveryDeps): DiscoveryDoor {
  const { clock, core, log, parties, proxy, settings, streams, strangers, traffic } = deps;
  const hosts = new Hosts();
  const guesses = new MinuteCounter();
  const responses = new Responses();
  const tally = traffic.tallyOf(`${DISCOVERED_PATH}/${REGISTER}`);

  const hostOf = (request: Request) => {
    const upstream = proxy.upstreamOf(request);
    return hosts.find(upstream?.host ?? authorityOf(request.headers, deps.isTrusted(request)));
  };

  /** Lets a call pass to its answer if the token is known at the host. */
  const withToken =
    (
      method: string,
      tokenIn: (headers: Headers) => string | null,
      answer: (request: Request) => Maybe<Answer>,
    ) =>
    (request: Request): Maybe<Answer | typeof UNKNOWN> => {
      const host = request.method === method ? hostOf(request) : null;
      if (host === null) return UNKNOWN;
      return after(isDiscoveredAt(core, tokenIn(request.headers), host.hash), (isKnown) =>
        isKnown ? answer(request) : UNKNOWN,
      );
    };

  /** Finds the slot that a registration names, and returns the code of its link; null: none. */
  async function slotOf(request: Request, body: Readonly<Record<string, unknown>>) {
    const { subscription_url: address } = body;
    const host = hostOf(request);
    const hwid = readOwnHwid(body['hwid']);
    if (host === null || isRefused(hwid) || isJunkHwid(hwid) || !isText(address)) return null;
    const target = targetAt(host.name, address);
    if (target === null) return null;
    const upstream = proxy.upstreamOf(request);
    const {
      gateKey: key,
      gateKeyPaths: keyPaths,
      gateKeySecretFile: keySecretFile,
      gatePanel: panel,
    } = settings;
    const site = upstream ?? { key, keyPaths, keySecretFile, panel, passPaths: [], provider: null };
    const secret = deps.secretOf(site.keySecretFile);
    const named = fetchedKey(pathOf(target), { ...site, secret, panel: panelOf(site) });
    const code = valueIn(parseQuery(target, true), 'installid') ?? '';
    if (named === undefined || typeof code !== 'string') return null;
    if (named === null && code === '') return null;
    // The name is in the body.
    const onLink = ({ installId }: AdmittedLink) => parties.found(request, installId, true);
    const device = { domainHash: host.hash, hwid, providerCode: site.provider, onLink };
    const codesAsKeys = upstream?.codesAsKeys === true;
    const names = { key: named, code: code || null, codesAsKeys, device };
    const installCode = await findFetchedSlot(core, names, clock.nowMs());
    return installCode === null ? null : { installCode, domainHash: host.hash };
  }

  /** Registers a device that has a slot on the link whose subscription it fetched. */
  async function enter(request: Request): Promise<Answer | typeof UNKNOWN> {
    const call = new IncomingCall(request, deps, true);
    const { nowMs } = call;
    const client = call.client();
    if (request.method !== 'POST') return UNKNOWN;
    const guessesMax = settings.authFailuresPerMinuteMax * timesOf(settings, client);
    if (guesses.hasReached(client, guessesMax, nowMs)) return UNKNOWN;
    // Strangers are answered in that time too, whether their body came or not.
    const timeMaxMs = strangers.isQuiet ? STRANGER_MS : deps.bodyTimeMaxMs;
    const body = await readBody(request, BODY_BYTES_MAX, timeMaxMs, SMALL);
    const slot = isRefused(body) ? null : await slotOf(request, body);
    if (isRefused(body) || slot === null) {
      guesses.count(client, nowMs);
      return UNKNOWN;
    }
    const registration = readRegistration(body, core.limits);
    const reply: Reply<MessageKey> | null = isRefused(registration)
      ? replyOf(registration)
      : await register(call, {
          ...registration,
          ...slot,
          providerCode: null,
          isBySlot: true,
        }).then(replyOf, (fault) => ({ says: 'unknown_error', detail: report(request, fault) }));
    if (reply === null) return UNKNOWN;
    const { says, detail, headers } = reply;
    const decided = { request, says, startMs: call.startMs, isGuess: false };
    const requestId = await traffic.conclude(tally, decided);
    const payload = bodyOf(says, reply.body);
    return responses.respond(says, { payload, detail, headers, requestId });
  }

  const report = (request: Request, fault: unknown) =>
    reportFault(log, tally.endpoint, fault, traffic.requestIdOf(request));

  const parts: Readonly<Record<string, (request: Request) => Maybe<Answer | typeof UNKNOWN>>> = {
    [REGISTER]: enter,
    inbox: withToken('GET', bearerToken, interpret(inboxEndpoint, deps)),
    ack: withToken('POST', bearerToken, interpret(ackEndpoint, deps)),
    'push-key': withToken('GET', bearerToken, interpret(pushKeyEndpoint, deps)),
    stream: withToken('GET', (headers) => readHandshake(headers).token, streams.answer),
  };

  return (request, asUnknown) => {
    const name = partOf(request.url);
    const part = name === null || !Object.hasOwn(parts, name) ? undefined : parts[name];
    if (part === undefined) return asUnknown();
    const startMs = clock.steadyMs();
    return settle<Answer | typeof UNKNOWN, Answer>(
      () => part(request),
      (fault) => {
        report(request, fault);
        return UNKNOWN;
      },
      (answer) => (answer === UNKNOWN ? asUnknown(startMs) : answer),
    );
  };
}

/** A body of a registration is never large. */
const SMALL = { enter: async () => null, turn: async () => {} };

/** Answers to a device with a slot; by any other it has lost the slot meanwhile. */
const SAID: ReadonlySet<MessageKey> = new Set([
  'ok',
  'registration_refused',
  'too_many_requests',
  'unknown_error',
]);

/** Returns the reply to a device with a slot; null: it has none any more. */
function replyOf(
  answer: MessageKey | Reply<MessageKey> | Refused<MessageKey | 'malformed'>,
): Reply<MessageKey> | null {
  if (typeof answer === 'string') return replyOf({ says: answer });
  if (!isRefused(answer)) return SAID.has(answer.says) ? answer : null;
  const { detail, says } = answer;
  return replyOf({ says: says === 'malformed' ? 'unknown_error' : says, detail });
}

/** Returns the part of {@link DISCOVERED_PATH} in a URL; null: another path. */
function partOf(url: string): string | null {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  if (!url.startsWith(`${DISCOVERED_PATH}/`, start)) return null;
  return url.slice(start + DISCOVERED_PATH.length + 1).split(/[?#]/, 1)[0] ?? '';
}
