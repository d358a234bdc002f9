/**
 * Messages whose sender asked to fill placeholders (`fill`). The stored payload has the mark
 * `fill`; each way to a device takes it off and fills the texts with the facts of the device's
 * link. A message without the mark stays as it is, braces included.
 */

import { TRAFFIC_MS } from '../my-figures.ts';
import { PUSH } from '../port/distribution.ts';
import type { FillReader, FillStore, LinkFacts } from '../port/fill.ts';
import type { Glance, Message } from '../port/inbox.ts';
import type { OwnReminder } from '../port/reminder.ts';
import { holds } from '../reminder-rules.ts';
import { NO_BUTTONS, usedButtons } from '../unconfirmed.ts';
import { type FillValues, fillHtml } from './fill.ts';
import type { NotificationPayload } from './notification.ts';

/** A notification as it is stored. */
export interface StoredNotification extends NotificationPayload {
  /** 1: the sender asked to fill placeholders. */
  fill?: 1;
  /** The reminder that it is a round of: no device gets it that it is not true of any more. */
  reminder?: Pick<OwnReminder, 'kind' | 'amount' | 'pushText'>;
}

/** A message as far as filling reads it. */
interface Fillable {
  notificationType: number;
  payload: unknown;
}

/** The zone of dates of providers without one, as in the contract. */
export const USUAL_TIME_ZONE = '+03:00';

/** Returns true if the sender asked to fill the placeholders of a message. */
export const isFilled = ({ notificationType, payload }: Fillable): boolean =>
  notificationType === PUSH && (payload as StoredNotification | null)?.fill === 1;

/** Returns true for a reminder that is not true any more: its user has paid, for example. */
export function isUntrue(message: Fillable, facts: LinkFacts | null, nowMs: number): boolean {
  if (!isFilled(message)) return false;
  const { reminder } = message.payload as StoredNotification;
  return reminder !== undefined && !holds(reminder, facts, nowMs);
}

/** Returns true for a reminder whose push says nothing: gateways and lock screens show pushes. */
export const hasNeutralPush = (message: Fillable): boolean =>
  isFilled(message) && (message.payload as StoredNotification).reminder?.pushText === 'neutral';

/** Returns a notification with other bodies; `tag` is the language of a body, if it has one. */
export function mapBodies(
  payload: NotificationPayload,
  map: (html: string, tag: string | undefined) => string,
): NotificationPayload {
  const { locales } = payload;
  const others = Object.entries(locales ?? {}).map(([tag, { body, ...rest }]) => {
    return [tag, { ...rest, ...(body !== undefined && { body: map(body, tag) }) }] as const;
  });
  return {
    ...payload,
    body: map(payload.body, undefined),
    ...(locales !== undefined && { locales: Object.fromEntries(others) }),
  };
}

/** Returns facts for a reader without a slot on the link: figures are for those with one. */
export const withoutFigures = (facts: LinkFacts | null): LinkFacts | null =>
  facts && { ...facts, endsAtMs: null, totalBytes: null, usedBytes: null, readAtMs: null };

/** Returns the values of a link's placeholders; null: there is no link. */
function valuesOf(facts: LinkFacts | null, nowMs: number): FillValues {
  const { deviceCount = null, endsAtMs = null, greeting = null, installLimit = null } = facts ?? {};
  const isFresh = facts?.readAtMs != null && facts.readAtMs > nowMs - TRAFFIC_MS;
  const { totalBytes = null, usedBytes = null } = isFresh ? (facts ?? {}) : {};
  return { deviceCount, endsAtMs, greeting, installLimit, totalBytes, usedBytes };
}

/** Returns the greeting of reminders: one by a key waits. */
function settledGreeting({ changed, greeting }: LinkFacts, nowMs: number): string | null {
  if (changed === undefined) return greeting;
  const { confirmedAtMs, ...own } = changed;
  return usedButtons({ ...NO_BUTTONS, ...own, greeting }, confirmedAtMs, nowMs).greeting ?? null;
}

/** Takes the marks off a stored notification, and fills it with the facts of a link. */
export function fillPayload(
  { fill: _, reminder, ...payload }: StoredNotification,
  facts: LinkFacts | null,
  nowMs: number,
): NotificationPayload {
  const settled = facts && reminder ? { ...facts, greeting: settledGreeting(facts, nowMs) } : facts;
  const values = valuesOf(settled, nowMs);
  const time = { nowMs, timeZone: facts?.timeZone ?? USUAL_TIME_ZONE };
  return mapBodies(payload, (html, tag) => fillHtml(html, values, time, tag));
}

/** Fills a message with the facts of a link; one without the mark is returned as it is. */
export const fillMessage = <M extends Fillable>(
  message: M,
  facts: LinkFacts | null,
  nowMs: number,
): M =>
  isFilled(message)
    ? { ...message, payload: fillPayload(message.payload as StoredNotification, facts, nowMs) }
    : message;

/**
 * Fills the messages of several devices: `of` has those of each. Reads the facts of all links at
 * once. Leaves out reminders that are not true any more.
 */
async function fillAll<M extends Fillable & { providerId: number }>(
  store: Pick<FillStore, 'findFillFacts'>,
  of: readonly { deviceId: number; messages: readonly M[] }[],
  nowMs: number,
): Promise<M[][]> {
  const readers = new Map<string, FillReader & { n: number }>();
  const keyOf = (deviceId: number, { providerId }: M) => `${deviceId} ${providerId}`;
  for (const { deviceId, messages } of of) {
    for (const message of messages) {
      const key = keyOf(deviceId, message);
      if (!isFilled(message) || readers.has(key)) continue;
      readers.set(key, { deviceId, providerId: message.providerId, n: readers.size });
    }
  }
  const wanted = [...readers.values()].map(({ n: _, ...reader }) => reader);
  const facts = await store.findFillFacts(wanted);
  return of.map(({ deviceId, messages }) =>
    messages.flatMap((message) => {
      const n = readers.get(keyOf(deviceId, message))?.n;
      if (n === undefined) return [message];
      const own = facts[n] ?? null;
      return isUntrue(message, own, nowMs) ? [] : [fillMessage(message, own, nowMs)];
    }),
  );
}

/** Fills the messages of a device; leaves out reminders that are not true any more. */
export async function fillMessages<M extends Fillable & { providerId: number }>(
  store: Pick<FillStore, 'findFillFacts'>,
  deviceId: number,
  messages: M[],
  nowMs: number,
): Promise<M[]> {
  if (!messages.some(isFilled)) return messages;
  const [filled = []] = await fillAll(store, [{ deviceId, messages }], nowMs);
  return filled;
}

/** Fills what glances found, each of the device at its place. */
export async function fillGlances(
  store: Pick<FillStore, 'findFillFacts'>,
  devices: readonly { id: number }[],
  glances: readonly Glance[],
  nowMs: number,
): Promise<readonly Glance[]> {
  const has = (glance: Glance) => typeof glance !== 'string' && glance.some(isFilled);
  if (!glances.some(has)) return glances;
  const of = glances.map((glance, n) => ({
    deviceId: devices[n]?.id ?? 0,
    messages: typeof glance === 'string' ? [] : glance,
  }));
  const filled: Message[][] = await fillAll(store, of, nowMs);
  return glances.map((glance, n) => (typeof glance === 'string' ? glance : (filled[n] ?? glance)));
}

/** The most links that a preview is filled for. */
const EXAMPLES_MAX = 3;

/** A notification as the devices of a link get it. */
export interface FillExample {
  installId: number;
  payload: NotificationPayload;
}

/**
 * Fills a notification for some links of its provider; returns none without the mark. `hasFigures`:
 * the reader may see figures of subscriptions, and those that end next come first.
 */
export async function fillExamples(
  store: Pick<FillStore, 'listFillExamples'>,
  providerId: number,
  payload: StoredNotification,
  nowMs: number,
  hasFigures = true,
): Promise<FillExample[]> {
  if (payload.fill !== 1) return [];
  const endsAfterMs = hasFigures ? nowMs : Number.MAX_SAFE_INTEGER;
  const links = await store.listFillExamples(providerId, endsAfterMs, EXAMPLES_MAX);
  return links.map(({ installId, ...facts }) => {
    const shown = hasFigures ? facts : withoutFigures(facts);
    return { installId, payload: fillPayload(payload, shown, nowMs) };
  });
}
