/**
 * What apps make of a refused subscription: their rules, in words of our own, as far as they decide
 * what the person reads. Each was read in the app's source, which is named; docs/gate.md has the
 * same as a table. Of closed apps (Happ, v2RayTun, INCY, Shadowrocket) no rule is known.
 */

export interface RefusedApp {
  name: string;
  /** Repository and files that have the rule. */
  source: string;
  userAgent: string;
  sendsHwid: boolean;
  /** Returns what the app shows of an answer. */
  reads(answer: AppAnswer): string;
}

export interface AppAnswer {
  status: number;
  headers: Headers;
  body: string;
}

const isTrue = (headers: Headers, name: string) => headers.get(name)?.toLowerCase() === 'true';

export const announced = (headers: Headers): string => coded(headers.get('announce') ?? '');

function coded(value: string): string {
  const [, text] = /^base64:(.*)$/.exec(value) ?? [];
  return text === undefined ? value : Buffer.from(text, 'base64').toString();
}

/** The names of the servers of a Clash configuration; the app refuses other texts. */
function clashServers(body: string): string {
  const config = Bun.YAML.parse(body) as { proxies?: { name: string }[] } | string;
  if (typeof config !== 'object' || config.proxies === undefined) return 'no proxies';
  return config.proxies.map(({ name }) => name).join();
}

function singBoxServers(body: string): string {
  let config: { outbounds: { type: string; tag: string }[] };
  try {
    config = JSON.parse(body);
  } catch {
    return 'no configuration';
  }
  const servers = config.outbounds.filter(({ type }) => type !== 'selector');
  return servers.map(({ tag }) => tag).join();
}

/** The names of links, whole or in base64. */
function linkServers(body: string): string {
  const isCoded = /^[\w+/=\s-]*$/.test(body) && !body.includes(' ');
  const text = isCoded ? Buffer.from(body, 'base64').toString() : body;
  const links = text.split('\n').filter((line) => /^(?:vless|vmess|trojan|ss):\/\//.test(line));
  const names = links.map((link) => decodeURIComponent(new URL(link).hash.slice(1)));
  return names.join() || 'no servers';
}

/** An older version of the app decodes entities of HTML before it parses. */
const prizrakServers = (body: string) =>
  clashServers(body.replaceAll('&quot;', '"').replaceAll('&#10;', '\n').replaceAll('&amp;', '&'));

/** The notice of Clod Clash about the device, with the text of a header of its own. */
function clodNotice(headers: Headers): string[] {
  const refuses = ['x-hwid-max-devices-reached', 'x-hwid-limit', 'x-hwid-not-supported'];
  if (!refuses.some((name) => isTrue(headers, name))) return [];
  return [`notice: ${coded(headers.get('clod-hwid-limit') ?? '')}`];
}

const isSuccess = ({ status }: AppAnswer) => status >= 200 && status < 300;

export const REFUSED_APPS: readonly RefusedApp[] = [
  {
    name: 'FlClashX',
    source: 'pluralplay/FlClashX: lib/common/request.dart, lib/controller.dart',
    userAgent: 'FlClash X/v0.3.0 Platform/android',
    sendsHwid: true,
    reads: (answer) => {
      if (answer.status >= 400) return `status ${answer.status}`;
      const servers = clashServers(answer.body);
      const isFull = isTrue(answer.headers, 'x-hwid-max-devices-reached');
      return isFull ? `${servers}; notice: ${announced(answer.headers)}` : servers;
    },
  },
  {
    name: 'Koala Clash',
    source: 'coolcoala/koala-clash: src-tauri/src/config/prfitem.rs',
    userAgent: 'koala-clash/v1.2.0',
    sendsHwid: true,
    reads: (answer) => {
      if (!isSuccess(answer)) return `status ${answer.status}`;
      const isFull = isTrue(answer.headers, 'x-hwid-limit');
      return isFull ? `notice: ${announced(answer.headers)}` : clashServers(answer.body);
    },
  },
  {
    name: 'Prizrak-Box',
    source: 'legiz-ru/Prizrak-Box: src-go/pkg/utils/httpclient.go, src-go/internal/subscription.go',
    userAgent: 'Clash-Meta/Prizrak-Box (Desktop Build 1.0.21 Windows)',
    sendsHwid: true,
    // 300 to 599 is a failure; entities of HTML are decoded first.
    reads: (answer) =>
      isSuccess(answer) ? prizrakServers(answer.body) : `status ${answer.status}`,
  },
  {
    name: 'Prizrak-Box for Android',
    source: 'legiz-ru/Prizrak-Box for Android: ProfileProcessor.kt, throwIfHwidBlocked()',
    userAgent: 'Clash-Meta/Prizrak-Box (Android Build 1.0.21)',
    sendsHwid: true,
    // The headers come before the status; the notice has a text of its own.
    reads: (answer) => {
      if (isTrue(answer.headers, 'x-hwid-not-supported')) return 'notice of its own: no HWID';
      if (isTrue(answer.headers, 'x-hwid-max-devices-reached')) return 'notice of its own: full';
      return isSuccess(answer) ? clashServers(answer.body) : `status ${answer.status}`;
    },
  },
  {
    name: 'Clod Clash',
    source: 'Mrvibecodic/clod-clash: src-tauri/src/config/prfitem.rs:430, sub_headers.rs:262',
    userAgent: 'ClodClash/1.4.0',
    sendsHwid: true,
    // The notice comes before the status is looked at.
    reads: (answer) => {
      const servers = isSuccess(answer) ? clashServers(answer.body) : `status ${answer.status}`;
      return [servers, ...clodNotice(answer.headers)].join('; ');
    },
  },
  {
    name: 'Clod Clash for Android',
    source: 'Mrvibecodic/clod-clash-android: core/src/main/golang/native/config/fetch.go:240-385',
    userAgent: 'ClodClash/0.0.10 (Android)',
    sendsHwid: true,
    // The status does not count; a notice stops the update.
    reads: ({ headers, body }) => clodNotice(headers)[0] ?? clashServers(body),
  },
  {
    name: 'Throne',
    source: 'throneproj/Throne: src/configs/sub/GroupUpdater.cpp, src/global/HTTPRequestHelper.cpp',
    userAgent: 'Throne/1.0.8',
    sendsHwid: true,
    reads: ({ status, body }) => (status === 200 ? linkServers(body) : `log: ${status} ${body}`),
  },
  {
    name: 'Karing',
    source: 'KaringX/karing: lib/app/utils/http_utils.dart',
    userAgent: 'Karing/1.2.9 platform/android ClashMeta;sing-box',
    sendsHwid: true,
    reads: ({ status, body }) => (status === 200 ? singBoxServers(body) : `status ${status}`),
  },
  {
    name: 'PassWall',
    source: 'Openwrt-Passwall/openwrt-passwall: root/usr/share/passwall/subscribe.lua',
    userAgent: 'passwall/26.1.1',
    sendsHwid: true,
    reads: ({ status, body }) => (status === 200 ? linkServers(body) : `log: status ${status}`),
  },
  {
    name: 'v2rayNG',
    source: '2dust/v2rayNG: util/HttpUtil.kt, handler/AngConfigManager.kt',
    userAgent: 'v2rayNG/1.10.20',
    sendsHwid: false,
    reads: (answer) => (isSuccess(answer) ? linkServers(answer.body) : 'update failed'),
  },
  {
    name: 'v2rayN',
    source: '2dust/v2rayN: v2rayN/ServiceLib/Services/DownloadService.cs, GetStringAsync()',
    userAgent: 'v2rayN/7.15.0',
    sendsHwid: false,
    reads: (answer) => (isSuccess(answer) ? linkServers(answer.body) : 'update failed'),
  },
  {
    name: 'Clash Party',
    source: 'mihomo-party-org/clash-party: src/main/config/profile.ts, axios.get()',
    userAgent: 'mihomo.party/v1.9.6 (clash.meta)',
    sendsHwid: false,
    reads: (answer) => (isSuccess(answer) ? clashServers(answer.body) : `status ${answer.status}`),
  },
  {
    name: 'Clash Meta for Android',
    source: 'MetaCubeX/ClashMetaForAndroid: core/src/main/golang/native/config/fetch.go:38-52',
    userAgent: 'ClashMetaForAndroid/2.11.21',
    sendsHwid: false,
    // The status does not count.
    reads: ({ body }) => clashServers(body),
  },
  {
    name: 'Hiddify',
    source: 'hiddify/hiddify-app: lib/features/profile/data/profile_parser.dart',
    userAgent: 'HiddifyNext/2.5.7 (android) like ClashMeta v2ray sing-box',
    sendsHwid: false,
    reads: (answer) => (isSuccess(answer) ? linkServers(answer.body) : 'unexpected error'),
  },
  {
    name: 'Clash Verge Rev',
    source: 'clash-verge-rev/clash-verge-rev: src-tauri/src/config/prfitem.rs',
    userAgent: 'clash-verge/v2.4.3',
    sendsHwid: false,
    reads: (answer) => (isSuccess(answer) ? clashServers(answer.body) : `status ${answer.status}`),
  },
  {
    name: 'sing-box for Android',
    source: 'SagerNet/sing-box-for-android: utils/HTTPClient.kt, bg/UpdateProfileWork.kt',
    userAgent: 'SFA/1.12.0 (500; sing-box 1.12.0; language ru_RU)',
    sendsHwid: false,
    reads: ({ status, body }) => (status === 200 ? singBoxServers(body) : `status ${status}`),
  },
];
