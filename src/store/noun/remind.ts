/** Sends reminders to the devices of links that are due, and adds the events about silent links. */

import { linkInactive } from '../../core/event/subscription-happenings.ts';
import { SHARED_HWID } from '../../core/formats.ts';
import { INSTALL_ACTIVE } from '../../core/port/link.ts';
import type { RemindingStore, Rule, Wanted } from '../../core/port/reminding.ts';
import { mayNotify } from '../../core/provider.ts';
import { BOUND_MS, IN_BOUND_MAX, silenceOf, wantedOf } from '../../core/reminder-rules.ts';
import { isFresh } from '../../core/subscription-figures.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { literal } from '../status.ts';
import { PROVIDER_COLUMNS } from './provider.ts';
import { roundSteps } from './reminder-round.ts';
import { shared } from './shared.ts';
import { COURSE_COLUMNS } from './subscription-figures.ts';

type RemindNoun = Pick<RemindingStore, 'listSilent' | 'listUnreminded' | 'remind'>;

/** Devices that a write reminds. */
const DEVICE_COUNT = 500;

const WANTED = { installId: 'bigint', reminderId: 'bigint', period: 'bigint' } as const;
const SENT_ROW = { ...WANTED, deviceId: 'bigint', distributionId: 'bigint' } as const;

interface Target extends Wanted {
  deviceId: number;
  /** Reminders of the provider that it got within the time of the bounds. */
  recentCount: number;
  hasPush: number;
}

const keyOf = ({ installId, reminderId, period }: Wanted) => `${installId} ${reminderId} ${period}`;

const ofProvider = ({ once }: Backend) => sql`provider_id = ${once('providerId')}`;

/** Statements that read what is due. */
function dueStatements(backend: Backend) {
  const { prepare, once, among, join, greatest } = backend;
  const own = ofProvider(backend);
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
    rules: prepare(sql`
        SELECT ${columns('reminder', 'id, kind, amount')} FROM reminder
        WHERE ${own} AND enabled = 1 ORDER BY id`),
    courses: prepare(sql`
        SELECT ${COURSE_COLUMNS} FROM subscription_figures
        WHERE ${own} AND install_id ${among('installIds')}`),
    silent: prepare(sql`
        SELECT ${values<{ installId: number; seenAtMs: number | null; isSilent: number }>({
          installId: sql`i.id`,
          seenAtMs: seen,
          isSilent: sql`CAST(${isSilent} AS integer)`,
        })}
        FROM install i WHERE i.${own} AND i.id > ${once('afterId')}
        ORDER BY i.id LIMIT ${once('countMax')}`),
    silentAmong: prepare(sql`
        SELECT ${values<{ installId: number; seenAtMs: number | null }>({
          installId: sql`i.id`,
          seenAtMs: seen,
        })}
        FROM install i WHERE i.${own} AND i.id ${among('installIds')} AND ${isSilent}`),
  };
}

/** Statements that choose devices, and note what they get. */
function targetStatements(backend: Backend) {
  const { prepare, once, join, rows } = backend;
  const own = ofProvider(backend);
  const recent = sql`(SELECT count(*) FROM reminder_sent r WHERE r.device_id = s.device_id
    AND r.sent_at_ms > ${once('sinceMs')} AND r.${own} AND r.distribution_id IS NOT NULL)`;
  return {
    provider: prepare(sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE id = :providerId`),
    stopped: prepare(sql`
        SELECT ${columns('reminding', 'stoppedAtMs')} FROM reminding WHERE ${own}`),
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
          ${join} install i ON i.id = k."installId" AND i.${own}
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
    /** Where a device had no way, nothing goes on. */
    note: prepare(sql`
        INSERT INTO reminder_sent (reminder_id, device_id, period, install_id, provider_id,
          distribution_id, sent_at_ms, ended_at_ms)
        SELECT u."reminderId", u."deviceId", u."period", u."installId",
          CAST(:providerId AS bigint), u."distributionId", CAST(:nowMs AS bigint),
          CASE WHEN u."distributionId" IS NULL THEN CAST(:nowMs AS bigint) END
        FROM ${rows('sent', SENT_ROW)} u WHERE true ON CONFLICT DO NOTHING`),
  };
}

/** Steps that find what is due; a write that sends it has locked the links. */
const dueSteps = shared((backend: Backend) => {
  const on = { ...dueStatements(backend), ...targetStatements(backend) };

  const bounded = (providerId: number, wanted: readonly Wanted[], nowMs: number) => ({
    providerId,
    sinceMs: nowMs - BOUND_MS,
    wanted: JSON.stringify(wanted),
  });

  return {
    on,

    /** Finds the devices that are due, each with its reminder. */
    targets: (providerId: number, wanted: readonly Wanted[], nowMs: number): Step<Target[]> =>
      on.targets.all(bounded(providerId, wanted, nowMs)),

    /** Returns those that are due by the records as they are now. */
    *stillDue(
      providerId: number,
      wanted: readonly Wanted[],
      rules: readonly Rule[],
      nowMs: number,
    ): Step<Wanted[]> {
      const installIds = [...new Set(wanted.map(({ installId }) => installId))];
      const due = new Set<string>();
      for (const figures of yield* on.courses.all({ providerId, installIds })) {
        if (!isFresh(figures, nowMs)) continue;
        for (const one of wantedOf(figures, rules, nowMs)) due.add(keyOf(one));
      }
      const silences = rules.filter(({ kind }) => kind === 'inactive');
      if (silences.length === 0) return wanted.filter((one) => due.has(keyOf(one)));
      for (const link of yield* on.silentAmong.all({ providerId, installIds, nowMs })) {
        const { installId, seenAtMs: period } = link;
        for (const rule of silences) {
          const { fromMs, untilMs } = silenceOf(rule, nowMs);
          if (period === null || period < fromMs || period >= untilMs) continue;
          due.add(keyOf({ installId, reminderId: rule.id, period }));
        }
      }
      return wanted.filter((one) => due.has(keyOf(one)));
    },
  };
});

/** Returns the devices that the bounds let have one more; each has its count before. */
function chosen(found: readonly Target[]): Target[] {
  const counts = new Map<number, number>();
  return found.filter(({ deviceId, recentCount }) => {
    const count = counts.get(deviceId) ?? recentCount;
    counts.set(deviceId, count + 1);
    return count < IN_BOUND_MAX;
  });
}

/** Adds the events about links that no app fetched. */
function tellSilent(
  notes: Notes,
  providerId: number,
  { amount }: Rule,
  targets: readonly Target[],
  nowMs: number,
): void {
  const links = new Map(targets.map(({ installId, period }) => [installId, period]));
  for (const [installId, seenAtMs] of links) {
    notes.event(providerId, nowMs, () => linkInactive(installId, amount, seenAtMs));
  }
}

export function remindNoun(backend: Backend): RemindNoun {
  const { on, stillDue, targets: findTargets } = dueSteps(backend);
  const rounds = roundSteps(backend);
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
      const found = await backend.read(() => findTargets(providerId, wanted, nowMs));
      const keys = new Set(found.map(keyOf));
      return wanted.filter((one) => keys.has(keyOf(one)));
    },

    remind: (providerId, wanted, nowMs, how) =>
      backend.write(function* (notes) {
        const nothing = { deviceIds: [] };
        yield* backend.lockProvider(providerId);
        const provider = yield* on.provider.get({ providerId });
        const isStopped = (yield* on.stopped.get({ providerId }))?.stoppedAtMs != null;
        if (provider === null || isStopped || !mayNotify(provider, nowMs)) return nothing;
        const sendable = new Set(how.rounds.map(({ reminderId }) => reminderId));
        const rules = (yield* on.rules.all({ providerId })).filter(({ id }) => sendable.has(id));
        yield* backend.lockRows({ install: wanted.map(({ installId }) => installId) });
        const due = yield* stillDue(providerId, wanted, rules, nowMs);
        const targets = chosen(yield* findTargets(providerId, due, nowMs));
        if (targets.length === 0) return nothing;
        const all = targets.map(({ deviceId }) => deviceId);
        yield* rounds.lockDevices(providerId, all);
        const byRule = Map.groupBy(targets, ({ reminderId }) => reminderId);
        const used = how.rounds.filter(({ reminderId }) => byRule.has(reminderId));
        const ids = yield* rounds.idsOf(providerId, used, nowMs);
        const reached: number[] = [];
        for (const rule of rules) {
          const own = byRule.get(rule.id) ?? [];
          const id = ids.get(rule.id);
          if (own.length === 0 || id === undefined) continue;
          const isSilence = rule.kind === 'inactive';
          // An app that fetches nothing gets a push alone.
          const sent = own.map(({ recentCount: _, hasPush, ...row }) => {
            return { ...row, distributionId: isSilence && hasPush === 0 ? null : id };
          });
          yield* on.note.run({ providerId, nowMs, sent: JSON.stringify(sent) });
          if (isSilence) tellSilent(notes, providerId, rule, own, nowMs);
          const deviceIds = sent.flatMap((row) => (row.distributionId ? [row.deviceId] : []));
          if (deviceIds.length === 0) continue;
          const sending = { id, providerId, deviceIds, rides: !isSilence };
          reached.push(...(yield* rounds.send(notes, sending, how, nowMs)));
        }
        return { deviceIds: reached };
      }),
  };
}
