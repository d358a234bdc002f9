/**
 * Browsers as devices: a user can subscribe to news on the page of a link. A browser takes no slot,
 * gets only notifications, and ends with its link.
 */

import type { Core } from './core.ts';
import { tidyFacts } from './device.ts';
import { NO_FACTS } from './device-facts.ts';
import { readDeviceToken } from './formats.ts';
import { LOCALE } from './message/device-input.ts';
import { fillMessage, isFilled, withoutFigures } from './message/filling.ts';
import { readPush } from './message/push-address.ts';
import { isRefused, type Misfit, malformed, Refused } from './outcome.ts';
import type { BrowserMessage } from './port/browser.ts';
import type { DeviceFacts } from './port/device.ts';
import { PUSH } from './port/distribution.ts';
import type { MyLink } from './port/my.ts';
import { withoutPrivate } from './privacy.ts';
import { hashKey, randomCode, randomToken } from './secret.ts';

/** The most browsers of a link. */
const BROWSERS_MAX = 5;

/** Names by substrings of a `User-Agent`; the first match applies. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'ios'],
  [/\bAndroid\b/, 'android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const nameIn = (agent: string, names: readonly (readonly [RegExp, string])[]) =>
  names.find(([sign]) => sign.test(agent))?.[1] ?? '';

/** Returns the facts of a browser: its name and system, without versions. */
function browserFacts(userAgent: string): DeviceFacts {
  const agent = userAgent.slice(0, 512);
  const name = nameIn(agent, BROWSERS);
  return tidyFacts({
    ...NO_FACTS,
    os: nameIn(agent, SYSTEMS),
    deviceName: name || 'Browser',
    userAgent: 'browser',
  });
}

interface NewsWish {
  /** The subscription object of the browser. */
  subscription: unknown;
  locale: unknown;
  userAgent: string;
  /** The address of the page that shows its messages. */
  page: string;
  /** The token of the browser; null: it has none. */
  token: string | null;
}

/**
 * Makes a browser a device of a link's provider and returns its new token. Draws the HWID here,
 * because browsers have none. Refuses `malformed`, `browser_limit_reached` beyond
 * {@link BROWSERS_MAX}, and `link_not_found` if the page of the link was closed meanwhile.
 */
export async function registerBrowser(
  core: Core,
  { installId }: MyLink,
  { subscription, locale, userAgent, page, token: held }: NewsWish,
  nowMs: number,
): Promise<{ token: string } | Misfit | Refused<'browser_limit_reached' | 'link_not_found'>> {
  const push = readPush({ gateway: 'webpush', token: subscription }, core.limits);
  if (isRefused(push)) return push;
  if (push === null) return malformed('push must be a subscription');
  const isTag = typeof locale === 'string' && LOCALE.test(locale);
  const token = randomToken();
  const registered = await core.store.registerBrowser({
    installId,
    nowMs,
    countMax: BROWSERS_MAX,
    tokenHash: hashKey(token),
    hwid: `web-${randomCode(32)}`,
    facts: withoutPrivate(core, browserFacts(userAgent)),
    locale: isTag ? locale : null,
    push: { ...push, page },
    heldTokenHash: tokenHashOf(held),
  });
  return registered === 'ok' ? { token } : new Refused(registered);
}

/** Returns the hash of a token; null: it is malformed. */
export function tokenHashOf(shown: string | null): Uint8Array | null {
  const token = readDeviceToken(shown);
  return isRefused(token) ? null : hashKey(token);
}

/**
 * Lists the unexpired notifications of a browser of a link, latest first. A browser has no slot,
 * and the code alone attaches it: placeholders show figures only if the page may (`hasFigures`),
 * and the traffic only where the provider shows it.
 */
export async function listNews(
  core: Core,
  { installId, myTraffic }: Pick<MyLink, 'installId' | 'myTraffic'>,
  tokenHash: Uint8Array,
  hasFigures: boolean,
  nowMs: number,
  countMax: number,
): Promise<BrowserMessage[]> {
  const found = await core.store.listNews(tokenHash, nowMs, countMax);
  const news = found.map((message) => ({ ...message, notificationType: PUSH }));
  if (!news.some(isFilled)) return found;
  const all = await core.store.findLinkFacts(installId);
  const traffic = myTraffic === 1 ? {} : { totalBytes: null, usedBytes: null };
  const facts = hasFigures ? all && { ...all, ...traffic } : withoutFigures(all);
  return news.map((message) => fillMessage(message, facts, nowMs));
}
