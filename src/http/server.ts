/** The HTTP server: assembles its parts, listens and stops. `mount.ts` has the routes. */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Appliance } from '../call/appliance.ts';
import type { Core } from '../core/core.ts';
import type { EventSenders } from '../core/outbox/carrier.ts';
import { Large } from './answer/large.ts';
import { AuthFailures } from './bound/auth-failures.ts';
import type { BusyAddress } from './bound/busy-addresses.ts';
import { Crowd } from './bound/crowd.ts';
import { MinuteLimiter, RunLimiter } from './bound/limiter.ts';
import type { SharedSettings } from './bound/parties.ts';
import { Polls } from './bound/polls.ts';
import type { RoomBounds } from './bound/room.ts';
import { type Callers, makeCallers, ownAddresses } from './callers.ts';
import { makeClients } from './clients.ts';
import type { ConsoleFiles } from './console/page.ts';
import { type Hasher, makePasswords } from './console/passwords.ts';
import { LiveStreams } from './console/stream.ts';
import { makeDiscovery } from './discovery/door.ts';
import type { WireSettings } from './endpoint.ts';
import { type DoorOptions, openListener } from './front/fronted.ts';
import { type GateSettings, makeGate } from './gate/gate.ts';
import type { Listener, ListenOptions } from './listener.ts';
import { mount } from './mount.ts';
import { type MySettings, makeMy } from './my/door.ts';
import { type AnswerProbe, makeProbe } from './probe.ts';
import { BODY_TIME_MAX_MS } from './request/body.ts';
import type { CallDeps } from './request/call.ts';
import { RideDesk, type RideSettings } from './ride/desk.ts';
import { type StrangerPage, type StrangerSettings, Strangers } from './strangers.ts';
import type { Ends } from './stream/close-frame.ts';
import { makeStreams, PING_INTERVAL_MS } from './stream/stream.ts';
import { type EndpointTally, Traffic, type TrafficSettings } from './traffic.ts';
import { gatePanel } from './upstream/gate-panel.ts';
import { servesStrangers } from './upstream/new-links.ts';
import { makeFollowers } from './upstream/panel-followers.ts';
import { type PanelTokens, tokensIn } from './upstream/panel-tokens.ts';
import { makeProxy } from './upstream/proxy.ts';
import type { UpstreamSettings } from './upstream/settings.ts';

/** Settings that are read for each request, so that a change applies at once. */
export interface ServerSettings
  extends WireSettings,
    TrafficSettings,
    GateSettings,
    RideSettings,
    MySettings,
    StrangerSettings,
    SharedSettings,
    UpstreamSettings {
  /** The banner on each page of the console. */
  readonly consoleBanner: string | undefined;
  readonly authFailuresPerMinuteMax: number;
  readonly registrationsPerMinuteMax: number;
  readonly streamCountMax: number;
  readonly pingSecondsMax: number;
}

export interface ServerOptions extends Omit<DoorOptions, 'tls'> {
  core: Core;
  clock: Clock;
  log: Log;
  settings: ServerSettings;
  eventSenders: EventSenders;
  /** Asks a panel with made-up keys; default: as `servesStrangers` of upstream/new-links.ts. */
  servesStrangers?: typeof servesStrangers;
  /** The certificate; plain HTTP without it. */
  tls?: ListenOptions['tls'];
  /** The facts of the process for the operator's pages. */
  appliance: Appliance;
  /** The files of the console; without them its page says that it is not built. */
  consoleFiles?: ConsoleFiles;
  /** The time for a body, ms; {@link BODY_TIME_MAX_MS} by default. */
  bodyTimeMaxMs?: number;
  /** The room of large answers, for tests: {@link Large}. */
  room?: RoomBounds;
  /** Hashes passwords, for tests: argon2id takes a tenth of a second. */
  hasher?: Hasher;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf?(file: string): string | null;
  /** Tokens for the APIs of panels; absent: those in files. */
  panelTokens?: PanelTokens;
  /** Returns the answer to strangers that the operator chose; null: there is none now. */
  strangerPage?(): StrangerPage | null;
  /** The pause between two pings of a stream, ms. */
  pingIntervalMs?: number;
}

/** The most tests of webhooks of a provider in a minute: each occupies an outgoing call. */
const WEBHOOK_TESTS_PER_MINUTE_MAX = 6;
/** The most replays of a provider in a minute: one may take a hundred commits. */
const WEBHOOK_REPLAYS_PER_MINUTE_MAX = 6;

/** A limit that refuses or delays callers. */
type Limit =
  | 'answers'
  | 'auth_failures'
  | 'connections'
  | 'proxy_headers'
  | 'registrations'
  | 'streams';

export interface RunningServer {
  /** The address: `http://HOST:PORT` or `https://HOST:PORT`. */
  url: string;
  /** Returns the number of long polls that wait. */
  pollCount(): number;
  streamCount(): number;
  /** Returns the number of open pages of the console that learn of changes. */
  liveCount(): number;
  /** Returns the number of open streams of the console. */
  tallies(): Iterable<EndpointTally>;
  /** Lists the addresses from which devices of many links came. */
  busyAddresses(): Promise<BusyAddress[]>;
  /** Returns the calls that each limit has refused or delayed since the start. */
  limited(): Readonly<Record<Limit, number>>;
  replaceCertificate: Listener['replaceCertificate'];
  drain: Listener['drain'];
  /** Stops as {@link Listener} does; answers polls and closes streams at once. */
  stop: Listener['stop'];
}

const limitsOfWebhooks = (): Pick<CallDeps['limits'], 'webhookTests' | 'webhookReplays'> => ({
  webhookTests: new MinuteLimiter(() => WEBHOOK_TESTS_PER_MINUTE_MAX),
  webhookReplays: new RunLimiter(() => WEBHOOK_REPLAYS_PER_MINUTE_MAX),
});

function strangersOf(
  { core, clock, settings, strangerPage: page = () => null }: ServerOptions,
  { connectionOf, isTrusted }: Callers,
): { strangers: Strangers; probe: AnswerProbe } {
  return {
    strangers: new Strangers({ settings, clock, page, isTrusted }),
    probe: makeProbe({ core, clock, connectionOf }),
  };
}

/** Returns both ends of a connection; null: it is not known, or has TLS. */
function endsOf(
  server: Bun.Server<unknown>,
  request: Request,
  { steadyMs }: Pick<Clock, 'steadyMs'>,
): Ends | null {
  const peer = server.requestIP(request);
  if (peer === null || server.port === undefined || server.url.protocol !== 'http:') return null;
  const { address, port } = peer;
  return { localPort: server.port, address, port, sinceMs: steadyMs() };
}

/** Starts the server. Rejects with `OperatorError` if it cannot listen at the address. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { appliance, core, clock, log, settings } = options;
  const failures = new AuthFailures(settings, log);
  const stopping = new AbortController();

  const scheme = options.tls ? 'https' : 'http';
  const callers = makeCallers({ listener: () => listener, settings, scheme });
  const { addressOf, connectionOf, isTrusted, peerOf } = callers;
  const addresses = options.ownAddresses ?? ownAddresses();
  const countAs = (request: Request, party: string) => listener.countAs(request, party);
  const clients = makeClients({ core, clock, settings, callers, own: addresses, countAs });
  const { busy, clientOf, clientPartsOf, onGuess, onLinkOf, parties, registrations } = clients;
  const heard = { failures, isTrusted, addressOf, clientOf, onGuess };
  const traffic = new Traffic({ clock, log, settings, ...heard });
  const polls = new Polls();
  // Bun knows the address until the kernel has the whole answer or the caller disconnects.
  const isGone = (request: Request) => peerOf(request) === '';
  const large = new Large(clock, isGone, options.room);
  const deps: CallDeps = {
    core,
    clock,
    log,
    settings,
    limits: { registrations, polls, turns: large.turns, ...limitsOfWebhooks() },
    eventSenders: options.eventSenders,
    large,
    traffic,
    clientOf,
    clientPartsOf,
    parties,
    stopping: stopping.signal,
    bodyTimeMaxMs: options.bodyTimeMaxMs ?? BODY_TIME_MAX_MS,
    grantPatience: (request, seconds) => listener.grantPatience(request, seconds),
  };
  const streams = makeStreams({
    ...deps,
    settings,
    room: large.devices,
    turns: large.turns,
    pingIntervalMs: options.pingIntervalMs ?? PING_INTERVAL_MS,
    upgrade: (request, data, headers) => {
      const server = listener.serverOf(request);
      const ends = endsOf(server, request, clock);
      return server.upgrade(request, { data: { ...data, ends }, headers });
    },
  });
  const { consoleFiles: files = new Map(), secretOf = () => null } = options;
  const own = { ...strangersOf(options, callers), core, clock, log, settings, secretOf };
  const tokens = options.panelTokens ?? tokensIn(null, clock, secretOf);
  const panels = makeFollowers({ ...own, tokens });
  const doors = { ...own, traffic, panels, rides: new RideDesk(own) };
  const proxy = makeProxy({
    ...doors,
    servesStrangers: options.servesStrangers ?? servesStrangers,
    grantPatience: deps.grantPatience,
    clientPartsOf,
    partyOf: parties.linkOrClient,
    limitLinks: (request) => (make, isMade) =>
      registrations.attempt(clientOf(request), clock.nowMs(), make, isMade),
    provenanceOf: (request) => ({ ...connectionOf(request), client: addressOf(request) }),
  });

  const passwords = makePasswords(stopping.signal, options.hasher);
  const site = { ...deps, appliance, connectionOf, passwords };
  const live = new LiveStreams(site);
  const my = makeMy({ ...deps, settings, proxy, secretOf, connectionOf });
  const discovery = makeDiscovery({ ...deps, ...own, settings, proxy, streams, isTrusted });
  const gate = makeGate({ ...doors, ...callers, onLinkOf, panel: gatePanel(settings, panels) });
  const answer = mount(
    deps,
    { ...own, streams, gate, proxy, discovery, my, isOfGate: callers.isOfGate },
    { ...site, live, files, settings },
  );
  const closed = { connections: 0, proxy_headers: 0 };
  const countClosed = (why: keyof typeof closed) => {
    closed[why] += 1;
  };
  const crowd = new Crowd({ clientOf: parties.of, isGone });
  const listener = await openListener(
    (request) => crowd.begin(request, answer),
    { ...options, ownAddresses: addresses, turnsOf: clients.turnsOf, tls: options.tls ?? null },
    streams.handlers as Bun.WebSocketHandler<unknown>,
    { log, nowMs: clock.nowMs, onClosed: countClosed },
  );
  return {
    url: listener.url,
    pollCount: () => polls.count,
    streamCount: streams.count,
    liveCount: () => live.count,
    tallies: () => traffic.tallies,
    busyAddresses: () => busy.list(),
    limited: () => ({
      answers: large.refusedCount,
      auth_failures: failures.delayedCount,
      registrations: registrations.refusedCount,
      streams: streams.refusedCount(),
      ...closed,
    }),
    replaceCertificate: listener.replaceCertificate,
    drain: () => {
      listener.drain();
      live.endAll();
    },
    stop: async (lastCallMs) => {
      stopping.abort();
      streams.closeAll();
      large.close();
      await proxy.stop(listener.stop(lastCallMs));
    },
  };
}
