/** Tells a subscription, which lists servers, from another answer of a panel. */

/** Headers that only subscriptions have; `encrypt-tag` is that of an encrypted body. */
export const SUBSCRIPTION_HEADERS = [
  ...['subscription-userinfo', 'profile-update-interval', 'profile-title', 'encrypt-tag'],
  'content-disposition',
];

/** The schemes of links to servers. */
const SERVER_SCHEMES = [
  ...['vless', 'vmess', 'trojan', 'ss', 'ssr', 'hysteria', 'hysteria2', 'hy2', 'tuic', 'wireguard'],
  ...['wg', 'awg', 'vpn', 'socks', 'socks5', 'anytls', 'juicity', 'mieru', 'mierus', 'ssh'],
  ...['naive+https', 'naive+quic', 'sn', 'snell', 'happ', 'incy'],
];

const LINK = new RegExp(`^(?:${SERVER_SCHEMES.join('|').replaceAll('+', '\\+')})://\\S`, 'i');
const BASE64 = /^[\w+/=-][\w+/=\s-]*$/;
/** Sections of a configuration of Clash, and the head of one of WireGuard. */
const SECTION = /^(?:(?:proxies|proxy-providers|proxy-groups):|\[Interface\])/m;
/** sing-box and Xray; SIP008. */
const IN_JSON = /"(?:outbounds|endpoints|servers)"\s*:\s*\[/;

/**
 * Decides by the first characters of an answer whether it lists servers: links, base64 of links,
 * YAML of Clash, JSON of outbounds. Null: more characters decide; never if `isAll`.
 */
export function listsServers(start: string, isAll: boolean): boolean | null {
  const text = start.replace(/^\uFEFF/, '').trimStart();
  const undecided = isAll ? false : null;
  if (text === '') return undecided;
  // A page.
  if (text.startsWith('<')) return false;
  if (/^[[{]["'{[\s]/.test(text)) return IN_JSON.test(text) || undecided;
  const isList = beginsWithLink(text);
  if (isList !== false) return isList ?? undecided;
  if (SECTION.test(text)) return true;
  if (!BASE64.test(text)) return undecided;
  const joined = text.replace(/\s+/g, '');
  const decoded = Buffer.from(joined.slice(0, joined.length & ~3 || undefined), 'base64');
  return beginsWithLink(decoded.toString()) || undecided;
}

/** Looks at the first line that is no comment; null: there is none yet. */
function beginsWithLink(text: string): boolean | null {
  const line = /^(?!\s|#|\/\/).+/m.exec(text)?.[0];
  return line === undefined ? null : LINK.test(line);
}
