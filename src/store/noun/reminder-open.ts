/** Reminders that devices have, their end, the rounds of the days, and the ledger's pruning. */

import { WHY_UNTRUE } from '../../core/message/push-failure.ts';
import type { OpenReminder, RemindingStore } from '../../core/port/reminding.ts';
import type { Backend } from '../backend.ts';
import { columns, ofTable, sql, values } from '../statement-text.ts';
import { pushSteps } from './push-steps.ts';
import { rideSteps } from './ride-steps.ts';
import { FIGURE_FIELDS } from './subscription-figures.ts';

type OpenNoun = Pick<
  RemindingStore,
  'listOpenReminders' | 'endReminders' | 'listRounds' | 'forgetReminded'
>;

/** Rows that a step deletes. */
const FORGET_COUNT = 1_000;

const KEY = { reminderId: 'bigint', deviceId: 'bigint', period: 'bigint' } as const;

function statements(backend: Backend) {
  const { prepare, once, rows, join } = backend;
  const ofKey = sql`s.reminder_id = k."reminderId" AND s.device_id = k."deviceId"
    AND s.period = k."period"`;
  const got = sql`(q.received_at_ms IS NOT NULL OR q.carried_at_ms IS NOT NULL OR coalesce(q.push_state, 0) = 2)`;
  const ofRound = sql`FROM recipient q WHERE q.distribution_id = x.id`;
  const isOld = sql`s.sent_at_ms < :sentBeforeMs AND s.ended_at_ms IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM subscription_figures f WHERE f.install_id = s.install_id
      AND (f.period_at_ms = s.period OR f.traffic_at_ms = s.period))`;
  return {
    /** All of a link at once: the next page begins after it. */
    open: prepare(sql`
        SELECT ${columns({ s: 'reminder_sent', m: 'reminder?', f: 'subscription_figures?' }, [
          ...ofTable('s', ['reminderId', 'deviceId', 'period', 'installId', 'distributionId']),
          ...(['s.sentAtMs', 'm.kind', 'm.amount'] as const),
          ...ofTable('f', FIGURE_FIELDS),
        ])}
        FROM (SELECT DISTINCT install_id FROM reminder_sent
              WHERE provider_id = ${once('providerId')} AND ended_at_ms IS NULL
                AND install_id > ${once('afterId')}
              ORDER BY install_id LIMIT ${once('countMax')}) l
          ${join} reminder_sent s ON s.install_id = l.install_id AND s.ended_at_ms IS NULL
          LEFT JOIN reminder m ON m.id = s.reminder_id AND m.enabled = 1
          LEFT JOIN subscription_figures f ON f.install_id = s.install_id
        ORDER BY s.install_id`),
    found: prepare(sql`
        SELECT ${columns({ s: 'reminder_sent' }, 's.reminderId, s.deviceId, s.distributionId')}
        FROM ${rows('keys', KEY)} k ${join} reminder_sent s ON ${ofKey}
        WHERE s.ended_at_ms IS NULL ORDER BY s.distribution_id, s.device_id`),
    close: prepare(sql`
        UPDATE reminder_sent AS s SET ended_at_ms = :nowMs
        FROM ${rows('keys', KEY)} k WHERE ${ofKey} AND s.ended_at_ms IS NULL`),
    /** A message that the device has stays as it is. */
    withdraw: prepare(sql`
        UPDATE recipient SET state = 4, is_waiting = 0, expired_at_ms = :nowMs, detail = :detail
        WHERE distribution_id = :id AND device_id = :deviceId AND state IN (1, 2)
          AND is_waiting = 1`),
    rounds: prepare(sql`
        SELECT ${columns(
          { x: 'distribution', m: 'reminder?' },
          'x.id, x.reminderId!, m.kind, m.amount, x.reminderDay! AS day, x.recipientCount, x.failedCount',
        )}, ${values<{ gotCount: number; endedCount: number }>({
          gotCount: sql`(SELECT count(*) ${ofRound} AND ${got})`,
          endedCount: sql`(SELECT count(*) ${ofRound} AND q.detail = ${WHY_UNTRUE} AND NOT ${got})`,
        })}
        FROM distribution x LEFT JOIN reminder m ON m.id = x.reminder_id
        WHERE x.provider_id = ${once('providerId')} AND x.reminder_id IS NOT NULL
          AND x.id < ${once('beforeId')}
        ORDER BY x.id DESC LIMIT ${once('countMax')}`),
    oldest: prepare(sql`
        SELECT ${columns({ s: 'reminder_sent' }, 's.deviceId')} FROM reminder_sent s
        WHERE ${isOld} LIMIT 1`),
    forget: prepare(sql`
        DELETE FROM reminder_sent WHERE (reminder_id, device_id, period) IN (
          SELECT s.reminder_id, s.device_id, s.period FROM reminder_sent s WHERE ${isOld}
          LIMIT ${FORGET_COUNT} ${backend.deletableUnlessBusy})`),
  };
}

type OpenRow = Omit<OpenReminder, 'figures'> & {
  [F in keyof NonNullable<OpenReminder['figures']>]: NonNullable<OpenReminder['figures']>[F] | null;
};

function openOf({
  reminderId,
  deviceId,
  period,
  installId,
  distributionId,
  sentAtMs,
  kind,
  amount,
  ...figures
}: OpenRow): OpenReminder {
  const own = { reminderId, deviceId, period, installId, distributionId, sentAtMs, kind, amount };
  const { readAtMs, source, sinceMs } = figures;
  if (readAtMs === null || source === null || sinceMs === null) return { ...own, figures: null };
  return { ...own, figures: { ...figures, readAtMs, source, sinceMs } };
}

export function reminderOpenNoun(backend: Backend): OpenNoun {
  const on = statements(backend);
  const pushes = pushSteps(backend);
  const rides = rideSteps(backend);
  return {
    listOpenReminders: async (providerId, afterId, countMax) =>
      backend.read(function* () {
        const open = (yield* on.open.all({ providerId, afterId, countMax })).map(openOf);
        return { open, nextId: open.at(-1)?.installId ?? null };
      }),

    endReminders: (providerId, ended, nowMs) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const keys = JSON.stringify(
          ended.map(({ reminderId, deviceId, period }) => ({ reminderId, deviceId, period })),
        );
        const found = (yield* on.found.all({ keys })).flatMap(({ deviceId, distributionId: id }) =>
          id === null ? [] : [{ deviceId, id }],
        );
        yield* pushes.lock(found.map(({ id }) => id));
        for (const { id, deviceId } of found) {
          const run = { id, cursorId: deviceId - 1, toId: deviceId };
          yield* rides.endNamed(id, deviceId, backend.storeMs(nowMs));
          yield* pushes.failRun(notes, run, WHY_UNTRUE, nowMs);
          const count = yield* on.withdraw.run({ id, deviceId, nowMs, detail: WHY_UNTRUE });
          notes.figure(providerId, 'expired', nowMs, count);
        }
        yield* on.close.run({ keys, nowMs });
      }),

    listRounds: async (providerId, { beforeId, countMax }) =>
      backend.read(() =>
        on.rounds.all({ providerId, beforeId: beforeId ?? Number.MAX_SAFE_INTEGER, countMax }),
      ),

    forgetReminded: async (sentBeforeMs) => {
      if ((await backend.read(() => on.oldest.get({ sentBeforeMs }))) === null) return false;
      return (await backend.change(() => on.forget.run({ sentBeforeMs }))) > 0;
    },
  };
}
