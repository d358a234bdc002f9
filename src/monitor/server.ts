/** The listener of the monitor: probes and metrics, at an address of their own. */

import { type Log, reasonOf } from '../base/log.ts';
import { messageOf, OperatorError } from '../base/operator-error.ts';
import { hostInUrl, IDENTITY_HEADER } from '../base/whereabouts.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

export interface MonitorOptions {
  host: string;
  /** The port; 0 picks a free one. */
  port: number;
  /** The identity of the data directory, for commands that search its server (whereabouts.ts). */
  identity: string;
  /** True if the operator set the address: it is then an error if it is in use. */
  isChosen: boolean;
  readiness: Readiness;
  metrics: Metrics;
  log: Log;
}

export interface RunningMonitor {
  /** `http://HOST:PORT`. */
  url: string;
  stop(): Promise<void>;
}

/** The bound of bodies, bytes: no endpoint reads one. */
const BODY_BYTES_MAX = 1024;

/**
 * Starts to listen. If the default address is in use, perhaps by another Gatepost on this machine,
 * takes a free port and logs a warning. Throws {@link OperatorError} if a chosen address is in use.
 */
export function startMonitor(options: MonitorOptions): RunningMonitor {
  const { host, port, isChosen, log } = options;
  try {
    return listen(options, port);
  } catch (error) {
    const sentence = `cannot listen on ${hostInUrl(host)}:${port} for the monitor: ${whyNot(error)}`;
    if (isChosen) throw new OperatorError(sentence);
    const moved = listen(options, 0);
    log.warn('monitor_moved', { reason: sentence, url: moved.url });
    return moved;
  }
}

function listen(options: MonitorOptions, port: number): RunningMonitor {
  const { host, log } = options;
  const server = Bun.serve({
    hostname: host,
    port,
    reusePort: false,
    maxRequestBodySize: BODY_BYTES_MAX,
    fetch: (request) => answer(request, options),
    error: (fault) => {
      log.error('monitor_fault', { reason: reasonOf(fault) });
      return plain('internal fault, see the log of the server\n', 500);
    },
  });
  return { url: `http://${hostInUrl(host)}:${server.port}`, stop: () => server.stop(true) };
}

async function answer(
  request: Request,
  { readiness, metrics, identity }: MonitorOptions,
): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return plain('only GET and HEAD\n', 405, { allow: 'GET, HEAD' });
  }
  switch (pathOf(request.url)) {
    case '/healthz':
      // Any answer shows that the event loop runs.
      return plain('ok\n');
    case '/readyz': {
      const problem = await readiness.problem();
      const body = problem === null ? { ready: true } : { ready: false, ...problem };
      const headers = { ...NO_STORE, [IDENTITY_HEADER]: identity };
      return Response.json(body, { status: problem === null ? 200 : 503, headers });
    }
    case '/metrics':
      return new Response(await metrics.text(), {
        headers: { ...NO_STORE, 'content-type': metrics.contentType },
      });
    default:
      return plain('/healthz\n/readyz\n/metrics\n', 404);
  }
}

/** Returns the path of a URL, which has no host if the `Host` was not valid. */
function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/, '').replace(/[?#].*$/s, '');
}

const NO_STORE = { 'cache-control': 'no-store' };

function plain(text: string, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(text, { status, headers: { ...NO_STORE, ...headers } });
}

function whyNot(error: unknown): string {
  const code = String((error as { code?: unknown }).code);
  return code === 'EADDRINUSE' ? 'the port is taken' : messageOf(error);
}
