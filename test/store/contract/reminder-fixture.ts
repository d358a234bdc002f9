/** A provider with a link that is to be reminded, for the suites about reminders. */

import type { OwnReminder } from '../../../src/core/port/reminder.ts';
import type { Figures } from '../../../src/core/port/subscription-figures.ts';
import { roundOf } from '../../../src/core/reminder-round.ts';
import { wantedOf } from '../../../src/core/reminder-rules.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, CLOCK, knock, NOW_MS, type OpenedStore, provider } from './fixture.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const GB = 2 ** 30;
/** How a store sends the reminders of a provider. */
export async function howOf(store: OpenedStore['store'], nowMs: number) {
  const owner = await provider(store, 'Provide1');
  const rules = await store.listReminders(owner.id);
  return { ...BOUNDS, rounds: rules.flatMap((rule) => roundOf(rule, owner, nowMs) ?? []) };
}
const BOUNDS = {
  waitingMax: 1_000,
  gateways: ['fcm'],
  rides: { level: 'on', hours: 48 },
} as const;
const TEXTS = { en: '<b>{days_left} left</b>', ru: 'Осталось {days_left}' };
export const READ: Figures = { endsAtMs: NOW_MS + 2 * DAY_MS, totalBytes: 10 * GB, usedBytes: GB };

/** A provider with a link whose subscription ends in two days, `phone` on it, and a reminder. */
export async function shop({ store }: OpenedStore, more: Partial<OwnReminder> = {}) {
  const door = await addDoor(store);
  const { installId, providerId } = door;
  await store.updateProvider('Provide1', { plan: 'enterprise', subscriptionFigures: 1 }, ACT);
  await knock(store, 'phone');
  await store.keepSubscriptionFigures(installId, READ, 'proxy', NOW_MS);
  const rule = await addRule(store, providerId, more);
  return { ...door, rule };
}

export async function addRule(
  store: OpenedStore['store'],
  providerId: number,
  more: Partial<OwnReminder> = {},
) {
  const own = { kind: 'before_end', amount: 72, texts: TEXTS, pushText: 'neutral', enabled: 1 };
  const draft = { ...(own as OwnReminder), ...more };
  const added = await store.addReminder(
    { ...draft, providerId, createdAtMs: NOW_MS, countMax: 10 },
    ACT,
  );
  if (typeof added === 'string') throw new Error(added);
  return added.reminder;
}

export type Shop = Awaited<ReturnType<typeof shop>>;

/** Sends what is due to the links of a shop; returns the devices that got something. */
export async function remindAll({ store }: OpenedStore, { providerId }: Shop, nowMs = NOW_MS) {
  CLOCK.set(nowMs);
  const rules = await store.listReminders(providerId);
  const links = await store.listCourses(providerId, 0, 100);
  const wanted = links.flatMap((link) => wantedOf(link, rules, nowMs));
  return (await store.remind(providerId, wanted, nowMs, await howOf(store, nowMs))).deviceIds;
}

export const roundsOf = ({ store }: OpenedStore, { providerId }: Shop) =>
  store.listRounds(providerId, { beforeId: null, countMax: 50 });
