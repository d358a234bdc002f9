/**
 * Panels as they read a path, a query, headers and cookies, written from their sources: Hiddify
 * 10.80.11 (`panel/user`, `auth.py`, `panel/common.py`; werkzeug decodes a path once and compares
 * UUIDs as numbers), 3x-ui after 3.6.0 (`sub/controller.go`), Marzban 0.8.4 and PasarGuard 5.2.1
 * (`routers/subscription.py`, `utils/jwt.py`) and the page of Remnawave (`modules/root`).
 */

import type { PanelKind } from '../../src/core/panel/kind.ts';
import { digestToken, macToken } from './signing-panel.ts';

export const UUID = '3f1c2a5e-8b7d-4c21-9e0f-6a5b4c3d2e1f';
export const SUB_ID = "Ab!(x)'*,$é🔑";
export const MARZBAN_TOKEN = digestToken('anna,1767225600');
export const PASARGUARD_TOKEN = macToken('v3,7,1767225600');
export const SHORT_UUID = 'xK3mQ9vBt7Lw2nRa';
/** A part of each answer that has servers. */
export const SERVERS = 'vless://secret@node.example.com:443';

export interface PanelQuestion {
  /** Path and query as they came. */
  target: string;
  /** Returns a header; empty: it did not come. */
  header(name: string): string;
}

interface PanelReply {
  status: number;
  body: string;
  headers: Record<string, string>;
}

const NAMED = { 'Subscription-Userinfo': 'upload=0; download=1; total=0; expire=0' };
const servers = (): PanelReply => ({ status: 200, body: `${SERVERS}#one\n`, headers: NAMED });
const bare = (status: number, body = ''): PanelReply => ({ status, body, headers: {} });
const page = (): PanelReply => ({
  status: 200,
  body: `<html>${SERVERS}</html>`,
  headers: { 'Content-Type': 'text/html' },
});

const isPerson = ({ header }: PanelQuestion) => header('accept').includes('text/html');

/** Returns the user whom Hiddify would take by header, Basic or cookie; null: none. */
function hiddifyUser({ header }: PanelQuestion): boolean {
  const basic = Buffer.from(header('authorization').replace(/^Basic /, ''), 'base64').toString();
  return [
    header('hiddify-api-key').toLowerCase() === UUID,
    basic.toLowerCase() === `${UUID}:`,
    header('cookie').includes('session=signed-for-the-user'),
  ].includes(true);
}

const HEX = '[\\da-f]{8}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{12}';
const OF_HIDDIFY = new RegExp(`^/CL(?:/\\d+)?/(${HEX})(?:/(.*))?$`, 'i');

function hiddify(asked: PanelQuestion, path: string): PanelReply | null {
  if (path.includes('generate_204')) return bare(204);
  if (!path.startsWith('/CL/')) return bare(404);
  if (/^\/CL\/(?:\d+\/)?static\//.test(path)) return bare(200, 'body{}');
  const [, uuid, route = ''] = OF_HIDDIFY.exec(path) ?? [];
  const isUser = uuid === undefined ? hiddifyUser(asked) : uuid.toLowerCase() === UUID;
  if (!isUser) return bare(uuid === undefined ? 302 : 403);
  if (uuid === undefined && !/^\/CL\/(?:client|\d+|api\/v2\/user)\//.test(path)) return bare(404);
  if (isPerson(asked)) return page();
  return /me\/?$|info\/?$/.test(route) ? bare(200, '{"profile_title":"x"}') : servers();
}

function threeXUi(asked: PanelQuestion, path: string, query: URLSearchParams): PanelReply {
  const id = /^\/(?:sub|json|clash)\/([^/]+)$/.exec(path)?.[1];
  if (path.endsWith('/')) return bare(301);
  if (id !== SUB_ID) return bare(400, 'Error!');
  if (query.get('format') === 'info') return bare(200, '{"traffic":1}');
  const isPage = query.get('html') === '1' || query.get('view') === 'html';
  return isPage || isPerson(asked) ? page() : servers();
}

const bySub =
  (token: string) =>
  (asked: PanelQuestion, path: string): PanelReply => {
    const [, given, part] = /^\/sub\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
    if (given !== token) return bare(404, '{"detail":"Not Found"}');
    if (part === 'usage') return bare(200, '{"usages":[]}');
    if (part === 'info') return bare(200, `{"username":"anna","id":7,"links":["${SERVERS}"]}`);
    return isPerson(asked) ? page() : servers();
  };

function remnawave(asked: PanelQuestion, path: string): PanelReply | null {
  const id = /^\/([^/]+)(?:\/(?:clash|json|singbox))?$/.exec(path)?.[1];
  if (id !== SHORT_UUID) return null;
  return /Mozilla/.test(asked.header('user-agent')) ? page() : servers();
}

const PANELS: Readonly<
  Record<
    PanelKind,
    (asked: PanelQuestion, path: string, query: URLSearchParams) => PanelReply | null
  >
> = {
  hiddify,
  '3x-ui': threeXUi,
  marzban: bySub(MARZBAN_TOKEN),
  pasarguard: bySub(PASARGUARD_TOKEN),
  remnawave,
};

/** Returns the answer of a panel; null: it closes the connection. */
export function replyOf(kind: PanelKind, asked: PanelQuestion): PanelReply | null {
  const [written = '', query = ''] = asked.target.split('?');
  let path: string;
  try {
    path = decodeURIComponent(written);
  } catch {
    return bare(400);
  }
  return PANELS[kind](asked, path, new URLSearchParams(query));
}
