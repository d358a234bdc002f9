/** The listeners of the server: one on an address, and one on a Unix socket if it is set. */

import type { Log } from '../../base/log.ts';
import { hostInUrl } from '../../base/whereabouts.ts';
import { MinuteLine } from '../bound/limiter.ts';
import {
  type Answering,
  type Listener,
  type ListenOptions,
  listen,
  notListening,
  SETTLE_MS,
} from '../listener.ts';
import { makePortHandover } from '../port-handover.ts';
import type { TrustedProxies } from '../request/address.ts';
import { Front } from './front.ts';
import { bindSocketFile, type SocketFile } from './socket-file.ts';

/** The time for the last bytes of all connections after the server inside has stopped, ms. */
const FLUSH_MAX_MS = 2_000;
const FLUSH_PAUSE_MS = 5;

export interface DoorOptions extends ListenOptions {
  /** Networks whose connections begin with a header of the PROXY protocol; absent: none. */
  proxyProtocol?: TrustedProxies | null;
  /** The Unix socket to listen on too. */
  socket?: SocketFile | null;
  /** True: connections of that socket begin with a header too. */
  isSocketProxied?: boolean;
  /** The addresses of this machine. */
  ownAddresses?: readonly string[];
  /** Returns the parties that a client's connections have. */
  turnsOf?(client: string): number;
  /** The time for a whole header, ms, for tests. */
  headerMaxMs?: number;
}

/** The receivers of what a front reports. */
interface FrontDeps {
  log: Log;
  nowMs(): number;
  /** Counts a connection that was closed: its header was refused, or there are too many. */
  onClosed(why: 'proxy_headers' | 'connections'): void;
}

type Websocket = Bun.WebSocketHandler<unknown>;

/** Starts to listen. Rejects with `OperatorError` if it cannot. */
export async function openListener(
  answer: Answering,
  options: DoorOptions,
  websocket: Websocket,
  deps: FrontDeps,
): Promise<Listener> {
  const {
    headerMaxMs,
    host,
    isSocketProxied,
    port,
    proxyProtocol: named,
    socket,
    turnsOf,
  } = options;
  const own = new Set(options.ownAddresses);
  const front = {
    ...(headerMaxMs !== undefined && { headerMaxMs }),
    ...(turnsOf && { turnsOf }),
    own,
    ...hears(deps),
  };
  const main = !named
    ? listen(answer, options, websocket)
    : behind(answer, options, websocket, (inside) => {
        const made = new Front({ ...front, named, isSocket: false, port: inside });
        return { front: made, ...bindPort(made, host, port) };
      });
  if (!socket) return main;
  const ofSocket = new WeakSet<Request>();
  const answerSocket: Answering = (request) => {
    ofSocket.add(request);
    return answer(request);
  };
  try {
    const place = await bindSocketFile(socket);
    // At proxies of requests TLS has ended; those of connections pass it on.
    const within = isSocketProxied ? options : { ...options, tls: null };
    const beside = behind(answerSocket, within, websocket, (inside) => {
      const all = isSocketProxied ? { named: null } : {};
      const made = new Front({ ...front, ...all, isSocket: true, port: inside });
      return { front: made, ...place(made) };
    });
    return both(main, beside, ofSocket, within.tls !== null);
  } catch (error) {
    await main.stop();
    throw error;
  }
}

function hears({ log, nowMs, onClosed }: FrontDeps) {
  const line = new MinuteLine();
  return {
    onRefused: (peer: string, why: string) => {
      onClosed('proxy_headers');
      const count = line.due(nowMs());
      if (count > 0) log.warn('proxy_header_refused', { peer: peer || 'socket', why, count });
    },
    onFull: () => onClosed('connections'),
  };
}

interface Bound {
  url: string;
  /** Makes the kernel refuse new connections. Returns false if it cannot. */
  rejectNew(): boolean;
  stop(): void;
}

function bindPort(front: Front, hostname: string, wanted: number): Bound {
  let listening: Bun.SocketListener<unknown> & { port: number };
  try {
    const socket = front.handlers;
    listening = Bun.listen({
      hostname,
      port: wanted,
      exclusive: true,
      allowHalfOpen: true,
      socket,
    });
  } catch (error) {
    throw notListening(error, hostname, wanted);
  }
  const { port } = listening;
  return {
    url: `${hostInUrl(hostname)}:${port}`,
    rejectNew: () => makePortHandover()?.rejectNew(port) ?? false,
    stop: () => listening.stop(false),
  };
}

/** The address of the server inside, and of the front's connections to it. */
const INSIDE = '127.0.0.1';

/** Starts a server inside with a front before it. */
function behind(
  answer: Answering,
  options: ListenOptions,
  websocket: Websocket,
  bind: (port: number) => Bound & { front: Front },
): Listener {
  const portOf = (request: Request) => {
    const ip = inner.serverOf(request).requestIP(request);
    // The same port of another address of this machine is another program.
    return ip?.address === INSIDE ? ip.port : undefined;
  };
  const callerOf = (request: Request) => {
    const port = portOf(request);
    return port === undefined ? undefined : front.callerAt(port);
  };
  const guarded: Answering = (request) => {
    const caller = callerOf(request);
    if (caller?.kind === 'check') return answerCheck(request);
    if (caller === undefined) return new Response(null, { status: 403, headers: CLOSE });
    return answer(request);
  };
  const inside = { ...options, host: INSIDE, port: 0 };
  const inner = listen(guarded, inside, websocket);
  const innerPort = Number(new URL(inner.url).port);
  const { front, ...bound } = attempt(
    () => bind(innerPort),
    () => void inner.stop(),
  );
  return {
    ...inner,
    url: `${options.tls ? 'https' : 'http'}://${bound.url}`,
    peerOf: (request) => callerOf(request)?.address ?? '',
    kindOf: (request) => {
      const kind = callerOf(request)?.kind ?? 'client';
      return kind === 'check' ? 'client' : kind;
    },
    countAs: (request, party) => {
      const port = portOf(request);
      if (port !== undefined) front.countAs(port, party);
    },
    stop: async (lastCallMs = 0) => {
      if (lastCallMs > 0) {
        inner.drain();
        await Bun.sleep(lastCallMs);
        if (bound.rejectNew()) await Bun.sleep(SETTLE_MS);
      }
      bound.stop();
      front.endWaiting();
      await inner.stop();
      for (let left = FLUSH_MAX_MS; front.size > 0 && left > 0; left -= FLUSH_PAUSE_MS) {
        await Bun.sleep(FLUSH_PAUSE_MS);
      }
      front.closeAll();
    },
  };
}

const CLOSE = { connection: 'close' };

/** Answers a proxy that asks for itself whether the server is there. */
function answerCheck({ method, url }: Request): Response {
  // Without Host, as checks by HTTP/1.0 ask, the URL is a path.
  const isPath = /^(?:https?:\/\/[^/]*)?\/healthz(?:\?|$)/i.test(url);
  const isAsked = isPath && /^(?:GET|HEAD)$/.test(method);
  return isAsked ? new Response('ok\n') : new Response(null, { status: 403, headers: CLOSE });
}

/** Joins the listener on an address and that on the Unix socket, which has some requests. */
function both(
  main: Listener,
  beside: Listener,
  ofSocket: WeakSet<Request>,
  hasTls: boolean,
): Listener {
  const of = (request: Request) => (ofSocket.has(request) ? beside : main);
  return {
    url: main.url,
    serverOf: (request) => of(request).serverOf(request),
    peerOf: (request) => of(request).peerOf(request),
    kindOf: (request) => of(request).kindOf(request),
    grantPatience: (request, seconds) => of(request).grantPatience(request, seconds),
    countAs: (request, party) => of(request).countAs(request, party),
    replaceCertificate: async (pair) => {
      await main.replaceCertificate(pair);
      if (hasTls) await beside.replaceCertificate(pair);
    },
    drain: () => {
      main.drain();
      beside.drain();
    },
    stop: async (lastCallMs) => {
      await Promise.all([main.stop(lastCallMs), beside.stop(lastCallMs)]);
    },
  };
}

function attempt<T>(work: () => T, onFault: () => void): T {
  try {
    return work();
  } catch (error) {
    onFault();
    throw error;
  }
}
