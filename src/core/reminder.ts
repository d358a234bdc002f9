/**
 * Reminders: texts that a provider's users get by themselves, before their subscription ends, when
 * it has ended, when traffic is used up, or when an app was silent. This file has their rules;
 * docs/reminders.md tells people about them.
 *
 * | Kind | Amount | Sent |
 * |---|---|---|
 * | `before_end` | hours | so long before the end |
 * | `after_end` | days | on that day after the end; 1 is the first |
 * | `traffic` | per cent | when so much of the traffic is used |
 * | `inactive` | days | when the subscription was not fetched for so long |
 */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { readGiven } from './field.ts';
import { PUSH_ENCODED_MAX } from './formats.ts';
import { isRecord, nameForDetail } from './json-input.ts';
import { markFilled } from './message/fill-form.ts';
import type { StoredNotification } from './message/filling.ts';
import { tidyTag } from './message/locale.ts';
import { composeNotification } from './message/notification.ts';
import { isRefused, type Misfit, malformed, Refused, saving } from './outcome.ts';
import type { Provider } from './port/provider.ts';
import type { OwnReminder, Reminder, ReminderTexts } from './port/reminder.ts';
import type { Buttons } from './port/ride.ts';
import { AMOUNTS, REMINDER_FIELDS, REMINDERS_MAX } from './reminder-fields.ts';
import { foreignAddress } from './reminder-links.ts';
import { DEFAULT_REMINDERS } from './reminder-texts.ts';
import { movedButtons, usedButtons, usedNow, WAIT_MS, waits } from './unconfirmed.ts';

/** The most languages of a reminder. */
export const REMINDER_LANGUAGES_MAX = 16;
/** The language of those whose own has no text, if the reminder has one in it. */
const MAIN = 'en';
/** Days until a reminder expires: what it says is of a day or two. */
const EXPIRE_DAYS = 2;

/** The fields of a reminder as a caller gives them. */
type GivenReminder = { readonly [F in keyof OwnReminder]?: unknown };

/** The part of a provider that the rules of its reminders need. */
type Owner = Pick<
  Provider,
  'id' | 'confirmedAtMs' | 'supportUrl' | 'webPageUrl' | 'formerButtons' | 'buttonsAtMs'
>;

const buttonsAt = (owner: Owner, nowMs: number): Buttons =>
  usedButtons(owner, owner.confirmedAtMs, nowMs);

const mainOf = (texts: ReminderTexts) => (MAIN in texts ? MAIN : (Object.keys(texts)[0] ?? ''));

/** Returns the notification of a reminder, before placeholders are filled. */
function composed(texts: ReminderTexts, { webPageUrl }: Buttons) {
  const { [mainOf(texts)]: body, ...others } = texts;
  const locales = Object.entries(others).map(([tag, text]) => [tag, { body: text }]);
  const plain = composeNotification({
    body,
    locales: Object.fromEntries(locales),
    ...(webPageUrl !== null && { link_for_open: webPageUrl }),
    type_push: 'optional',
    expire_days: EXPIRE_DAYS,
  });
  return isRefused(plain) ? plain : markFilled(plain);
}

/** Reads texts by language. Returns them filtered, or why they cannot be sent. */
function readTexts(given: unknown, pages: Buttons): ReminderTexts | Misfit {
  if (!isRecord(given)) return malformed('texts must be an object with a text for each language');
  const texts = Object.fromEntries(
    Object.entries(given).map(([tag, text]) => [tidyTag(tag), text as string]),
  );
  const tags = Object.keys(texts);
  if (tags.length === 0 || tags.length > REMINDER_LANGUAGES_MAX) {
    return malformed(`texts must have 1 to ${REMINDER_LANGUAGES_MAX} languages`);
  }
  const wrong = tags.find((tag) => !LANGUAGE.test(tag));
  if (wrong !== undefined) {
    return malformed(`texts.${nameForDetail(wrong)} is not a language, as en or pt-br`);
  }
  const payload = composed(texts, pages);
  if (isRefused(payload)) {
    if (payload.says !== 'malformed') return TOO_LARGE;
    return malformed(namedAsText(`${payload.detail}`, mainOf(texts)));
  }
  const { body, locales = {} } = payload;
  const filtered = Object.fromEntries(tags.map((tag) => [tag, locales[tag]?.body ?? body]));
  for (const [tag, html] of Object.entries(filtered)) {
    if (foreignAddress(html, pages) !== null) {
      return malformed(
        `texts.${tag} has an address that is not on a host of support_url or web_page_url`,
      );
    }
  }
  return filtered;
}

/** Names a text as its writer does: to a notification it is the body, or that of a locale. */
const namedAsText = (detail: string, main: string): string =>
  detail.replace(/^body\b/, `texts.${main}`).replace(/^locales\.([\w-]+)\.body\b/, 'texts.$1');

const TOO_LARGE = malformed(
  `texts are too long: filled, in all languages, they must fit ${PUSH_ENCODED_MAX} bytes as JSON in base64`,
);
const LANGUAGE = /^[a-z]{2,8}(?:-[a-z0-9]{2,8})?$/;

/** Returns the notification of texts that are not saved yet, or their misfit. */
export function tryTexts(owner: Owner, given: unknown, nowMs: number): StoredNotification | Misfit {
  const pages = buttonsAt(owner, nowMs);
  const texts = readTexts(given, pages);
  if (isRefused(texts)) return texts;
  const payload = composed(texts, pages);
  return isRefused(payload) ? TOO_LARGE : payload;
}

/** A saved reminder, as the one who saved it should know it. */
interface Saved {
  reminder: Reminder;
  /** True: figures of subscriptions were not kept before, and are kept now. */
  hasBegunFigures: boolean;
}

type SaveRefusal = Refused<'reminder_exists' | 'reminder_save_error'>;

/** Reads the amount of a kind. */
function misfitOf({ kind, amount }: Pick<OwnReminder, 'kind' | 'amount'>): Misfit | null {
  const read = AMOUNTS[kind].read(amount);
  return isRefused(read) ? malformed(`amount of ${kind} ${read.detail}`) : null;
}

/**
 * Adds a reminder. Returns a misfit, also for texts that together could be too long once filled,
 * `reminder_exists` for a second one of its kind and amount, and `reminder_limit_reached`.
 */
export async function addReminder(
  core: Core,
  provider: Owner,
  { texts: given, ...rest }: GivenReminder,
  nowMs: number,
): Promise<Saved | Misfit | SaveRefusal | Refused<'reminder_limit_reached'>> {
  const own = readGiven<Omit<OwnReminder, 'texts'>>(REMINDER_FIELDS, rest);
  if (isRefused(own)) return own;
  const { kind, amount, pushText = 'neutral', enabled = 0 } = own;
  if (kind === undefined || amount === undefined) return malformed('kind and amount are required');
  const misfit = misfitOf({ kind, amount });
  if (misfit !== null) return misfit;
  const texts = readTexts(given, buttonsAt(provider, nowMs));
  if (isRefused(texts)) return texts;
  const terms = { kind, amount, texts, pushText, enabled };
  const draft = { ...terms, providerId: provider.id, createdAtMs: nowMs, countMax: REMINDERS_MAX };
  const step = core.store.addReminder(draft, actAt(core, nowMs));
  const added = await saving('reminder_save_error', step);
  return typeof added === 'string' ? new Refused(added) : added;
}

/** Adds the default reminders that the provider lacks, switched off, and returns them. */
export async function addDefaults(
  core: Core,
  provider: Owner,
  nowMs: number,
): Promise<Reminder[] | Misfit | SaveRefusal | Refused<'reminder_limit_reached'>> {
  const added: Reminder[] = [];
  for (const one of DEFAULT_REMINDERS) {
    const saved = await addReminder(core, provider, one, nowMs);
    if (!isRefused(saved)) added.push(saved.reminder);
    else if ((saved as Refused<string>).says !== 'reminder_exists') return saved;
  }
  return added;
}

/** Changes a reminder. Refuses as {@link addReminder}, and `reminder_not_found`. */
export async function setReminder(
  core: Core,
  provider: Owner,
  id: number,
  { texts: given, ...rest }: Omit<GivenReminder, 'kind'>,
  nowMs: number,
): Promise<Saved | Misfit | SaveRefusal | Refused<'reminder_not_found'>> {
  const own = readGiven<Omit<OwnReminder, 'texts'>>(REMINDER_FIELDS, rest);
  if (isRefused(own)) return own;
  const known = await core.store.findReminder(provider.id, id);
  if (known === null) return new Refused('reminder_not_found');
  const misfit = misfitOf({ kind: known.kind, amount: own.amount ?? known.amount });
  if (misfit !== null) return misfit;
  const texts = given === undefined ? undefined : readTexts(given, buttonsAt(provider, nowMs));
  if (isRefused(texts)) return texts;
  const { kind: _, ...terms } = own;
  const change = { ...terms, ...(texts !== undefined && { texts }) };
  const step = core.store.setReminder(provider.id, id, change, actAt(core, nowMs));
  const saved = await saving('reminder_save_error', step);
  return typeof saved === 'string' ? new Refused(saved) : saved;
}

/** Removes a reminder; what was sent stays sent. Refuses `reminder_not_found`. */
export async function removeReminder(
  core: Core,
  provider: Pick<Provider, 'id'>,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'reminder_not_found' | 'reminder_save_error'>> {
  const step = core.store.removeReminder(provider.id, id, actAt(core, nowMs));
  const isRemoved = await saving('reminder_save_error', step);
  if (isRefused(isRemoved)) return isRemoved;
  return isRemoved ? 'ok' : new Refused('reminder_not_found');
}

/**
 * Whether a reminder is sent: `off` it is switched off; `waits` a key wrote its only texts, less
 * than a day ago; `foreign_link` its text has an address that is no longer on the provider's pages.
 */
export const REMINDER_STATES = ['on', 'off', 'waits', 'foreign_link'] as const;
type ReminderState = (typeof REMINDER_STATES)[number];

/** Returns the notification of a reminder with the texts that are used now, or why it has none. */
export function reminderPayload(
  reminder: Reminder,
  owner: Owner,
  nowMs: number,
): StoredNotification | Exclude<ReminderState, 'on'> {
  if (reminder.enabled === 0) return 'off';
  const { formerTexts: former, texts: now, textsAtMs: atMs } = reminder;
  const texts = usedNow({ now, former, atMs }, owner.confirmedAtMs, nowMs);
  if (texts === null) return 'waits';
  const pages = buttonsAt(owner, nowMs);
  const isForeign = Object.values(texts).some((html) => foreignAddress(html, pages) !== null);
  const payload = isForeign ? null : composed(texts, pages);
  return payload === null || isRefused(payload) ? 'foreign_link' : payload;
}

/** Returns the state of a reminder. */
export function reminderState(reminder: Reminder, owner: Owner, nowMs: number): ReminderState {
  const payload = reminderPayload(reminder, owner, nowMs);
  return typeof payload === 'string' ? payload : 'on';
}

/** Returns when texts that a key changed are used; null: they are used already. */
export function textsUsedFromMs(
  { textsAtMs: atMs }: Pick<Reminder, 'textsAtMs'>,
  { confirmedAtMs }: Pick<Owner, 'confirmedAtMs'>,
  nowMs: number,
): number | null {
  return waits({ atMs }, confirmedAtMs, nowMs) ? atMs + WAIT_MS : null;
}

/** A change by a key that waits, of an address of the provider. */
interface WaitingAddress {
  field: 'supportUrl' | 'webPageUrl';
  used: string | null;
  next: string | null;
}

/** Changes by keys until a person confirms them. */
interface WaitingChanges {
  /** Addresses of the provider, and from when they are used. */
  addresses: WaitingAddress[];
  addressesFromMs: number | null;
}

/** Returns the addresses of a provider that wait. Those of links are used after their day. */
export function waitingAddresses(owner: Owner, nowMs: number): WaitingChanges {
  const { buttonsAtMs: atMs, confirmedAtMs } = owner;
  if (!waits({ atMs }, confirmedAtMs, nowMs)) return { addresses: [], addressesFromMs: null };
  const used = buttonsAt(owner, nowMs);
  const addresses = movedButtons(used, owner).map((field) => {
    return { field, used: used[field], next: owner[field] };
  });
  return { addresses, addressesFromMs: atMs + WAIT_MS };
}

/** Confirms what keys changed until a time, which a person has looked through. */
export async function confirmChanges(
  core: Core,
  { id }: Pick<Provider, 'id'>,
  untilMs: number,
  nowMs: number,
): Promise<'ok' | Refused<'reminder_save_error'>> {
  const seenMs = Math.min(untilMs, core.leastMs(nowMs));
  const step = core.store.confirmChanges(id, seenMs, actAt(core, nowMs));
  const isConfirmed = await saving('reminder_save_error', step);
  return isRefused(isConfirmed) ? isConfirmed : 'ok';
}
