/** The pages that send: a provider with two phones, and what it has sent. */

import { TRANSITIONS } from '../../src/core/message/status.ts';
import { call, seedProvider } from './app.ts';
import { type ConsoleSite, openTab, type Tab } from './console-page.ts';

const DOMAIN_HASH = 'e'.repeat(64);
const STATUSES = Object.keys(TRANSITIONS).map(Number);

interface SendTab extends Tab {
  code: string;
  /** Takes a phone off its link. */
  free(hwid: string): Promise<unknown>;
  phones: [string, string];
  /** What was sent, the newest first. */
  sent(): Promise<
    { payload: Record<string, unknown>; targetHwid: string; targetOs: string | null }[]
  >;
}

/** Opens a page as a provider with two Android phones. */
export async function openSend(site: ConsoleSite, path: string, options = {}): Promise<SendTab> {
  const of = await seedProvider(site.app, { plan: 'enterprise' });
  await call(site.app, '/api/add-domain', of, { domain_hash: DOMAIN_HASH });
  const added = await call(site.app, '/api/add-install', of, { install_limit: 5 });
  const phones: [string, string] = [`${of.code}-phone-1`, `${of.code}-phone-2`];
  for (const hwid of phones) {
    const query = { id: DOMAIN_HASH, installid: added.json.install_code, os_name: 'Android' };
    await call(site.app, '/install', null, { ...query, hwid });
  }
  const signIn = { code: of.code, key: of.authKey };
  const tab = await openTab(site, ['session.key', signIn], path, options);
  const id = (await site.app.core.store.findProvider(of.code))?.id ?? 0;
  const sent = async () => {
    const filter = { ids: null, notificationType: null, statuses: STATUSES, isScheduled: null };
    const page = { beforeId: null, countMax: 9, scanMax: 9 };
    const { messages } = await site.app.core.store.listMessages(id, filter, page);
    return messages.map(({ payload, targetHwid, targetOs }) => ({
      payload: JSON.parse(payload),
      targetHwid,
      targetOs,
    }));
  };
  const link = added.json.install_code;
  const free = (hwid: string) =>
    call(site.app, '/api/delete-hwid', of, { install_code: link, hwid });
  return { ...tab, code: of.code, phones, sent, free };
}
