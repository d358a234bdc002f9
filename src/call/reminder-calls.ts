/** Calls about reminders, which users of a provider get by themselves. */

import { Type } from '@sinclair/typebox';
import { LOOK, OWN, SEND } from '../core/account/roles.ts';
import { fieldsOf, only, readGiven } from '../core/field.ts';
import { isRefused } from '../core/outcome.ts';
import type { Provider } from '../core/port/provider.ts';
import type { OwnQuiet, OwnReminder, Reminder } from '../core/port/reminder.ts';
import { changePolicy, mayNotify } from '../core/provider.ts';
import {
  addDefaults,
  addReminder,
  confirmChanges,
  REMINDER_LANGUAGES_MAX,
  reminderState,
  removeReminder,
  setReminder,
  textsUsedFromMs,
  tryTexts,
  waitingAddresses,
} from '../core/reminder.ts';
import { AMOUNTS, REMINDER_FIELDS, REMINDERS_MAX } from '../core/reminder-fields.ts';
import { DEFAULT_REMINDERS, INACTIVE_REMINDER } from '../core/reminder-texts.ts';
import { QUIET_TERMS } from '../core/terms.ts';
import {
  type DoerFor,
  type DoerOf,
  lookCall,
  paidCall,
  sharedAccountCall,
  sharedCall,
  sharedStaffCall,
} from './call.ts';
import { atProvider, id, inputsOf, text, timeMs } from './inputs.ts';
import { previewOf } from './send-calls.ts';

/** The most characters of one text; the core bounds all of them together. */
const TEXT_LENGTH_MAX = 4_096;

const texts = Type.Record(Type.RegExp(/^[A-Za-z0-9_-]{1,17}$/), text(TEXT_LENGTH_MAX), {
  maxProperties: REMINDER_LANGUAGES_MAX,
});
const { kind, ...settable } = inputsOf<Omit<OwnReminder, 'texts'>>(REMINDER_FIELDS);
const adding = atProvider({ kind, ...settable, texts });
const setting = atProvider({ id, ...settable, texts: Type.Optional(texts) });

/** Returns a reminder with its state. */
const reminderView = (reminder: Reminder, provider: Provider, nowMs: number) => ({
  ...reminder,
  state: reminderState(reminder, provider, nowMs),
  textsFromMs: textsUsedFromMs(reminder, provider, nowMs),
});

export const reminderCalls = {
  'reminders.list': sharedStaffCall(
    LOOK,
    [],
    { api: { path: '/api/reminder-list', needs: 'read' } },
    atProvider({}),
    async ({ core, nowMs, provider }: DoerOf) => {
      const all = await core.store.listReminders(provider.id);
      return {
        reminders: all.map((one) => reminderView(one, provider, nowMs)),
        countMax: REMINDERS_MAX,
        defaults: [...DEFAULT_REMINDERS, INACTIVE_REMINDER],
        amounts: Object.entries(AMOUNTS).map(([of, { minimum: min, maximum: max }]) => ({
          kind: of as OwnReminder['kind'],
          min,
          max,
        })),
        /** False: the plan has no notifications, so nothing is sent. */
        mayNotify: mayNotify(provider, nowMs),
        keepsFigures: provider.subscriptionFigures === 1,
        quiet: only(provider, fieldsOf(QUIET_TERMS)) satisfies OwnQuiet,
        /** Addresses that keys changed, until a person confirms them. */
        waiting: waitingAddresses(provider, nowMs),
        nowMs,
      };
    },
  ),
  /** Returns a text as phones show it, filled for some links; refuses as saving it would. */
  'reminders.preview': lookCall(SEND, atProvider({ texts }), async (staff, given) => {
    const payload = tryTexts(staff.provider, given.texts, staff.nowMs);
    return isRefused(payload) ? payload : previewOf(staff, payload);
  }),
  'reminders.add': sharedCall(
    SEND,
    ['reminder.add', 'provider.set'],
    { api: { path: '/api/reminder-add', needs: 'send' }, commands: ['reminder add'] },
    adding,
    ({ core, nowMs, provider }: DoerOf, given) => addReminder(core, provider, given, nowMs),
  ),
  /** Adds the default reminders that the provider lacks, switched off. */
  'reminders.defaults': sharedCall(
    SEND,
    ['reminder.add'],
    { commands: ['reminder add'] },
    atProvider({}),
    ({ core, nowMs, provider }: DoerOf) => addDefaults(core, provider, nowMs),
  ),
  'reminders.set': sharedCall(
    SEND,
    ['reminder.set', 'provider.set'],
    { api: { path: '/api/reminder-set', needs: 'send' }, commands: ['reminder set'] },
    setting,
    ({ core, nowMs, provider }: DoerOf, { id: reminderId, ...given }) =>
      setReminder(core, provider, reminderId, given, nowMs),
  ),
  'reminders.remove': sharedCall(
    SEND,
    ['reminder.remove'],
    { api: { path: '/api/reminder-remove', needs: 'send' }, commands: ['reminder remove'] },
    atProvider({ id }),
    ({ core, nowMs, provider }: DoerFor, given) => removeReminder(core, provider, given.id, nowMs),
  ),
  /** Confirms what keys changed until the time at which the caller looked at it. */
  'reminders.confirm': sharedAccountCall(
    OWN,
    ['reminder.confirm'],
    { commands: ['reminder confirm'] },
    atProvider({ untilMs: timeMs }),
    ({ core, nowMs, provider }: DoerFor, given) =>
      confirmChanges(core, provider, given.untilMs, nowMs),
  ),
  /** Sets quiet hours and the time zone. */
  'reminders.hours': paidCall(
    OWN,
    ['provider.set'],
    atProvider(inputsOf<OwnQuiet>(QUIET_TERMS)),
    async ({ core, nowMs, provider }, given) => {
      const read = readGiven<OwnQuiet>(QUIET_TERMS, given);
      if (isRefused(read)) return read;
      await changePolicy(core, provider, read, nowMs);
      return null;
    },
  ),
};
