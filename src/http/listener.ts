/** The socket that the server listens on, over TLS if it has a certificate, and its change. */

import type { Elysia } from 'elysia';
import { OperatorError } from '../operator-error.ts';
import { hostInUrl } from '../whereabouts.ts';
import { makePortHandover, type PortHandover } from './port-handover.ts';

/** The time after which a connection without a request under way is closed, s. */
const IDLE_TIMEOUT_S = 30;
/**
 * The time that a listener that was replaced waits before it closes idle connections, ms. By then
 * every connection had an answer that closes it, or was closed for idling.
 */
const RETIREMENT_MS = (IDLE_TIMEOUT_S + 10) * 1_000;
/** The pause between two looks of a stop whether the last answer is out, ms. */
const STOP_PAUSE_MS = 5;
/** The time for connections that are made already to be taken, and to send their request, ms. */
const SETTLE_MS = 100;
/** The pause between two attempts to have a port back, and the time for all of them, ms. */
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
  /** {@link RETIREMENT_MS} unless a test is in a hurry. */
  retirementMs?: number;
  /** False makes it a system where two listeners cannot share a port. */
  canHandOver?: boolean;
}

type Server = Bun.Server<unknown>;

export interface Listener {
  /** The address: `http://HOST:PORT` or `https://HOST:PORT`. */
  url: string;
  /** The server that a request came in by. */
  serverOf(request: Request): Server;
  /**
   * Gives new connections this certificate. Those that are open go on to the answer of their next
   * request, WebSockets to their end. Throws {@link OperatorError} when Bun refuses the
   * pair; the old one then stays.
   */
  replaceCertificate(pair: TlsPair): Promise<void>;
  /** From now on every answer says that it is the last of its connection. */
  letGo(): void;
  /**
   * Takes no new requests, finishes those under way, closes every connection. For `lastCallMs`
   * before that it lets go of its connections: Bun closes the others at once, and a request that is
   * on its way there would be lost.
   */
  stop(lastCallMs?: number): Promise<void>;
}

/** Starts to listen. Throws {@link OperatorError} when it cannot listen at the address. */
export function listen(
  app: Elysia,
  options: ListenOptions,
  websocket: Bun.WebSocketHandler<unknown>,
): Listener {
  const { host, tls, retirementMs = RETIREMENT_MS, canHandOver = true } = options;
  let current = start(app, options, websocket, false);
  const port = current.port ?? options.port;
  /** Listeners that were replaced, until their last connection is gone; a timer if they listen. */
  const older = new Map<Server, ReturnType<typeof setTimeout> | null>();
  const cameBy = new WeakMap<Request, Server>();
  let handover: PortHandover | null = null;

  /** Stops to listen and closes idle connections. Requests under way are finished. */
  function leave(server: Server): void {
    clearTimeout(older.get(server) ?? undefined);
    older.set(server, null);
    void server.stop(false).then(() => older.delete(server));
    handover?.close(port);
  }

  /** Makes everybody who is left come back by a new connection. */
  function retire(server: Server): void {
    // A client that keeps its connection busy comes back by a new one, with the new certificate.
    const fetch = async (request: Request) => {
      cameBy.set(request, server);
      const response = await app.fetch(request);
      response?.headers.set('connection', 'close');
      return response;
    };
    server.reload({ fetch, routes: {}, websocket } as Bun.Serve.Options<unknown>);
  }

  function letGo(): void {
    for (const server of [current, ...older.keys()]) retire(server);
  }

  /** Takes no more connections, and the requests of those that are made. */
  async function shutOut(): Promise<void> {
    if (canHandOver) handover ??= makePortHandover();
    if (handover?.shutOut(port)) await Bun.sleep(SETTLE_MS);
  }

  function join(next: ListenOptions): Server {
    try {
      return start(app, next, websocket, true);
    } catch (error) {
      handover?.close(port);
      throw error;
    }
  }

  return {
    url: `${tls ? 'https' : 'http'}://${hostInUrl(host)}:${port}`,
    serverOf: (request) => cameBy.get(request) ?? current,
    replaceCertificate: async (pair) => {
      tryOut(pair);
      const next = { ...options, port, tls: pair };
      const old = current;
      // The kernel is told to take the newer of two: a third that still listens leaves now.
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
        current = await startAgain(() => start(app, next, websocket, false));
      }
    },
    letGo,
    stop: async (lastCallMs = 0) => {
      for (const timer of older.values()) clearTimeout(timer ?? undefined);
      if (lastCallMs > 0) {
        letGo();
        await Bun.sleep(lastCallMs);
        await shutOut();
      }
      await Promise.all([current, ...older.keys()].map(stopServer));
    },
  };
}

function start(
  app: Elysia,
  { host, port, tls }: ListenOptions,
  websocket: Bun.WebSocketHandler<unknown>,
  isShared: boolean,
): Server {
  try {
    app.listen({
      hostname: host,
      port,
      // Elysia's default would let a second server share the port in silence.
      reusePort: isShared,
      idleTimeout: IDLE_TIMEOUT_S,
      // Bun's own refusal of a large body is not JSON; what no endpoint reads, nobody buffers.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Elysia's own .ws() keeps the whole request with each socket, and takes none of the limits.
      websocket,
      ...(tls && { tls }),
    });
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    const reason = LISTEN_FAILURES[String(code)] ?? (error as Error).message;
    throw new OperatorError(`cannot listen on ${hostInUrl(host)}:${port}: ${reason}`);
  }
  const { server } = app;
  if (!server) throw new Error('the server did not start');
  return server;
}

/** Takes a port back that the old listener has left, where no two can share one. */
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

/** Throws OperatorError if Bun would not serve with this pair: nothing has changed yet. */
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
  // Bun's own stop waits for ever for a connection that sent half a request head, or one whose
  // large body nobody read.
  while (server.pendingRequests > 0) await Bun.sleep(STOP_PAUSE_MS);
  await server.stop(true);
  await stopped;
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'that port needs more rights',
  ENOENT: 'no such address',
};
