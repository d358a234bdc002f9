/** A way to a real panel that fails as panels fail, or gives another list of users. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Got } from '../support/upstream.ts';

/** How it answers: `slow` never, `closing` by the end of the connection. */
export type Fault = 'slow' | 'refusing' | 'failing' | 'closing';

/** Changes an answer of the panel that is JSON; null: the panel answers with 500. */
export type Rewrite = (url: URL, body: unknown) => unknown;

export interface FaultRelay {
  url: string;
  /** Null: it passes all on. */
  fault: Fault | null;
  rewrite: Rewrite | null;
  /** The answer to each GET, as of a panel that serves each key; null: the panel answers. */
  open: Got | null;
  stop(): Promise<void>;
}

/** Starts a relay to the origin of a panel. */
export async function startFaultRelay(origin: string): Promise<FaultRelay> {
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const relay: FaultRelay = {
    url: '',
    fault: null,
    rewrite: null,
    open: null,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (relay.fault === 'slow') return;
    if (relay.fault === 'closing') {
      request.socket.destroy();
      return;
    }
    const status = { refusing: 401, failing: 500 };
    if (relay.fault !== null) {
      response.writeHead(status[relay.fault], { 'content-type': 'application/json' });
      response.end('{"detail":"made up"}');
      return;
    }
    if (relay.open !== null && request.method === 'GET') {
      const type = relay.open.headers.get('content-type') ?? 'text/plain';
      response.writeHead(relay.open.status, { 'content-type': type });
      response.end(relay.open.body);
      return;
    }
    const url = new URL(request.url ?? '/', origin);
    const headers = new Headers(request.headers as Record<string, string>);
    headers.delete('connection');
    headers.set('accept-encoding', 'identity');
    const method = request.method ?? 'GET';
    const got = await fetch(url, { method, headers, redirect: 'manual', keepalive: false });
    const text = await got.text();
    const body = relay.rewrite === null ? text : rewritten(relay.rewrite, url, text);
    const type = got.headers.get('content-type') ?? 'text/plain';
    response.writeHead(body === null ? 500 : got.status, { 'content-type': type });
    response.end(body ?? '');
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return relay;
}

function rewritten(rewrite: Rewrite, url: URL, text: string): string | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return text;
  }
  const body = rewrite(url, json);
  return body === null ? null : JSON.stringify(body);
}
