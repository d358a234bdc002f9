/**
 * Panels as the guides put them behind Gatepost: their routes, with the pages and refusals that
 * the real panels gave (test/fixtures/panels); those of Remnawave's subscription page as its
 * source says (`backend/src/modules/root`).
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { recordingOf, textOf } from './recorded.ts';

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

/** Returns what a panel answered to a request for a subscription. */
function recorded(kind: Exclude<PanelKind, 'remnawave'>, isOne: (name: string) => boolean): Answer {
  const found = recordingOf(kind).subscriptions.find(({ name }) => isOne(name));
  if (found === undefined) throw new Error(`${kind} was recorded without such an answer`);
  const type = found.headers['content-type'] ?? 'text/plain';
  return { status: found.status, type, body: textOf(found) };
}
const pageOf = (kind: Exclude<PanelKind, 'remnawave'>) =>
  recorded(kind, (name) => name.endsWith('browser'));
const refusalOf = (kind: Exclude<PanelKind, 'remnawave'>) =>
  recorded(kind, (name) => name === 'a key that no customer has');
const links = { status: 200, type: 'text/plain; charset=utf-8', body: LINKS };

/** Marzban, and PasarGuard 5.2.1 (`app/routers/subscription.py`), which grew from it. */
const bySub =
  (kind: 'marzban' | 'pasarguard') =>
  ({ path, header }: Asked, keys: readonly string[]): Answer => {
    const [, key = ''] = /^\/sub\/([^/]+)\/?(?:clash|sing-box|sing_box|info)?$/.exec(path) ?? [];
    if (!keys.includes(key)) return refusalOf(kind);
    return header('accept').includes('text/html') ? pageOf(kind) : links;
  };

const PANELS: Readonly<Record<PanelKind, (asked: Asked, keys: readonly string[]) => Answer>> = {
  '3x-ui': ({ path, header }, keys) => {
    const [, kind = '', key = ''] = /^\/(sub|json|clash)\/([^/]+)$/.exec(path) ?? [];
    if (kind === '') return { status: 404, type: 'text/plain', body: '404 page not found' };
    if (!keys.includes(key)) return refusalOf('3x-ui');
    return header('accept').includes('text/html') ? pageOf('3x-ui') : links;
  },
  marzban: bySub('marzban'),
  pasarguard: bySub('pasarguard'),
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
