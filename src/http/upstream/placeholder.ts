/**
 * A refusal as a subscription: a list of one server whose name is the reason and which connects to
 * nothing. For apps that drop a response with a 4xx status before they read its headers or its
 * text.
 *
 * | The app | or else the path | the subscription is |
 * |---|---|---|
 * | {@link formatOf} `clash` | {@link isRouteOf} `clash` | Clash YAML |
 * | {@link formatOf} `singBox` | {@link isRouteOf} `singBox` | that of sing-box, 1.10 or later |
 * | others | others | links in base64, which most apps read |
 */

import { appOf } from '../../core/app/find.ts';
import type { App } from '../../core/app/record.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { PANELS } from '../../core/panel/kind.ts';

/** Apps beyond the table with the core of Clash or mihomo, or of sing-box. */
const CLASH = /^(?:clash|flowvy|mihomo|murge|stash)/i;
const SING_BOX = /^(?:sf[aimt]\b|singbox)/i;

/** Returns the format that an app reads, by its `User-Agent`; null: links. */
function formatOf(userAgent: string): App['format'] {
  const app = appOf(userAgent);
  if (app !== null) return app.format;
  if (CLASH.test(userAgent)) return 'clash';
  return SING_BOX.test(userAgent) ? 'singBox' : null;
}

/** Returns whether a path has a segment at which some panel gives a format. */
const isRouteOf = (format: 'clash' | 'singBox', path: string): boolean =>
  path
    .toLowerCase()
    .split('/')
    .some((part) => ROUTES[format].has(part));

const ROUTES = {
  clash: new Set(PANELS.flatMap((panel) => PANEL_TRAITS[panel].routes.clash)),
  singBox: new Set(PANELS.flatMap((panel) => PANEL_TRAITS[panel].routes.singBox)),
};

/** A server that discards all traffic: no device listens on the port. */
const NOWHERE = { server: '127.0.0.1', port: 1 };
const NO_USER = '00000000-0000-0000-0000-000000000000';
/** The name that most panels give to the group of servers. */
const GROUP = 'Proxy';

export interface Placeholder {
  /** The content type. */
  type: string;
  body: string;
}

/**
 * Builds the refusal for an app that asked for a path. Returns null for a browser, which shows a
 * text.
 */
export function placeholderFor(headers: Headers, path: string, text: string): Placeholder | null {
  if (/\btext\/html\b/i.test(headers.get('accept') ?? '')) return null;
  const format = formatOf(headers.get('user-agent') ?? '');
  // The sign keeps the name apart from reserved ones, such as DIRECT.
  const name = `⛔ ${text.toWellFormed()}`;
  const route = format === null ? path : '';
  if (format === 'clash' || isRouteOf('clash', route)) {
    return { type: 'text/yaml; charset=utf-8', body: clashOf(name) };
  }
  if (format === 'singBox' || isRouteOf('singBox', route)) {
    return { type: 'application/json; charset=utf-8', body: singBoxOf(name) };
  }
  return { type: 'text/plain; charset=utf-8', body: linksOf(name) };
}

/** Routes all traffic to the placeholder, so that none leaves the device unprotected. */
function clashOf(name: string): string {
  const { server, port } = NOWHERE;
  return [
    'mode: rule',
    'proxies:',
    `  - {name: ${quoted(name)}, type: socks5, server: ${server}, port: ${port}}`,
    'proxy-groups:',
    `  - {name: ${GROUP}, type: select, proxies: [${quoted(name)}]}`,
    'rules:',
    `  - MATCH,${GROUP}`,
    '',
  ].join('\n');
}

function singBoxOf(name: string): string {
  const address = ['172.19.0.1/30'];
  const vless = { type: 'vless', tag: name, server: NOWHERE.server, server_port: NOWHERE.port };
  const config = {
    inbounds: [{ type: 'tun', tag: 'tun-in', address, auto_route: true, strict_route: true }],
    outbounds: [
      { type: 'selector', tag: GROUP, outbounds: [name] },
      { ...vless, uuid: NO_USER },
    ],
    route: { final: GROUP, auto_detect_interface: true },
  };
  return `${escaped(JSON.stringify(config, null, 2))}\n`;
}

function linksOf(name: string): string {
  const { server, port } = NOWHERE;
  const query = 'encryption=none&security=none&type=tcp';
  const link = `vless://${NO_USER}@${server}:${port}?${query}#${encodeURIComponent(name)}`;
  return Buffer.from(`${link}\n`).toString('base64');
}

/** Returns a text as a JSON string, which means the same in YAML. */
const quoted = (text: string) => escaped(JSON.stringify(text));

/**
 * Escapes characters with a special meaning to a reader: those of HTML, because Prizrak-Box decodes
 * entities before it parses, and line ends and invisible characters of YAML.
 */
function escaped(json: string): string {
  return json.replace(
    /[&<>\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
