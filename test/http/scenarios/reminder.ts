/** Reminders: add, list, set, remove, and the rounds that were sent. */

import type { NewReminder } from '../../../src/core/port/reminder.ts';
import { ACT } from '../../support/actor.ts';
import { FOREIGN_ID, type Given, gateScenarios, OWN_ID, type Scenario } from './scenario.ts';

const ADD = '/api/reminder-add';
const LIST = '/api/reminder-list';
const ROUNDS = '/api/reminder-rounds';
const SET = '/api/reminder-set';
const REMOVE = '/api/reminder-remove';

const OK = '{"rc":1,"msg":"Ok"}';
const NOT_FOUND = '{"rc":0,"msg":"Reminder not found"}';
const NOT_FOUND_DETAIL = 'id names no reminder of this provider';
const INVALID = '{"rc":0,"msg":"Invalid parameters"}';
const SAVE_ERROR = '{"rc":0,"msg":"Error save reminder"}';
const SAVE_DETAIL = 'the change could not be saved; internal fault ';
const EXISTS = {
  says: 'reminder_exists',
  answer: '{"rc":0,"msg":"Reminder exists"}',
  detail: 'the provider has a reminder of this kind and amount already',
} as const;

const BODY = { kind: 'before_end', amount: 72, texts: { en: 'Ends in {days_left}' } };

/** A reminder of the caller's, by a person, unless it is another's. */
const aReminder =
  (more: Partial<NewReminder> = {}): Given =>
  async ({ core, clock }) => {
    const own = { kind: 'traffic', amount: 80, pushText: 'neutral', enabled: 0 } as const;
    const of = { providerId: OWN_ID, texts: { en: 'Hi' }, createdAtMs: clock.nowMs() };
    const added = await core.store.addReminder({ ...own, ...of, countMax: 10, ...more }, ACT);
    if (typeof added === 'string') throw new Error(`given a reminder: ${added}`);
  };
const given = [aReminder()];

const misfit = (name: string, body: unknown, detail: string): Scenario => ({
  name,
  path: ADD,
  says: 'invalid_parameters',
  request: {},
  body,
  answer: INVALID,
  detail,
});

const addScenarios: Scenario[] = [
  ...gateScenarios(ADD, {}, [], 'addReminder', BODY),
  {
    name: 'one that is switched off',
    path: ADD,
    request: {},
    says: 'ok',
    body: BODY,
    answer: '{"rc":1,"msg":"Ok","id":1,"figures_begun":false}',
    changed: ['reminder 1 added'],
  },
  {
    name: 'one that is switched on, with which figures begin',
    path: ADD,
    request: {},
    says: 'ok',
    body: { ...BODY, push_text: 'full', enabled: 1 },
    answer: '{"rc":1,"msg":"Ok","id":1,"figures_begun":true}',
    changed: [
      'provider 1 figures_since_ms: null -> 1795176000000',
      'provider 1 ride_version: 0 -> 1',
      'provider 1 subscription_figures: 0 -> 1',
      'reminder 1 added',
    ],
  },
  {
    name: 'a second one of the time',
    path: ADD,
    request: {},
    given: [aReminder(BODY as never)],
    body: BODY,
    ...EXISTS,
  },
  {
    name: 'one beyond the most',
    path: ADD,
    request: {},
    says: 'reminder_limit_reached',
    given: Array.from({ length: 10 }, (_, n) => aReminder({ amount: n + 1 })),
    body: BODY,
    answer: '{"rc":0,"msg":"Reminder limit reached"}',
    detail: 'the provider has as many reminders as it may have',
  },
  {
    name: 'one that cannot be saved',
    path: ADD,
    request: {},
    says: 'reminder_save_error',
    body: BODY,
    fault: { method: 'addReminder', kind: 'write_failed' },
    answer: SAVE_ERROR,
    detail: SAVE_DETAIL,
  },
  misfit('nothing', {}, 'kind and amount are required'),
  misfit('texts that are none', { ...BODY, texts: 'Hi' }, 'texts must be an object'),
  misfit('no text', { ...BODY, texts: {} }, 'texts must have 1 to 16 languages'),
  misfit(
    'another kind',
    { ...BODY, kind: 'never' },
    'kind must be before_end, after_end, traffic or inactive',
  ),
  misfit(
    'an amount of no such kind',
    { ...BODY, kind: 'traffic', amount: 101 },
    'amount of traffic must be a whole number from 1 to 100',
  ),
  misfit(
    'an address that is not on the pages',
    { ...BODY, texts: { en: 'Pay at evil.example' } },
    'texts.en has an address that is not on a host of support_url or web_page_url',
  ),
];

const ROW =
  '{"id":1,"kind":"traffic","amount":80,"texts":{"en":"Hi"},"push_text":"neutral","enabled":0,"state":"off","texts_from":null,"created_at":"2026-11-20T12:00:00.000Z"}';

const listScenarios: Scenario[] = [
  ...gateScenarios(LIST, {}, [], 'listReminders'),
  {
    name: 'those of the provider',
    path: LIST,
    request: {},
    says: 'ok',
    given: [...given, aReminder({ providerId: FOREIGN_ID })],
    answer: `{"rc":1,"msg":"Ok","data":[${ROW}]}`,
  },
];

const roundScenarios: Scenario[] = [
  ...gateScenarios(ROUNDS, {}, [], 'listRounds'),
  {
    name: 'none yet; they have stopped',
    path: ROUNDS,
    request: {},
    says: 'ok',
    given: [
      async ({ core, clock }) => {
        await core.store.stopReminders(OWN_ID, { moved: 9, links: 90 }, clock.nowMs());
      },
    ],
    answer: '{"rc":1,"msg":"Ok","data":[],"stopped_at":"2026-11-20T12:00:00.000Z"}',
  },
  {
    name: 'a before_id that is no id',
    path: ROUNDS,
    request: { before_id: 'x' },
    says: 'invalid_parameters',
    answer: INVALID,
    detail: 'before_id must be a whole number of 1 to 15 digits',
  },
];

const setScenarios: Scenario[] = [
  ...gateScenarios(SET, { id: 1 }, given, 'setReminder', { amount: 90 }),
  {
    name: 'another amount',
    path: SET,
    says: 'ok',
    given,
    request: { id: 1 },
    body: { amount: 90 },
    answer: '{"rc":1,"msg":"Ok","figures_begun":false}',
    changed: ['reminder 1 amount: 80 -> 90'],
  },
  {
    name: 'another text, which waits',
    path: SET,
    says: 'ok',
    given,
    request: { id: 1 },
    body: { texts: { en: 'Hello' } },
    answer: '{"rc":1,"msg":"Ok","figures_begun":false}',
    changed: [
      'reminder 1 former_texts: null -> "{\\"en\\":\\"Hi\\"}"',
      'reminder 1 texts: "{\\"en\\":\\"Hi\\"}" -> "{\\"en\\":\\"Hello\\"}"',
      'reminder 1 texts_at_ms: 0 -> 1795176000000',
    ],
  },
  {
    name: 'the time of another one',
    path: SET,
    given: [...given, aReminder({ amount: 90 })],
    request: { id: 1 },
    body: { amount: 90 },
    ...EXISTS,
  },
  {
    name: 'one of another provider',
    path: SET,
    says: 'reminder_not_found',
    given: [aReminder({ providerId: FOREIGN_ID })],
    request: { id: 1 },
    body: { enabled: 1 },
    answer: NOT_FOUND,
    detail: NOT_FOUND_DETAIL,
  },
  {
    name: 'a value that does not fit',
    path: SET,
    says: 'invalid_parameters',
    given,
    request: { id: 1 },
    body: { enabled: 2 },
    answer: INVALID,
    detail: 'enabled must be 0 or 1',
  },
  {
    name: 'a change that cannot be saved',
    path: SET,
    says: 'reminder_save_error',
    given,
    request: { id: 1 },
    body: { amount: 90 },
    fault: { method: 'setReminder', kind: 'write_failed' },
    answer: SAVE_ERROR,
    detail: SAVE_DETAIL,
  },
];

const removeScenarios: Scenario[] = [
  ...gateScenarios(REMOVE, { id: 1 }, given, 'removeReminder'),
  {
    name: 'a reminder',
    path: REMOVE,
    says: 'ok',
    given,
    request: { id: 1 },
    answer: OK,
    changed: ['reminder 1 removed'],
  },
  {
    name: 'one of another provider',
    path: REMOVE,
    says: 'reminder_not_found',
    given: [aReminder({ providerId: FOREIGN_ID })],
    request: { id: 1 },
    answer: NOT_FOUND,
    detail: NOT_FOUND_DETAIL,
  },
  {
    name: 'a removal that cannot be saved',
    path: REMOVE,
    says: 'reminder_save_error',
    given,
    request: { id: 1 },
    fault: { method: 'removeReminder', kind: 'write_failed' },
    answer: SAVE_ERROR,
    detail: SAVE_DETAIL,
  },
];

export const reminderScenarios: readonly Scenario[] = [
  ...addScenarios,
  ...listScenarios,
  ...roundScenarios,
  ...setScenarios,
  ...removeScenarios,
];
