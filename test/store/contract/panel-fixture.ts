/** Users of a panel, as imports give them to the store. */

import type { ImportedLink } from '../../../src/core/port/moving.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { NOW_MS, SILENCE } from './fixture.ts';

const RULES = { installCountMax: 100, updates: false };
export const PAGE = { afterUser: '', countMax: 10 };
export const keyOf = (name: string) => Buffer.from(hashKey(name)).toString('hex');

export function device(hwid: string, registeredAtMs = NOW_MS - 9) {
  const times = { registeredAtMs, firstSeenAtMs: registeredAtMs, lastSeenAtMs: NOW_MS };
  return { hwid, ...SILENCE, deviceName: hwid, ...times };
}

let made = 0;
/** A link as an import makes it of a user: each time with another code. */
export function user(name: string, more: Partial<ImportedLink> = {}, key = name): ImportedLink {
  made += 1;
  return {
    id: null,
    installCode: `Panel${String(made).padStart(7, '0')}`,
    installLimit: 3,
    status: 10,
    note: name,
    createdAtMs: NOW_MS - 99,
    panelUser: `remnawave:${name}`,
    terms: { ...NO_TERMS, subscriptionKeyHash: keyOf(key) },
    slots: [],
    ...more,
  };
}

export const bring = (store: Store, providerId: number, link: ImportedLink, updates = false) =>
  store.importLink(providerId, link, { ...RULES, updates }, ACT);

export const hwidsOf = async (store: Store, providerId: number, installId: number) => {
  const slots = await store.listSlots(providerId, { installCode: null, installId }, null, 100);
  return Array.isArray(slots) ? slots.map(({ hwid }) => hwid).sort() : slots;
};
