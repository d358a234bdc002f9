/** Counts servers in a text by their schemes, so that a page which lists them is noticed. */

/** The scheme under which each spelling is counted. */
const SCHEMES: Readonly<Record<string, string>> = {
  vless: 'vless',
  vmess: 'vmess',
  trojan: 'trojan',
  tuic: 'tuic',
  wireguard: 'wireguard',
  ss: 'ss',
  shadowsocks: 'ss',
  ssr: 'ssr',
  anytls: 'anytls',
  wg: 'wireguard',
  hysteria: 'hysteria',
  hysteria2: 'hysteria2',
  hy2: 'hysteria2',
};
const NAMES = Object.keys(SCHEMES).join('|');
/** Links; in JSON their slashes may be escaped. */
const LINK = new RegExp(`(?<![\\w+.-])(${NAMES}):(?:\\\\?/){2}(?=[\\w\\[%-])`, 'gi');
/** Outbounds of Xray and sing-box as JSON, and proxies of Clash. */
const OUTBOUND = new RegExp(`["']?\\b(?:protocol|type)["']?\\s*:\\s*["']?(${NAMES})\\b`, 'gi');
/** Base64 that may hold a link; shorter runs are names and numbers. */
const BASE64 = /[A-Za-z0-9+/_-]{24,}/g;
/** Lists are base64 as a whole; a page has few runs. */
const RUNS_MAX = 200;

/**
 * Returns the number of servers in a text by their schemes; base64 in it is decoded once.
 *
 * @example serversIn('vless://a@b:1 wss://c') // new Map([['vless', 1]])
 */
export function serversIn(text: string): Map<string, number> {
  const found = new Map<string, number>();
  count(text, found);
  let runs = 0;
  for (const [run] of text.matchAll(BASE64)) {
    runs += 1;
    if (runs > RUNS_MAX) break;
    count(Buffer.from(run, 'base64').toString('latin1'), found);
  }
  return found;
}

function count(text: string, found: Map<string, number>): void {
  const links = countBy(text, LINK);
  // JSON may have both for each server.
  for (const [scheme, outbounds] of countBy(text, OUTBOUND)) {
    links.set(scheme, Math.max(outbounds, links.get(scheme) ?? 0));
  }
  for (const [scheme, servers] of links) found.set(scheme, (found.get(scheme) ?? 0) + servers);
}

function countBy(text: string, pattern: RegExp): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, name = ''] of text.matchAll(pattern)) {
    const scheme = SCHEMES[name.toLowerCase()] ?? name;
    counts.set(scheme, (counts.get(scheme) ?? 0) + 1);
  }
  return counts;
}
