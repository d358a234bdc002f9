/**
 * Rounds of reminders, one for a reminder and a UTC day. A round is a distribution that names no
 * device and has ended from its beginning, so that no lane, bound or call of the contract knows it:
 * its recipients come one link after the other, while the day lasts.
 */

import { CHECKING, CREATED, LOAD, SENDING, SENT } from '../../core/message/status.ts';
import { PUSH } from '../../core/port/distribution.ts';
import type { NewRound, Remind } from '../../core/port/reminding.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, insertInto, sql } from '../statement-text.ts';
import { literal } from '../status.ts';
import { newRecipientServing } from './recipient-serving.ts';
import { rideSteps } from './ride-steps.ts';
import { shared } from './shared.ts';

/** The statuses that a round passes through in its first write. */
const STATUSES = [CHECKING, LOAD, SENDING, SENT];

const NEW = [
  ...(['providerId', 'notificationType', 'targetHwid', 'createdAtMs', 'dueAtMs'] as const),
  ...(['reachesUnbound', 'expiresAtMs', 'beganAtMs'] as const),
  ...(['reminderId', 'reminderDay', 'payload'] as const),
] as const;

function statements({ among, prepare, returningId }: Backend) {
  return {
    find: prepare(sql`
        SELECT ${columns('distribution', 'id')} FROM distribution
        WHERE reminder_id = :reminderId AND reminder_day = :reminderDay`),
    add: prepare(sql`
        ${insertInto('distribution', NEW, { status: literal(CREATED) })} ${returningId}`),
    move: prepare(sql`
        UPDATE distribution SET ${assignments('distribution', 'status, finishedAtMs')}
        WHERE id = :id`),
    counted: prepare(sql`
        UPDATE distribution SET recipient_count = recipient_count + :added,
          sent_count = sent_count + :sent, failed_count = failed_count + :failed,
          push_waiting_count = push_waiting_count + :queued, finished_at_ms = :nowMs
        WHERE id = :id`),
    load: prepare(sql`
        INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms)
        SELECT CAST(:id AS bigint), d.id, 1, CAST(:providerId AS bigint), 0, CAST(:nowMs AS bigint)
        FROM device d WHERE d.id ${among('deviceIds')} ORDER BY d.id`),
  };
}

/** A round with devices that are to get its message. */
interface Sending {
  id: number;
  providerId: number;
  deviceIds: readonly number[];
  /** False: nothing rides. */
  rides: boolean;
}

/** Steps of a write that has locked the provider, and the rows of the devices there. */
export const roundSteps = shared((backend: Backend) => {
  const on = statements(backend);
  const serve = newRecipientServing(backend);
  const ride = rideSteps(backend);

  return {
    lockDevices: ride.lockDevices,

    /** Finds the rounds of some reminders on the day, or adds them; by the ids of reminders. */
    *idsOf(
      providerId: number,
      rounds: readonly NewRound[],
      nowMs: number,
    ): Step<Map<number, number>> {
      const found = new Map<number, number>();
      for (const { reminderDay, reminderId } of rounds) {
        const known = yield* on.find.get({ reminderId, reminderDay });
        if (known !== null) found.set(reminderId, known.id);
      }
      yield* backend.lockRows({ distribution: [...found.values()] });
      const atMs = backend.storeMs(nowMs);
      for (const round of rounds) {
        if (found.has(round.reminderId)) continue;
        const id = yield* on.add.insert({
          ...round,
          providerId,
          notificationType: PUSH,
          targetHwid: '',
          reachesUnbound: 0,
          createdAtMs: atMs,
          dueAtMs: atMs,
          beganAtMs: atMs,
        });
        for (const status of STATUSES) {
          yield* on.move.run({ id, status, finishedAtMs: status === SENT ? atMs : null });
        }
        found.set(round.reminderId, id);
      }
      return found;
    },

    /** Sends the message of a round. Returns the devices that have it. */
    *send(
      notes: Notes,
      { deviceIds, id, providerId, rides }: Sending,
      how: Remind,
      nowMs: number,
    ): Step<number[]> {
      yield* on.load.run({ id, providerId, nowMs, deviceIds });
      const { deviceIds: reached, ...counts } = yield* serve(notes, { id, nowMs }, how);
      yield* on.counted.run({ id, ...counts, added: deviceIds.length, nowMs });
      notes.figure(providerId, 'recipients', nowMs, deviceIds.length);
      notes.figure(providerId, 'delivered', nowMs, counts.sent);
      notes.figure(providerId, 'failed', nowMs, counts.failed);
      if (rides) {
        yield* ride.beginNamed({ id, providerId }, deviceIds, how.rides, backend.storeMs(nowMs));
      }
      notes.changed(reached);
      return reached;
    },
  };
});
