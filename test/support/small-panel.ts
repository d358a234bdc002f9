/** A panel that knows nothing of devices: it serves a subscription to whoever has its key. */

import { MADE_UP } from './panel.ts';

/** A request that came as far as the panel. */
interface PanelRequest {
  method: string;
  /** Its path and query. */
  uri: string;
  hwid: string | null;
  headers: Headers;
}

export interface SmallPanel {
  port: number;
  /** All requests that came to it, also those for nothing. */
  requests: PanelRequest[];
  stop(): Promise<void>;
}

const SUBSCRIPTION = /^\/sub\/([^/?]+)/;

/** Starts a panel on a free port; every key is one of its own. */
export function startSmallPanel(): SmallPanel {
  const requests: PanelRequest[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ method, url, headers }) {
      const { pathname, search } = new URL(url);
      // A key that is made up, to see whether the panel serves strangers.
      if (MADE_UP.test(pathname)) return new Response('no such key\n', { status: 404 });
      requests.push({
        method,
        uri: `${pathname}${search}`,
        hwid: headers.get('x-hwid'),
        headers,
      });
      const key = SUBSCRIPTION.exec(pathname)?.[1];
      if (key === undefined) return new Response('no page\n', { status: 404 });
      // As a test asks for them: `?answer-vary=accept`.
      const asked = [...new URLSearchParams(search)].map(([name, value]) => [
        name.replace(/^answer-/, ''),
        value,
      ]);
      return new Response(subscriptionOf(key), {
        headers: {
          ...Object.fromEntries(search.startsWith('?answer-') ? asked : []),
          'subscription-userinfo': 'upload=1; download=2',
          'profile-title': 'Panel',
        },
      });
    },
  });
  return { port: server.port ?? 0, requests, stop: () => server.stop(true) };
}

/** The subscription that the panel serves for a key. */
export function subscriptionOf(key: string): string {
  return `vless://${key}@node.example.com:443#one\n`;
}
