/** The listening socket of the server, with TLS if it has a certificate, and its replacement. */

import { messageOf, OperatorError } from '../base/operator-error.ts';
import { hostInUrl } from '../base/whereabouts.ts';
import type { Maybe } from '../core/port/maybe.ts';
import { makePortHandover, type PortHandover } from './port-handover.ts';
import { describeHolder, findPortHolder } from './port-holder.ts';
import { plainIPv4 } from './request/address.ts';

/** The time after which a connection without a request in flight is closed, s. */
export const IDLE_TIMEOUT_S = 30;
/** The longest time that Bun can set for an answer, s; it has a byte for it. */
const PATIENCE_MAX_S = 255;
/**
 * The time after which a replaced listener closes, ms. By then each of its connections has had an
 * answer that closes it, or was closed as idle.
 */
const RETIREMENT_MS = (IDLE_TIMEOUT_S + 10) * 1_000;
/** The pause between two checks of a stop whether the last answer was sent, ms. */
const STOP_PAUSE_MS = 5;
/** The time for established connections to be accepted and to send their request, ms. */
export const SETTLE_MS = 100;
/** The pause between two attempts to listen on the port again, and the time for all, ms. */
const RETURN_PAUSE_MS = 20;
const RETURN_MAX_MS = 10_000;

/** PEM: the certificate with its chain, and its private key. */
interface TlsPair {
  cert: string;
  key: string;
}

export interface ListenOptions {
  host: string;
  /** The port; 0 picks a free one. */
  port: number;
  /** The certificate; null for plain HTTP. */
  tls: TlsPair | null;
  /** {@link RETIREMENT_MS} by default. */
  retirementMs?: number;
  /** False: as on a system where two listeners cannot share a port. */
  canHandOver?: boolean;
}

type Server = Bun.Server<unknown>;
/** Answers a request; null if it became a WebSocket. */
export type Answering = (request: Request) => Maybe<Response | null>;

/**
 * How a caller is known: `peer`, by the address of its own connection; `client`, by the header of
 * a proxy that passes on connections; `proxy`, by the Unix socket, where only proxies come.
 */
export type CallerKind = 'peer' | 'client' | 'proxy';

export interface Listener {
  /** The address: `http://HOST:PORT` or `https://HOST:PORT`. */
  url: string;
  /** Returns the server that received a request. */
  serverOf(request: Request): Server;
  /** Returns the address of the caller; '': the caller disconnected, or has the whole answer. */
  peerOf(request: Request): string;
  /** Returns how the caller is known. */
  kindOf(request: Request): CallerKind;
  /** Sets the time that the answer to a request may take, s. It stays for the connection. */
  grantPatience(request: Request, seconds: number): void;
  /** Counts the connection of a request for a party from now on, where connections are counted. */
  countAs(request: Request, party: string): void;
  /**
   * Gives new connections this certificate. An open connection continues to the answer of its next
   * request, a WebSocket to its end. Throws {@link OperatorError} if Bun rejects the pair; the old
   * certificate then stays.
   */
  replaceCertificate(pair: TlsPair): Promise<void>;
  /** Closes each connection after its next answer, from now on. */
  drain(): void;
  /**
   * Rejects new requests, finishes those in flight, closes every connection. Drains connections
   * for `lastCallMs` first: Bun closes idle ones at once, with a request that is just arriving.
   */
  stop(lastCallMs?: number): Promise<void>;
}

/** Starts to listen. Throws {@link OperatorError} if it cannot listen at the address. */
export function listen(
  answer: Answering,
  options: ListenOptions,
  websocket: Bun.WebSocketHandler<unknown>,
): Listener {
  const { host, tls, retirementMs = RETIREMENT_MS, canHandOver = true } = options;
  let current = start(answer, options, websocket, false);
  const port = current.port ?? options.port;
  /** Replaced listeners with open connections; with a timer as long as they listen. */
  const older = new Map<Server, ReturnType<typeof setTimeout> | null>();
  const receivedBy = new WeakMap<Request, Server>();
  let handover: PortHandover | null = null;

  /** Stops listening and closes idle connections. Requests in flight are finished. */
  function leave(server: Server): void {
    clearTimeout(older.get(server) ?? undefined);
    older.set(server, null);
    void server.stop(false).then(() => older.delete(server));
    handover?.close(port);
  }

  /** Closes each connection after its next answer: the client reconnects to the new listener. */
  function retire(server: Server): void {
    const fetch = async (request: Request) => {
      receivedBy.set(request, server);
      const response = await answer(request);
      response?.headers.set('connection', 'close');
      return response;
    };
    server.reload({ fetch, websocket } as Bun.Serve.Options<unknown>);
  }

  function drain(): void {
    for (const server of [current, ...older.keys()]) retire(server);
  }

  function join(next: ListenOptions): Server {
    try {
      return start(answer, next, websocket, true);
    } catch (error) {
      handover?.close(port);
      throw error;
    }
  }

  const serverOf = (request: Request) => receivedBy.get(request) ?? current;
  return {
    url: `${tls ? 'https' : 'http'}://${hostInUrl(host)}:${port}`,
    serverOf,
    peerOf: (request) => plainIPv4(serverOf(request).requestIP(request)?.address ?? ''),
    kindOf: () => 'peer',
    grantPatience: (request, seconds) =>
      serverOf(request).timeout(request, seconds > PATIENCE_MAX_S ? 0 : seconds),
    countAs: () => {},
    replaceCertificate: async (pair) => {
      tryOut(pair);
      const next = { ...options, port, tls: pair };
      const old = current;
      // The kernel chooses the newer of two: a third that still listens closes now.
      for (const [server, timer] of older) if (timer !== null) leave(server);
      if (canHandOver) handover ??= makePortHandover();
      if (handover?.open(port)) {
        current = join(next);
        handover.steer(port);
        retire(old);
        older.set(
          old,
          setTimeout(() => leave(old), retirementMs),
        );
      } else {
        retire(old);
        leave(old);
        current = await startAgain(() => start(answer, next, websocket, false));
      }
    },
    drain,
    stop: async (lastCallMs = 0) => {
      for (const timer of older.values()) clearTimeout(timer ?? undefined);
      if (lastCallMs > 0) {
        drain();
        await Bun.sleep(lastCallMs);
        if (canHandOver) handover ??= makePortHandover();
        if (handover?.rejectNew(port)) await Bun.sleep(SETTLE_MS);
      }
      await Promise.all([current, ...older.keys()].map(stopServer));
    },
  };
}

function start(
  answer: Answering,
  { host, port, tls }: ListenOptions,
  websocket: Bun.WebSocketHandler<unknown>,
  isShared: boolean,
): Server {
  try {
    return Bun.serve({
      hostname: host,
      port,
      fetch: answer as (request: Request) => Maybe<Response>,
      development: false,
      reusePort: isShared,
      idleTimeout: IDLE_TIMEOUT_S,
      // Bun's own refusal of a large body is not JSON; unread bodies are not buffered.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      websocket,
      ...(tls && { tls }),
    });
  } catch (error) {
    throw notListening(error, host, port);
  }
}

/** Returns the sentence for an address that cannot be listened on. */
export function notListening(error: unknown, host: string, port: number): OperatorError {
  const reason = whyNotListening(error, host, port);
  return new OperatorError(`cannot listen on ${hostInUrl(host)}:${port}: ${reason}`);
}

/** Listens again on a port that the old listener leaves, where no two listeners can share one. */
async function startAgain(attempt: () => Server): Promise<Server> {
  for (let waitedMs = 0; ; waitedMs += RETURN_PAUSE_MS) {
    try {
      return attempt();
    } catch (error) {
      if (waitedMs >= RETURN_MAX_MS) throw error;
      await Bun.sleep(RETURN_PAUSE_MS);
    }
  }
}

/** Throws OperatorError if Bun rejects the pair. */
function tryOut(pair: TlsPair): void {
  try {
    const trial = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: pair,
      fetch: () => new Response(),
    });
    void trial.stop(true);
  } catch (error) {
    throw new OperatorError(`the certificate cannot be served: ${(error as Error).message}`);
  }
}

async function stopServer(server: Server): Promise<void> {
  const stopped = server.stop(false);
  // Bun's own stop never ends if a connection has sent half a request head or an unread body.
  while (server.pendingRequests > 0) await Bun.sleep(STOP_PAUSE_MS);
  await server.stop(true);
  await stopped;
}

/** Returns the cause as a sentence; for a port in use also its process and the remedy. */
function whyNotListening(error: unknown, host: string, port: number): string {
  const code = String((error as { code?: unknown }).code);
  if (code !== 'EADDRINUSE') return LISTEN_FAILURES[code] ?? messageOf(error);
  const holder = findPortHolder(host, port);
  const who = holder === null ? 'another program' : describeHolder(holder);
  return `the port is taken by ${who}: stop it, or choose another (--port, GATEPOST_PORT)`;
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'that port needs more rights',
  ENOENT: 'no such address',
};
