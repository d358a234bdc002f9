/** The rounds of reminders: an extension of the contract. */

import { type Static, Type } from '@sinclair/typebox';
import { ROUNDS_PAGE, reminderRoundCalls } from '../../call/reminder-round-calls.ts';
import { DAY_MS, isoTime } from '../../core/calendar.ts';
import { REMINDER_KINDS } from '../../core/port/reminder.ts';
import { callEndpoint, optional } from '../endpoint.ts';
import { choice, forms, RecordId, text } from './params.ts';
import { nullable } from './webhook-bodies.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [12] });

/** A round in reminder-rounds. */
const RoundRow = Type.Object(
  {
    id: RecordId,
    reminder_id: RecordId,
    kind: nullable(choice(REMINDER_KINDS, 'Null: the reminder was removed.')),
    amount: nullable(Type.Integer({ examples: [72] })),
    day: text('The UTC day.', '2026-11-22'),
    devices: count('Devices that it was sent to.'),
    got: count('Devices that fetched it, whose gateway took it, or to which it rode.'),
    ended: count('Devices for which it ended before they had it, for example as the user paid.'),
    failed: count('Devices whose inbox was full or whose gateway failed.'),
  },
  { title: 'ReminderRound' },
);

export const roundsEndpoint = callEndpoint(reminderRoundCalls['reminders.rounds'], {
  method: 'GET',
  repeat: 'reads',
  summary: 'List what reminders sent, newest first',
  description: `Lists up to ${ROUNDS_PAGE} rounds: a round is what a reminder sent on a UTC day. An extension of the public contract.`,
  params: {
    before_id: optional(forms.id, {
      misfit: 'invalid_parameters',
      about: 'Only rounds with a lower `id`: continues a list.',
    }),
  },
  fields: {
    ok: {
      data: Type.Array(RoundRow, { maxItems: ROUNDS_PAGE }),
      stopped_at: nullable(
        Type.String({
          description:
            'When reminders stopped, as many links were renewed or began to end within an hour; they wait for a person. Null: they go on.',
        }),
      ),
    },
  },
  says: ['ok', 'invalid_parameters'],
  given: ({ params: { before_id: beforeId } }) => (beforeId === null ? {} : { beforeId }),
  reply: ({ rounds, standing }) => ({
    says: 'ok',
    body: {
      data: rounds.map(
        ({ id, amount, kind, ...round }): Static<typeof RoundRow> => ({
          id,
          reminder_id: round.reminderId,
          kind,
          amount,
          day: new Date(round.day * DAY_MS).toISOString().slice(0, 10),
          devices: round.recipientCount,
          got: round.gotCount,
          ended: round.endedCount,
          failed: round.failedCount,
        }),
      ),
      stopped_at: isoTime(standing.stoppedAtMs),
    },
  }),
});
