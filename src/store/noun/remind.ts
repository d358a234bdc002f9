/**
 * Sends reminders: to the devices of some links, in the rounds of the day. A round is a distribution
 * that names no device and has ended from its beginning, so that no lane, bound or call of the
 * contract knows it: its recipients come one link after the other, while the day lasts.
 */

import { linkInactive } from '../../core/event/subscription-happenings.ts';
import { SHARED_HWID } from '../../core/formats.ts';
import { CHECKING, CREATED, LOAD, SENDING, SENT } from '../../core/message/status.ts';
import { PUSH } from '../../core/port/distribution.ts';
import { INSTALL_ACTIVE } from '../../core/port/link.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Reminder } from '../../core/port/reminder.ts';
import type { RemindBounds, RemindingStore, Wanted } from '../../core/port/reminding.ts';
import { mayNotify } from '../../core/provider.ts';
import { roundOf } from '../../core/reminder-round.ts';
import { BOUND_MS, IN_BOUND_MAX, silenceOf, wantedOf } from '../../core/reminder-rules.ts';
import { isFresh } from '../../core/subscription-figures.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, insertInto, sql, values } from '../statement-text.ts';
import { literal } from '../status.ts';
import { PROVIDER_COLUMNS } from './provider.ts';
import { newRecipientServing } from './recipient-serving.ts';
import { REMINDER_COLUMNS, reminderOf } from './reminder.ts';
import { rideSteps } from './ride-steps.ts';
import { COURSE_COLUMNS } from './subscription-figures.ts';

/** Devices that a write reminds. */
const DEVICE_COUNT = 500;

/** What a round does to its status, in its first write. */
const STATUSES = [CHECKING, LOAD, SENDING, SENT];

const WANTED = { installId: 'bigint', reminderId: 'bigint', period: 'bigint' } as const;
const SENT_ROW = { ...WANTED, deviceId: 'bigint', distributionId: 'bigint' } as const;

interface Target extends Wanted {
  deviceId: number;
  /** Reminders of the provider that it got within the time of the bounds. */
  recentCount: number;
  hasPush: number;
}

function statements(backend: Backend) {
  const { prepare, once, among, join, rows, greatest } = backend;
  const ofProvider = sql`provider_id = ${once('providerId')}`;
  const recent = sql`(SELECT count(*) FROM reminder_sent r WHERE r.device_id = s.device_id
    AND r.sent_at_ms > ${once('sinceMs')} AND r.${ofProvider} AND r.distribution_id IS NOT NULL)`;
  /** When the devices of a link were last seen. */
  const seen = sql`(SELECT max(${greatest(
    sql.raw('s.last_seen_at_ms'),
    sql.raw('p.checked_in_at_ms'),
  )}) FROM install_device s ${join} device_provider p
      ON p.device_id = s.device_id AND p.provider_id = s.provider_id
    WHERE s.install_id = i.id)`;
  const isSilent = sql`i.status = ${literal(INSTALL_ACTIVE)} AND NOT EXISTS (
    SELECT 1 FROM subscription_figures f WHERE f.install_id = i.id AND f.ends_at_ms <= :nowMs)`;
  return {
    provider: prepare(sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE id = :providerId`),
    stopped: prepare(sql`
        SELECT ${columns('reminding', 'stoppedAtMs')} FROM reminding WHERE ${ofProvider}`),
    rules: prepare(sql`
        SELECT ${REMINDER_COLUMNS} FROM reminder WHERE ${ofProvider} AND enabled = 1 ORDER BY id`),
    courses: prepare(sql`
        SELECT ${COURSE_COLUMNS} FROM subscription_figures
        WHERE ${ofProvider} AND install_id ${among('installIds')}`),
    /** The devices that are due: each at home on the link, by the bounds. */
    targets: prepare(sql`
        SELECT ${values<Target>({
          installId: sql`k."installId"`,
          reminderId: sql`k."reminderId"`,
          period: sql`k."period"`,
          deviceId: sql`s.device_id`,
          recentCount: recent,
          hasPush: sql`CAST(EXISTS (SELECT 1 FROM device_token t
            WHERE t.id = p.token_id AND t.push IS NOT NULL) AS integer)`,
        })}
        FROM ${rows('wanted', WANTED)} k
          ${join} install i ON i.id = k."installId" AND i.${ofProvider}
            AND i.status = ${literal(INSTALL_ACTIVE)}
          ${join} install_device s ON s.install_id = i.id
          ${join} device_provider p ON p.device_id = s.device_id AND p.provider_id = i.provider_id
            AND p.home_install_id = i.id AND p.home_left_at_ms IS NULL
          ${join} device d ON d.id = s.device_id
            AND d.hwid <> ${sql.raw(`'${SHARED_HWID}'`)} || CAST(i.id AS text)
        WHERE ${recent} < ${IN_BOUND_MAX} AND NOT EXISTS (
          SELECT 1 FROM reminder_sent r
          WHERE r.reminder_id = k."reminderId" AND r.device_id = s.device_id
            AND (r.period = k."period" OR r.sent_at_ms > ${once('sinceMs')}))
        ORDER BY k.n, s.device_id LIMIT ${DEVICE_COUNT}`),
    silent: prepare(sql`
        SELECT ${values<{ installId: number; seenAtMs: number | null; isSilent: number }>({
          installId: sql`i.id`,
          seenAtMs: seen,
          isSilent: sql`CAST(${isSilent} AS integer)`,
        })}
        FROM install i WHERE i.${ofProvider} AND i.id > ${once('afterId')}
        ORDER BY i.id LIMIT ${once('countMax')}`),
    silentAmong: prepare(sql`
        SELECT ${values<{ installId: number; seenAtMs: number | null }>({
          installId: sql`i.id`,
          seenAtMs: seen,
        })}
        FROM install i WHERE i.${ofProvider} AND i.id ${among('installIds')} AND ${isSilent}`),
    round: prepare(sql`
        SELECT ${columns('distribution', 'id')} FROM distribution
        WHERE reminder_id = :reminderId AND reminder_day = :reminderDay`),
    addRound: prepare(sql`
        ${insertInto(
          'distribution',
          [
            ...([
              'providerId',
              'notificationType',
              'targetHwid',
              'createdAtMs',
              'dueAtMs',
            ] as const),
            ...(['reachesUnbound', 'expiresAtMs', 'beganAtMs'] as const),
            ...(['reminderId', 'reminderDay', 'payload'] as const),
          ],
          { status: literal(CREATED) },
        )} ${backend.returningId}`),
    moveRound: prepare(sql`
        UPDATE distribution SET ${assignments('distribution', 'status, finishedAtMs')}
        WHERE id = :id`),
    counted: prepare(sql`
        UPDATE distribution SET recipient_count = recipient_count + :added,
          sent_count = sent_count + :sent, failed_count = failed_count + :failed,
          push_waiting_count = push_waiting_count + :queued, finished_at_ms = :nowMs
        WHERE id = :id`),
    /** Where a device had no way, nothing goes on. */
    note: prepare(sql`
        INSERT INTO reminder_sent (reminder_id, device_id, period, install_id, provider_id,
          distribution_id, sent_at_ms, ended_at_ms)
        SELECT u."reminderId", u."deviceId", u."period", u."installId",
          CAST(:providerId AS bigint), u."distributionId", CAST(:nowMs AS bigint),
          CASE WHEN u."distributionId" IS NULL THEN CAST(:nowMs AS bigint) END
        FROM ${rows('sent', SENT_ROW)} u WHERE true ON CONFLICT DO NOTHING`),
    load: prepare(sql`
        INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms)
        SELECT CAST(:id AS bigint), d.id, 1, CAST(:providerId AS bigint), 0, CAST(:nowMs AS bigint)
        FROM device d WHERE d.id ${among('deviceIds')} ORDER BY d.id`),
  };
}

type RemindNoun = Pick<RemindingStore, 'listSilent' | 'listUnreminded' | 'remind'>;

const keyOf = ({ installId, reminderId, period }: Wanted) => `${installId} ${reminderId} ${period}`;

export function remindNoun(backend: Backend): RemindNoun {
  const on = statements(backend);
  const serve = newRecipientServing(backend);
  const rides = rideSteps(backend);

  const bounded = (providerId: number, wanted: readonly Wanted[], nowMs: number) => ({
    ...{ providerId, sinceMs: nowMs - BOUND_MS },
    wanted: JSON.stringify(wanted),
  });

  /** Returns those that are due by the records as they are now. */
  function* stillDue(
    providerId: number,
    wanted: readonly Wanted[],
    rules: readonly Reminder[],
    nowMs: number,
  ): Step<Wanted[]> {
    const installIds = [...new Set(wanted.map(({ installId }) => installId))];
    const due = new Set<string>();
    for (const figures of yield* on.courses.all({ providerId, installIds })) {
      if (!isFresh(figures, nowMs)) continue;
      for (const one of wantedOf(figures, rules, nowMs)) due.add(keyOf(one));
    }
    const silences = rules.filter(({ kind }) => kind === 'inactive');
    if (silences.length > 0) {
      for (const link of yield* on.silentAmong.all({ providerId, installIds, nowMs })) {
        const { installId, seenAtMs: period } = link;
        for (const rule of silences) {
          const { fromMs, untilMs } = silenceOf(rule, nowMs);
          if (period === null || period < fromMs || period >= untilMs) continue;
          due.add(keyOf({ installId, reminderId: rule.id, period }));
        }
      }
    }
    return wanted.filter((one) => due.has(keyOf(one)));
  }

  /** Chooses the devices that the bounds let have one more. */
  function* chosen(providerId: number, wanted: readonly Wanted[], nowMs: number): Step<Target[]> {
    if (wanted.length === 0) return [];
    const counts = new Map<number, number>();
    const taken: Target[] = [];
    for (const target of yield* on.targets.all(bounded(providerId, wanted, nowMs))) {
      const count = counts.get(target.deviceId) ?? target.recentCount;
      if (count >= IN_BOUND_MAX) continue;
      counts.set(target.deviceId, count + 1);
      taken.push(target);
    }
    return taken;
  }

  /** Finds the round of a reminder on the day, or adds it. */
  function* roundIds(
    rules: readonly Reminder[],
    owner: Provider,
    nowMs: number,
  ): Step<Map<number, number>> {
    const found = new Map<number, number>();
    const missing: { id: number; round: NonNullable<ReturnType<typeof roundOf>> }[] = [];
    for (const rule of rules) {
      const round = roundOf(rule, owner, nowMs);
      if (round === null) continue;
      const { reminderDay } = round;
      const known = yield* on.round.get({ reminderId: rule.id, reminderDay });
      if (known !== null) found.set(rule.id, known.id);
      else missing.push({ id: rule.id, round });
    }
    yield* backend.lockRows({ distribution: [...found.values()] });
    for (const { id, round } of missing) {
      const atMs = backend.storeMs(nowMs);
      const times = { createdAtMs: atMs, dueAtMs: atMs, beganAtMs: atMs };
      const who = { providerId: owner.id, reminderId: id, notificationType: PUSH };
      const added = yield* on.addRound.insert({
        ...{ ...round, ...times, ...who },
        ...{ targetHwid: '', reachesUnbound: 0 },
      });
      for (const status of STATUSES) {
        yield* on.moveRound.run({ id: added, status, finishedAtMs: status === SENT ? atMs : null });
      }
      found.set(id, added);
    }
    return found;
  }

  /** Sends the message of a round to devices. */
  function* send(
    notes: Notes,
    round: { id: number; providerId: number; rule: Reminder },
    deviceIds: readonly number[],
    { bounds, nowMs }: { bounds: RemindBounds; nowMs: number },
  ): Step<number[]> {
    const { id, providerId, rule } = round;
    yield* on.load.run({ id, providerId, nowMs, deviceIds });
    const { deviceIds: reached, ...counts } = yield* serve(notes, { id, nowMs }, bounds);
    yield* on.counted.run({ id, ...counts, added: deviceIds.length, nowMs });
    notes.figure(providerId, 'recipients', nowMs, deviceIds.length);
    notes.figure(providerId, 'delivered', nowMs, counts.sent);
    notes.figure(providerId, 'failed', nowMs, counts.failed);
    if (rule.kind !== 'inactive') {
      yield* rides.beginNamed({ id, providerId }, deviceIds, bounds.rides, backend.storeMs(nowMs));
    }
    notes.changed(reached);
    return reached;
  }

  /** Adds the events about links that no app fetched. */
  function tellSilent(
    notes: Notes,
    providerId: number,
    rules: readonly Reminder[],
    targets: readonly Target[],
    nowMs: number,
  ): void {
    for (const { id, kind, amount } of rules) {
      if (kind !== 'inactive') continue;
      const own = targets.filter(({ reminderId }) => reminderId === id);
      const links = new Map(own.map(({ installId, period }) => [installId, period]));
      for (const [installId, seenAtMs] of links) {
        notes.event(providerId, nowMs, () => linkInactive(installId, amount, seenAtMs));
      }
    }
  }

  return {
    listSilent: async (providerId, { fromMs, untilMs }, nowMs, afterId, countMax) =>
      backend.read(function* () {
        const rows = yield* on.silent.all({ providerId, nowMs, afterId, countMax });
        const links = rows.flatMap(({ installId, isSilent, seenAtMs }) =>
          isSilent === 1 && seenAtMs !== null && seenAtMs >= fromMs && seenAtMs < untilMs
            ? [{ installId, seenAtMs }]
            : [],
        );
        const isRest = rows.length === countMax;
        return { links, nextId: isRest ? (rows.at(-1)?.installId ?? null) : null };
      }),

    listUnreminded: async (providerId, wanted, nowMs) => {
      if (wanted.length === 0) return [];
      const found = await backend.read(() => on.targets.all(bounded(providerId, wanted, nowMs)));
      const keys = new Set(found.map(keyOf));
      return wanted.filter((one) => keys.has(keyOf(one)));
    },

    remind: (providerId, wanted, nowMs, bounds) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const provider = yield* on.provider.get({ providerId });
        const isStopped = (yield* on.stopped.get({ providerId }))?.stoppedAtMs != null;
        if (provider === null || isStopped || !mayNotify(provider, nowMs)) return { deviceIds: [] };
        const rules = (yield* on.rules.all({ providerId })).map(reminderOf);
        yield* backend.lockRows({ install: wanted.map(({ installId }) => installId) });
        const due = yield* stillDue(providerId, wanted, rules, nowMs);
        const targets = yield* chosen(providerId, due, nowMs);
        if (targets.length === 0) return { deviceIds: [] };
        yield* rides.lockDevices(
          providerId,
          targets.map(({ deviceId }) => deviceId),
        );
        const byRule = Map.groupBy(targets, ({ reminderId }) => reminderId);
        const used = rules.filter(({ id }) => byRule.has(id));
        const rounds = yield* roundIds(used, provider, nowMs);
        const sent = targets.flatMap(({ recentCount: _, hasPush, ...row }) => {
          const distributionId = rounds.get(row.reminderId);
          if (distributionId === undefined) return [];
          const isSilent = used.some((r) => r.id === row.reminderId && r.kind === 'inactive');
          return [{ ...row, distributionId: isSilent && hasPush === 0 ? null : distributionId }];
        });
        yield* on.note.run({ providerId, nowMs, sent: JSON.stringify(sent) });
        const reached: number[] = [];
        for (const rule of used) {
          const id = rounds.get(rule.id) ?? 0;
          const own = sent.filter(({ distributionId }) => distributionId === id);
          if (own.length === 0) continue;
          const deviceIds = own.map(({ deviceId }) => deviceId);
          const round = { id, providerId, rule };
          reached.push(...(yield* send(notes, round, deviceIds, { bounds, nowMs })));
        }
        tellSilent(notes, providerId, used, targets, nowMs);
        return { deviceIds: reached };
      }),
  };
}
