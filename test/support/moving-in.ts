/** Slots that move in to a link that is here. */

import { ACT } from './actor.ts';
import type { TestApp } from './app.ts';

/** Adds a slot to a link, as the import of a panel does. */
export async function moveIn({ core, clock }: TestApp, of: string, code: string, hwid: string) {
  const provider = await core.store.findProvider(of);
  const link = await core.store.findLink(code);
  if (provider === null || link === null) throw new Error('the link is not there');
  const nowMs = clock.nowMs();
  const phone = { os: 'android', osVersion: '15', deviceName: 'Pixel 9', appVersion: '' };
  const seen = { registeredAtMs: nowMs, firstSeenAtMs: nowMs, lastSeenAtMs: nowMs };
  const slot = { hwid, ...phone, userAgent: '', ...seen, slotSeenAtMs: nowMs };
  const { id, installCode, installLimit, status, note, createdAtMs } = link;
  const facts = { id, installCode, installLimit, status, note, createdAtMs };
  const moved = { ...facts, slots: [slot] };
  const rules = { installCountMax: 100, updates: false };
  return core.store.importLink(provider.id, moved, rules, ACT);
}
