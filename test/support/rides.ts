/** Devices of existing apps that fetch, and what their users see of what rides. */

import { hostHash } from '../../src/core/host-name.ts';
import { BLOCKED, statusesBefore } from '../../src/core/message/status.ts';
import type { Credentials } from '../../src/core/provider.ts';
import type { Upstream } from '../../src/http/upstream/settings.ts';
import { ACT } from './actor.ts';
import type { TestApp, TestAppOptions } from './app.ts';
import { notify, order } from './messaging.ts';
import { behaveWell, type PanelCall } from './panel.ts';
import { ridingApp, type Shown } from './riding-apps.ts';
import { addLink, enter, LINK } from './shop.ts';
import { type Fronted, type Got, HOST, startFronted } from './upstream.ts';

export const RIDES = { level: 'on', hours: 72 } as const;

/** The texts of a notification in four languages, with signs outside of the first plane. */
export const TEXTS = {
  en: 'New servers 🚀\nUpdate your subscription.',
  ru: 'Новые серверы 🚀\nОбновите подписку.',
  fa: 'سرورهای جدید 🚀\nاشتراک خود را به‌روز کنید.',
  zh: '新服务器 🚀\n请更新您的订阅。',
} as const;
export type Language = keyof typeof TEXTS;
export const LINK_URL = 'https://example.com/news?a=b&c=d';

export const formOf = (text: string) => {
  const [title = '', body = ''] = text.split('\n');
  return { title, body };
};

/** The time between two general notifications of a provider. */
const BETWEEN_MS = 5 * 60_000;

/**
 * Sends a notification in all languages to all devices of iOS and Android, or to HWIDs, once the
 * provider may send one.
 */
export async function ride(
  app: TestApp,
  own: Credentials,
  { to = { os: ['ios', 'android'] }, ...more }: Record<string, unknown> = {},
): Promise<number> {
  const { body, ...form } = {
    ...formOf(TEXTS.en),
    link_for_open: LINK_URL,
    locales: { RU: formOf(TEXTS.ru), FA: formOf(TEXTS.fa), CN: formOf(TEXTS.zh) },
    ...more,
  } as { body: string };
  app.clock.advance(BETWEEN_MS);
  const id = await notify(app, own, body, to as Record<string, unknown>, form);
  await app.deliver();
  return id;
}

/** Sends a command, and delivers it. */
export async function command(
  app: TestApp,
  own: Credentials,
  fields: Record<string, unknown>,
): Promise<number> {
  const id = await order(app, own, fields);
  await app.deliver();
  return id;
}

/**
 * Starts an appliance on which messages ride, in front of a panel. A device is there, on a link of
 * its own: a provider without devices cannot send.
 */
export async function frontRiding(
  behave: (call: PanelCall) => Promise<void> | void = behaveWell,
  more: Partial<Upstream> = {},
  options: TestAppOptions = {},
): Promise<Fronted> {
  const at = await startFronted(behave, more, { rides: RIDES, ...options });
  await addLink(at.app, at.own);
  await enter(at.app, 'elsewhere', LINK, hostHash(HOST));
  return at;
}

/** What an app says of itself and of its user. */
export const ofApp = (
  name: string,
  language: string | null = null,
  os = 'android',
): Record<string, string> => ({
  'User-Agent': ridingApp(name).userAgent,
  'x-device-os': os,
  ...(language !== null && { 'X-Device-Locale': language }),
});

/** Returns what the user of an app sees of an answer. */
export function seen(name: string, got: Pick<Got, 'headers'>, before?: Shown): Shown {
  const headers = new Headers();
  for (const [key, value] of got.headers) headers.set(key, value);
  const shown = ridingApp(name).shows(headers, before);
  if (shown === null) throw new Error(`the rule of ${name} is not known`);
  return shown;
}

/** Blocks a distribution, as the operator does. */
export async function block({ clock, core }: TestApp, id: number): Promise<void> {
  const outcome = await core.store.blockDistribution(
    id,
    statusesBefore(BLOCKED),
    clock.nowMs(),
    ACT,
  );
  if (outcome !== 'ok' && outcome !== 'ride_ended') throw new Error(`not blocked: ${outcome}`);
}
