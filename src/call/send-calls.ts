/** Calls of the console that send. They take the bodies of the API's calls, by the same rules. */

import { Type } from '@sinclair/typebox';
import { SEND } from '../core/account/roles.ts';
import { DAY_MS } from '../core/calendar.ts';
import { findDevices, SEARCHED_HWIDS_MAX } from '../core/device-search.ts';
import { figuresNotKept } from '../core/figures-filter.ts';
import { LINK_SEARCH, PUSH_ENCODED_MAX } from '../core/formats.ts';
import { findMade, readKeyedCall } from '../core/idempotency.ts';
import { lengthOf } from '../core/message/fill-form.ts';
import { fillExamples, type StoredNotification } from '../core/message/filling.ts';
import type { NotificationPayload } from '../core/message/notification.ts';
import { readCommand, readNotification } from '../core/message/order.ts';
import { segmentText } from '../core/message/segment.ts';
import { SETTING_KEYS } from '../core/message/setting-table.ts';
import { settingRule } from '../core/message/settings.ts';
import { TRANSITIONS } from '../core/message/status.ts';
import { bodyTree } from '../core/message/tree.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import type { Segment } from '../core/port/device-search.ts';
import { PUSH } from '../core/port/distribution.ts';
import type { KeyedCall } from '../core/port/idempotency.ts';
import { refusalByPlan } from '../core/provider.ts';
import { GENERAL_INTERVAL_MS, rehearsing, sendCommand, sendNotification } from '../core/send.ts';
import { type DoerOf, type Inside, lookCall, type Staff, sharedStaffCall } from './call.ts';
import { figuresStateOf, refusedFilter } from './figures.ts';
import { atProvider, id, inputOf, nullable, text, timeMs } from './inputs.ts';
import { figuresFilter } from './link-filter-input.ts';

/** The conditions of a search that are no times. */
const named = {
  os: nullable(text(64)),
  appVersion: nullable(text(64)),
  language: nullable(Type.RegExp(/^[a-z]{2,8}$/)),
  domainId: nullable(id),
  link: nullable(Type.RegExp(LINK_SEARCH.pattern)),
};

/** The body of a call of the API. */
const body = Type.Record(Type.String(), Type.Unknown());
/** Days that a time of a filter may be away. */
const AWAY_MS = 3_650 * DAY_MS;
const away = nullable(Type.Integer({ minimum: -AWAY_MS, maximum: AWAY_MS }));
/** A `Segment` of core/port/device-search.ts, in place of targets in the body. */
const segment = Type.Optional(
  nullable(
    inputOf({
      ...named,
      seenSinceMs: away,
      unseenSinceMs: away,
      figures: Type.Optional(
        nullable(
          inputOf({
            ...figuresFilter,
            endsFromMs: Type.Optional(away),
            endsBeforeMs: Type.Optional(away),
            unreadSinceMs: Type.Optional(away),
          }),
        ),
      ),
    }),
  ),
);
const previewing = atProvider({ body });
/** With `once` a repeat sends nothing and returns the answer of the first call. */
const sending = atProvider({ body, segment, once: Type.Optional(text(64)) });
const checking = atProvider({
  kind: Type.Union([Type.Literal('push'), Type.Literal('command')]),
  body,
  segment,
});

type Sending = Inside<typeof sending>;
/** In the console the caller is signed in. */
type Sender = DoerOf & { signedIn?: Staff['signedIn'] };

const finding = atProvider({
  search: inputOf({
    ...named,
    seenSinceMs: nullable(timeMs),
    unseenSinceMs: nullable(timeMs),
    figures: Type.Optional(nullable(inputOf(figuresFilter))),
  }),
});

function byPlan({ nowMs, provider }: DoerOf, plan: 'pro' | 'enterprise') {
  const refusal = refusalByPlan(provider, plan, nowMs);
  return refusal && new Refused(refusal);
}

/** Returns the result of an earlier call with the key, or the key. */
async function keyOf(
  { core, nowMs, provider }: DoerOf,
  kind: 'notification' | 'command',
  { body: given, once, segment: found }: Sending,
) {
  const all = { ...given, segment: found ? segmentText(found) : null };
  const keyed = readKeyedCall(kind, once ?? null, all, core.leastMs(nowMs));
  if (keyed === null || isRefused(keyed)) return keyed;
  const made = await findMade(core, provider, keyed);
  if (made === null || isRefused(made)) return made ?? keyed;
  return { id: made.id, count: null, dueAtMs: null, notes: [] as string[] };
}

/** Returns the refusal of a filter of figures, which a session by a key must not see. */
function byFigures({ provider, signedIn }: Sender, found: Segment | null | undefined) {
  if (found?.figures == null) return null;
  const refused = signedIn ? refusedFilter({ provider, signedIn }, found.figures) : null;
  return refused ?? figuresNotKept(provider);
}

async function notify(
  staff: Sender,
  core: DoerOf['core'],
  { body: given, segment: found }: Omit<Sending, 'once'>,
  keyed: KeyedCall | null = null,
) {
  const { nowMs, provider } = staff;
  const refusal = byPlan(staff, 'enterprise') ?? byFigures(staff, found);
  if (refusal !== null) return refusal;
  const bounds = { hwidCountMax: SEARCHED_HWIDS_MAX, segment: found };
  const order = readNotification(given, nowMs, bounds);
  if (isRefused(order)) return order;
  const sent = await sendNotification(core, provider, { ...order, keyed }, nowMs);
  if (isRefused(sent)) return sent;
  return { id: sent.id, count: sent.count, dueAtMs: order.dueAtMs, notes: [] as string[] };
}

async function command(
  staff: Sender,
  core: DoerOf['core'],
  { body: given, segment: found }: Omit<Sending, 'once'>,
  keyed: KeyedCall | null = null,
) {
  const { nowMs, provider } = staff;
  const refusal = byPlan(staff, 'pro') ?? byFigures(staff, found);
  if (refusal !== null) return refusal;
  const bounds = { hwidCountMax: SEARCHED_HWIDS_MAX, segment: found };
  const order = readCommand(given, nowMs, bounds);
  if (isRefused(order)) return order;
  const sent = await sendCommand(core, provider, { ...order, keyed }, nowMs);
  if (isRefused(sent)) return sent;
  const notes = order.note === undefined ? [] : [order.note];
  return { id: sent.id, count: sent.count, dueAtMs: order.dueAtMs, notes };
}

/** Returns the texts of a notification as a phone shows them, in each language. */
function textsOf(payload: NotificationPayload) {
  const { body: main, link_for_open: link = '', locales = {}, title = '' } = payload;
  const texts = Object.entries(locales).map(([locale, one]) => ({
    locale,
    title: one.title ?? title,
    link: one['link-for-open'] ?? link,
    tree: bodyTree(one.body ?? main),
  }));
  return [{ locale: '', title, link, tree: bodyTree(main) }, ...texts];
}

/** Returns a notification as phones show it; one with placeholders also as some links get it. */
export async function previewOf(staff: Staff, payload: StoredNotification) {
  const { core, nowMs, provider } = staff;
  const hasFigures = figuresStateOf(staff) === 'shown';
  const examples = await fillExamples(core.store, provider.id, payload, nowMs, hasFigures);
  return {
    texts: textsOf(payload),
    examples: examples.map((one) => ({ id: one.installId, texts: textsOf(one.payload) })),
    bytes: lengthOf(payload),
    bytesMax: PUSH_ENCODED_MAX,
    isFilled: payload.fill === 1,
    hasImage: payload.background_image !== undefined,
  };
}

const ALL = Object.keys(TRANSITIONS).map(Number);

/** Targets that stand in for real ones: a preview needs the texts only. */
const ANY_TARGET = { specific_device_toggle: false, os: ['android'], hwid: '' };

const COMMANDS = [
  ...['command update-subscription', 'command import-data'],
  ...['command set-settings', 'command sub-change'],
] as const;
const SENDING_COMMANDS = ['notify', ...COMMANDS] as const;

export const sendCalls = {
  /** Returns the preview of a notification. Refuses as its send would, except for its devices. */
  'send.preview': lookCall(SEND, previewing, async (staff, given) => {
    const order = readNotification({ ...given.body, ...ANY_TARGET }, staff.nowMs);
    return isRefused(order) ? order : previewOf(staff, order.payload);
  }),
  /** Counts the devices that a send would reach now, by way. Sends nothing. */
  'send.check': sharedStaffCall(
    SEND,
    [],
    { commands: SENDING_COMMANDS },
    checking,
    async (staff: Sender, given) => {
      const core = rehearsing(staff.core);
      return given.kind === 'push' ? notify(staff, core, given) : command(staff, core, given);
    },
  ),
  /** Finds the devices of a filter; the send then has the filter as its segment. */
  'send.find': lookCall(SEND, finding, async (staff, { search }) => {
    const { core, provider, signal } = staff;
    const refused = refusedFilter(staff, search.figures ?? {});
    if (refused !== null) return refused;
    return {
      ...(await findDevices(core, provider, search, signal)),
      figures: figuresStateOf(staff),
    };
  }),
  /** Returns when the next general notification is accepted, UTC ms; null: now. */
  'send.opens': lookCall(SEND, atProvider({}), async ({ core, nowMs, provider }) => {
    const lastMs = await core.store.readLastGeneral(provider.id);
    const opensAtMs = lastMs === null ? nowMs : lastMs + GENERAL_INTERVAL_MS;
    return { nowMs, opensAtMs: opensAtMs > nowMs ? opensAtMs : null };
  }),
  'send.notification': sharedStaffCall(
    SEND,
    ['notification.send'],
    { commands: ['notify'] },
    sending,
    async (staff: Sender, given) => {
      const keyed = byPlan(staff, 'enterprise') ?? (await keyOf(staff, 'notification', given));
      if (isRefused(keyed) || (keyed !== null && 'id' in keyed)) return keyed;
      return notify(staff, staff.core, given, keyed);
    },
  ),
  'send.command': sharedStaffCall(
    SEND,
    ['command.send'],
    { commands: COMMANDS },
    sending,
    async (staff: Sender, given) => {
      const keyed = byPlan(staff, 'pro') ?? (await keyOf(staff, 'command', given));
      if (isRefused(keyed) || (keyed !== null && 'id' in keyed)) return keyed;
      return command(staff, staff.core, given, keyed);
    },
  ),
  /** Returns the documented settings with their rules. */
  'send.settings': lookCall(SEND, atProvider({}), () =>
    SETTING_KEYS.map((setting) => ({
      key: setting.key,
      kind: setting.kind,
      rule: settingRule(setting),
      isNewer: setting.isNewer ?? false,
      values: setting.kind === 'choice' ? setting.values : [],
    })),
  ),
  /** Returns the payload of an earlier message for a copy. */
  'send.source': lookCall(SEND, atProvider({ id }), async ({ core, provider }, given) => {
    const page = { beforeId: null, countMax: 1, scanMax: 1 };
    const filter = { ids: [given.id], notificationType: null, statuses: ALL, isScheduled: null };
    const { messages } = await core.store.listMessages(provider.id, filter, page);
    const [message] = messages;
    if (message === undefined) return new Refused('notification_not_found');
    const { notificationType, payload, targetHwid, targetOs } = message;
    return {
      kind: notificationType === PUSH ? ('push' as const) : ('command' as const),
      payload: JSON.parse(payload) as Record<string, unknown>,
      hwids: targetHwid,
      os: targetOs?.split(',') ?? [],
    };
  }),
};
