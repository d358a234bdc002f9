/** The HTTP server: its parts put together, its socket, its end. `mount.ts` has the routes. */

import type { Clock } from '../clock.ts';
import type { Core } from '../core/core.ts';
import type { EventSenders } from '../core/outbox/carrier.ts';
import type { Log } from '../log.ts';
import { Large } from './answer/large.ts';
import { Alone } from './bound/alone.ts';
import { AuthFailures } from './bound/auth-failures.ts';
import { Crowd } from './bound/crowd.ts';
import { MinuteLimiter } from './bound/limiter.ts';
import { Polls } from './bound/polls.ts';
import type { RoomBounds } from './bound/room.ts';
import type { Limits, WireSettings } from './endpoint.ts';
import { type GateSettings, makeGate } from './gate/gate.ts';
import { type Listener, type ListenOptions, listen } from './listener.ts';
import { mount } from './mount.ts';
import { clientAddress, countedAs, plainIPv4 } from './request/address.ts';
import { BODY_TIME_MAX_MS } from './request/body.ts';
import type { CallDeps } from './request/call.ts';
import { makeStreams, PING_INTERVAL_MS } from './stream/stream.ts';
import { type EndpointTally, Traffic, type TrafficSettings } from './traffic.ts';
import { makeProxy } from './upstream/proxy.ts';
import type { UpstreamSettings } from './upstream/settings.ts';

/** Settings that are looked at for each request, so that a change holds at once. */
export interface ServerSettings
  extends WireSettings,
    TrafficSettings,
    GateSettings,
    UpstreamSettings {
  readonly authFailuresPerMinuteMax: number;
  readonly registrationsPerMinuteMax: number;
  readonly streamCountMax: number;
}

export interface ServerOptions extends Omit<ListenOptions, 'tls'> {
  core: Core;
  clock: Clock;
  log: Log;
  settings: ServerSettings;
  /** Sends events to webhooks. */
  eventSenders: EventSenders;
  /** The certificate; plain HTTP without it. */
  tls?: ListenOptions['tls'];
  /** The time for a body: {@link BODY_TIME_MAX_MS} unless a test is in a hurry. */
  bodyTimeMaxMs?: number;
  /** The room of large answers, for tests: {@link Large}. */
  room?: RoomBounds;
  /** The pause between two pings of a stream, ms. */
  pingIntervalMs?: number;
}

/** Tests of webhooks that a provider may make in a minute: each holds a place on the way out. */
const WEBHOOK_TESTS_PER_MINUTE_MAX = 6;
/** Replays since a time: one may be some hundred commits. */
const WEBHOOK_REPLAYS_PER_MINUTE_MAX = 6;

function webhookLimits(): Pick<Limits, 'webhookTests' | 'webhookReplays'> {
  const perMinute = new MinuteLimiter(() => WEBHOOK_REPLAYS_PER_MINUTE_MAX);
  return {
    webhookTests: new MinuteLimiter(() => WEBHOOK_TESTS_PER_MINUTE_MAX),
    webhookReplays: { perMinute, alone: new Alone() },
  };
}

/** A limit by which callers are held up. */
type Limit = 'answers' | 'auth_failures' | 'registrations' | 'streams';

export interface RunningServer {
  /** The address: `http://HOST:PORT` or `https://HOST:PORT`. */
  url: string;
  /** The number of devices that wait here at this moment. */
  pollCount(): number;
  streamCount(): number;
  /** The answers since the start, of each endpoint. */
  tallies(): Iterable<EndpointTally>;
  /** The calls that each limit has held up since the start. */
  limited(): Readonly<Record<Limit, number>>;
  /** Gives new connections another certificate: {@link Listener}. */
  replaceCertificate: Listener['replaceCertificate'];
  /** Makes callers come back by new connections: {@link Listener}. */
  letGo: Listener['letGo'];
  /** Stops as {@link Listener} does; polls are answered and streams closed at once. */
  stop: Listener['stop'];
}

/** Starts to listen. Rejects with `OperatorError` when it cannot listen at the address. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { core, clock, log, settings } = options;
  const failures = new AuthFailures(settings, log);
  const stopping = new AbortController();

  const peerOf = (request: Request) =>
    plainIPv4(listener.serverOf(request).requestIP(request)?.address ?? '');
  const addressOf = (request: Request, peer = peerOf(request)) => {
    // Reading one header makes Bun take up all of them: not for a peer that is not believed.
    if (!settings.trustedProxies.includes(peer)) return peer;
    return clientAddress(peer, request.headers.get('x-forwarded-for'), settings.trustedProxies);
  };
  const clientOf = (request: Request) => countedAs(addressOf(request));

  /** Counts what may have been tried out; returns the delay of its answer, ms. */
  const guessed = (request: Request) => failures.record(clientOf(request), clock.nowMs());

  const traffic = new Traffic({ log, settings, peerOf, addressOf });
  const registrations = new MinuteLimiter(() => settings.registrationsPerMinuteMax);
  const polls = new Polls();
  // Bun knows the address of a request until its answer is with the kernel, or the caller left.
  const isGone = (request: Request) => peerOf(request) === '';
  const large = new Large(clock, isGone, options.room);
  const deps: CallDeps = {
    core,
    clock,
    log,
    settings,
    limits: { registrations, ...webhookLimits(), polls, turns: large.turns },
    eventSenders: options.eventSenders,
    ...{ large, traffic, clientOf, crowd: new Crowd({ clientOf, isGone }) },
    authFailed: (client, nowMs) => failures.record(client, nowMs),
    stopping: stopping.signal,
    bodyTimeMaxMs: options.bodyTimeMaxMs ?? BODY_TIME_MAX_MS,
    grantPatience: (request, seconds) => listener.serverOf(request).timeout(request, seconds),
  };
  const streams = makeStreams({
    ...{ core, clock, log, settings, traffic },
    room: large.devices,
    turns: large.turns,
    pingIntervalMs: options.pingIntervalMs ?? PING_INTERVAL_MS,
    upgrade: (request, data, headers) =>
      listener.serverOf(request).upgrade(request, { data, headers }),
    clientOf,
    tokenFailed: (client) => failures.record(client, clock.nowMs()),
  });

  const isTrusted = (peer: string) => settings.trustedProxies.includes(peer);
  const gate = makeGate({ core, clock, log, settings, traffic, peerOf, guessed });
  const proxy = makeProxy({
    ...{ core, clock, log, settings, traffic, guessed },
    grantPatience: deps.grantPatience,
    limitLinks: (request) => (make, isMade) =>
      registrations.attempt(clientOf(request), clock.nowMs(), make, isMade),
    provenanceOf: (request) => {
      const peer = peerOf(request);
      const scheme = options.tls ? 'https' : 'http';
      return { peer, client: addressOf(request, peer), isTrusted: isTrusted(peer), scheme };
    },
  });

  const app = mount(deps, streams, gate, proxy);
  const listener = listen(
    app,
    { ...options, tls: options.tls ?? null },
    streams.handlers as Bun.WebSocketHandler<unknown>,
  );
  return {
    url: listener.url,
    pollCount: () => polls.count,
    streamCount: streams.count,
    tallies: () => traffic.tallies,
    limited: () => ({
      answers: large.refusedCount,
      auth_failures: failures.delayedCount,
      registrations: registrations.refusedCount,
      streams: streams.refusedCount(),
    }),
    replaceCertificate: listener.replaceCertificate,
    letGo: listener.letGo,
    stop: async (lastCallMs) => {
      stopping.abort();
      streams.closeAll();
      large.close();
      await proxy.stop(listener.stop(lastCallMs));
    },
  };
}
