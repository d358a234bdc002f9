/**
 * Panels as the guides put them behind Gatepost: their routes and answers, read in the sources of
 * 3x-ui 2.8 (`sub/subController.go`), Marzban 0.8.4 (`app/routers/subscription.py`) and Remnawave's
 * subscription page (`backend/src/modules/root`).
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type PanelKind = '3x-ui' | 'marzban' | 'pasarguard' | 'hiddify' | 'remnawave';

const LINKS = Buffer.from('vless://user@node.example.com:443#one\n').toString('base64');
const HEADERS = {
  'Subscription-Userinfo': 'upload=0; download=1024; total=0; expire=0',
  'Profile-Update-Interval': '12',
  'Profile-Title': 'base64:U2hvcA==',
};

interface Asked {
  path: string;
  header(name: string): string;
}

/** The answer of a panel; null: it closes the connection. */
type Answer = { status: number; type: string; body: string } | null;

const page = (body: string): Answer => ({ status: 200, type: 'text/html', body });
const links = { status: 200, type: 'text/plain; charset=utf-8', body: LINKS };

/** Marzban, and PasarGuard 5.2.1 (`app/routers/subscription.py`), which grew from it. */
const bySub = ({ path, header }: Asked, keys: readonly string[]): Answer => {
  const [, key = ''] = /^\/sub\/([^/]+)\/?(?:clash|sing-box|sing_box|info)?$/.exec(path) ?? [];
  if (!keys.includes(key)) {
    return { status: 404, type: 'application/json', body: '{"detail":"Not Found"}' };
  }
  return header('accept').includes('text/html') ? page('<h1>User information</h1>') : links;
};

const PANELS: Readonly<Record<PanelKind, (asked: Asked, keys: readonly string[]) => Answer>> = {
  '3x-ui': ({ path, header }, keys) => {
    const [, kind = '', key = ''] = /^\/(sub|json|clash)\/([^/]+)$/.exec(path) ?? [];
    if (kind === '') return { status: 404, type: 'text/plain', body: '404 page not found' };
    if (!keys.includes(key)) return { status: 400, type: 'text/plain', body: 'Error!' };
    return header('accept').includes('text/html') ? page('<h1>Subscription</h1>') : links;
  },
  marzban: bySub,
  pasarguard: bySub,
  // Hiddify 10.80.9 (`hiddifypanel/panel/user/user.py`).
  hiddify: ({ path, header }, keys) => {
    const [, key = ''] = /^\/Wq3mN8\/([^/]+)\/(?:auto|sub64|clash|singbox|)\/?$/.exec(path) ?? [];
    if (!keys.includes(key)) return { status: 404, type: 'text/html', body: '' };
    return header('accept').includes('text/html') ? page('<h1>Hiddify</h1>') : links;
  },
  // Without a proxy that speaks HTTPS, or for a key that is unknown, it says nothing at all.
  remnawave: ({ path, header }, keys) => {
    if (header('x-forwarded-proto') !== 'https' || header('x-forwarded-for') === '') return null;
    if (path === '/assets/index.css') return { status: 200, type: 'text/css', body: 'body{}' };
    const [, key = ''] = /^\/([^/]+)(?:\/[\w-]+)?$/.exec(path) ?? [];
    if (!keys.includes(key)) return null;
    return /Mozilla|TelegramBot/.test(header('user-agent')) ? page('<h1>Subscription</h1>') : links;
  },
};

export interface RealPanel {
  port: number;
  stop(): void;
}

/** Starts a panel that knows these keys. */
export async function startRealPanel(kind: PanelKind, keys: readonly string[]): Promise<RealPanel> {
  const server: Server = createServer(({ headers, socket, url = '' }, response) => {
    const asked = {
      path: new URL(url, 'http://panel').pathname,
      header: (name: string) => String(headers[name] ?? ''),
    };
    const answer = PANELS[kind](asked, keys);
    if (answer === null) return socket.destroy();
    response.writeHead(answer.status, { ...HEADERS, 'Content-Type': answer.type });
    return response.end(answer.body);
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
