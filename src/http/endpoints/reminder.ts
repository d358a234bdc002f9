/** Reminders: an extension of the contract. */

import { Type } from '@sinclair/typebox';
import { reminderCalls } from '../../call/reminder-calls.ts';
import { isoTime } from '../../core/calendar.ts';
import { isRecord } from '../../core/json-input.ts';
import { isRefused } from '../../core/outcome.ts';
import { PUSH_TEXTS, REMINDER_KINDS, type ReminderTexts } from '../../core/port/reminder.ts';
import { REMINDER_STATES } from '../../core/reminder.ts';
import { AMOUNTS, REMINDERS_MAX } from '../../core/reminder-fields.ts';
import { callEndpoint, required } from '../endpoint.ts';
import { choice, forms, RecordId, text } from './params.ts';
import { invalid } from './reply.ts';
import { nullable } from './webhook-bodies.ts';

const EXAMPLE = { en: 'Your subscription ends on {end_date}: you have {days_left} left.' };

const Texts = Type.Record(Type.String(), Type.String(), {
  description:
    'A text for each language (`en`, `pt-br`): HTML with the tags of notifications, and placeholders. English, or else the first one, is for all other languages.',
  examples: [EXAMPLE],
});

const amounts = Object.entries(AMOUNTS)
  .map(([kind, { minimum, maximum }]) => `\`${kind}\` ${minimum} to ${maximum}`)
  .join(', ');

const own = {
  amount: Type.Integer({
    minimum: 0,
    maximum: 720,
    description: `Hours before the end, the day after it, per cent of the traffic, or days without a fetch: ${amounts}.`,
    examples: [72],
  }),
  texts: Texts,
  push_text: choice(
    PUSH_TEXTS,
    '`neutral`: a push says that there is news, and the app shows the text; `full`: it has the text, which push services and lock screens then show.',
  ),
  enabled: choice([0, 1], '1: it is sent, and figures of subscriptions are kept for it.'),
};

const Kind = choice(
  REMINDER_KINDS,
  'Before the end, after it, at a share of the traffic, or after days without a fetch.',
);

/** A reminder in reminder-list. */
const ReminderRow = Type.Object(
  {
    id: RecordId,
    kind: Kind,
    ...own,
    state: choice(
      REMINDER_STATES,
      '`waits`: a key wrote its text less than a day ago; `foreign_link`: its text leads to a host that is no longer in support_url or web_page_url.',
    ),
    texts_from: nullable(
      Type.String(),
      'When texts that a key changed are used, in UTC; null: they are.',
    ),
    created_at: text('In UTC.', '2026-11-22T08:00:00.000Z'),
  },
  { title: 'Reminder' },
);

type Row = Awaited<
  ReturnType<(typeof reminderCalls)['reminders.list']['run']>
>['reminders'][number];

const rowOf = ({ createdAtMs, ...one }: Row) => ({
  id: one.id,
  kind: one.kind,
  amount: one.amount,
  texts: one.texts,
  push_text: one.pushText,
  enabled: one.enabled,
  state: one.state,
  texts_from: isoTime(one.textsFromMs),
  created_at: isoTime(createdAtMs) ?? '',
});

const EXTENSION = 'An extension of the public contract.';

const listEndpoint = callEndpoint(reminderCalls['reminders.list'], {
  method: 'GET',
  repeat: 'reads',
  summary: 'List reminders, oldest first',
  description: `Lists the texts that customers of the provider get by themselves. ${EXTENSION}`,
  params: {},
  fields: { ok: { data: Type.Array(ReminderRow, { maxItems: REMINDERS_MAX }) } },
  says: ['ok', 'unknown_error'],
  given: () => ({}),
  reply: ({ reminders }) => ({ says: 'ok', body: { data: reminders.map(rowOf) } }),
});

const idParam = required(forms.id, { misfit: 'reminder_not_found', example: 1 });

/** Returns the fields of a body that set a reminder; the core checks their values. */
function givenIn(body: Readonly<Record<string, unknown>>) {
  const { amount, enabled, push_text: pushText, texts } = body;
  if (texts !== undefined && !isRecord(texts)) return invalid('texts must be an object');
  const given = { amount, enabled, pushText, texts };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    amount?: number;
    enabled?: 0 | 1;
    pushText?: (typeof PUSH_TEXTS)[number];
    texts: ReminderTexts;
  };
}

const BEGUN = {
  figures_begun: Type.Boolean({
    description:
      'True: end and traffic of subscriptions were not kept before, and are kept from now on.',
    examples: [false],
  }),
};

const WAITS =
  'A text that a key writes is used after 24 hours, or when a person confirms it in the console; links in it lead only to hosts of support_url and web_page_url.';

const addEndpoint = callEndpoint(reminderCalls['reminders.add'], {
  method: 'POST',
  repeat: 'noted',
  summary: 'Add a reminder',
  description: `Adds a reminder, switched off unless \`enabled\` is 1. ${WAITS} ${EXTENSION}`,
  params: {},
  input: Type.Object(
    {
      kind: Kind,
      ...own,
      push_text: Type.Optional(own.push_text),
      enabled: Type.Optional(own.enabled),
    },
    { title: 'NewReminder', examples: [{ kind: 'before_end', amount: 72, texts: EXAMPLE }] },
  ),
  fields: { ok: { id: RecordId, ...BEGUN } },
  says: [
    'ok',
    'invalid_parameters',
    'reminder_exists',
    'reminder_limit_reached',
    'reminder_save_error',
  ],
  given({ body }) {
    const given = givenIn(body);
    return isRefused(given) ? given : { ...given, kind: body['kind'] as 'traffic' };
  },
  reply: ({ hasBegunFigures, reminder: { id } }) => ({
    says: 'ok',
    body: { id, figures_begun: hasBegunFigures },
  }),
});

const setEndpoint = callEndpoint(reminderCalls['reminders.set'], {
  method: 'POST',
  repeat: 'same',
  summary: 'Change a reminder',
  description: `Changes the given fields; \`texts\` replaces all of them. ${WAITS} ${EXTENSION}`,
  params: { id: idParam },
  input: Type.Partial(Type.Object(own, { title: 'ReminderChange', examples: [{ enabled: 1 }] })),
  fields: { ok: BEGUN },
  says: [
    'ok',
    'invalid_parameters',
    'reminder_not_found',
    'reminder_exists',
    'reminder_save_error',
  ],
  given({ body, params: { id } }) {
    const given = givenIn(body);
    return isRefused(given) ? given : { ...given, id };
  },
  reply: ({ hasBegunFigures }) => ({ says: 'ok', body: { figures_begun: hasBegunFigures } }),
});

const removeEndpoint = callEndpoint(reminderCalls['reminders.remove'], {
  method: 'GET',
  repeat: 'noted',
  summary: 'Remove a reminder',
  description: `What was sent stays sent. ${EXTENSION}`,
  params: { id: idParam },
  says: ['ok', 'reminder_not_found', 'reminder_save_error'],
  given: ({ params: { id } }) => ({ id }),
  reply: () => 'ok',
});

export const reminderEndpoints = [addEndpoint, listEndpoint, setEndpoint, removeEndpoint];
