/** Jobs: claims, and steps that change links together with the position. */

import type { SQL } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import type { Act, Actor } from '../../core/port/audit.ts';
import type { Job, JobHold, JobStore, LinksStep, SlotsWork } from '../../core/port/job.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, insertInto, sql, values } from '../statement-text.ts';
import { linkChangeSteps } from './link.ts';
import { linkEndSteps } from './link-end.ts';
import { mapped, parsed } from './rows.ts';

/** Jobs that one step forgets. */
const FORGET_COUNT = 500;

type JobRow = Omit<Job, 'actor'> & { actor: string };

function statements({ prepare, among, join, locked, lockedUnlessBusy, returningId }: Backend) {
  const job = sql`
    SELECT ${columns('job', 'id, providerId!')},
      ${values<{ providerCode: string }>({
        providerCode: sql`(SELECT code FROM provider p WHERE p.id = job.provider_id)`,
      })},
      ${columns(
        'job',
        `kind, params, actor, state, afterId, totalCount, seenCount, changedCount,
        result AS problem, createdAtMs, dueAtMs, endedAtMs`,
      )} FROM job`;
  const jobs = (query: SQL<JobRow>) => mapped(prepare(query), parsed<'actor', Actor>('actor'));
  const isOpen = sql`state IN ('waiting', 'running')`;
  const isHeld = sql`(kind IN ('links.change', 'links.remove') AND EXISTS (
    SELECT 1 FROM webhook w ${join} destination d ON d.webhook_id = w.id
    WHERE w.provider_id = job.provider_id AND w.disabled_at_ms IS NULL
      AND d.waiting_count >= :waitingMax))`;
  const ofProvider = sql`provider_id = :providerId`;
  return {
    openCount: prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })} FROM job
        WHERE ${ofProvider} AND ${isOpen} AND kind ${among('among', 'text')}`),
    same: prepare(sql`
        SELECT ${columns('job', 'id, dueAtMs')} FROM job
        WHERE ${ofProvider} AND state = 'waiting' AND due_at_ms > :createdAtMs
          AND kind = :kind AND params = :params AND actor = :actor`),
    add: prepare(sql`
        ${insertInto(
          'job',
          `providerId, kind, params, actor, totalCount, createdAtMs, dueAtMs,
            state = 'waiting'`,
        )} ${returningId}`),
    find: jobs(sql`${job} WHERE ${ofProvider} AND id = :id`),
    lock: jobs(sql`${job} WHERE ${ofProvider} AND id = :id ${locked}`),
    open: jobs(sql`${job} WHERE ${ofProvider} AND ${isOpen} ORDER BY id DESC`),
    held: prepare(sql`
        SELECT ${columns('job', 'id')} FROM job WHERE ${ofProvider} AND ${isOpen} AND ${isHeld}`),
    ended: jobs(sql`${job} WHERE ${ofProvider} AND NOT ${isOpen} ORDER BY id DESC LIMIT :countMax`),
    /** The claimed job, while the claim holds and the position is unchanged since it was read. */
    claimed: jobs(sql`
        ${job} WHERE ${ofProvider} AND id = :id AND state = 'running'
          AND lease = :owner AND after_id = :afterId ${locked}`),
    due: jobs(sql`
        ${job} WHERE ${isOpen} AND (state = 'running' OR due_at_ms <= :nowMs)
          AND (lease = :owner OR lease_until_ms <= :nowMs OR lease_until_ms > :leaseUntilMs)
          AND NOT ${isHeld}
        ORDER BY due_at_ms, id LIMIT 1 ${lockedUnlessBusy}`),
    claim: prepare(sql`
        UPDATE job SET state = 'running', lease = :owner, lease_until_ms = :leaseUntilMs
        WHERE id = :id`),
    move: prepare(sql`
        UPDATE job SET after_id = :nextId, seen_count = :seenCount, changed_count = :changedCount,
          due_at_ms = :behindMs
        WHERE id = :id`),
    end: prepare(sql`
        UPDATE job SET state = :state, result = :problem, seen_count = :seenCount,
          changed_count = :changedCount, ended_at_ms = :nowMs, lease = NULL, lease_until_ms = 0
        WHERE id = :id`),
    next: prepare(sql`
        SELECT ${values<{ atMs: number | null }>({
          atMs: sql`min(CASE WHEN state = 'waiting' THEN due_at_ms
          WHEN lease = :owner THEN 0 ELSE lease_until_ms END)`,
        })} FROM job WHERE ${isOpen}`),
    forget: prepare(sql`
        DELETE FROM job WHERE id IN (
          SELECT id FROM job WHERE ended_at_ms IS NOT NULL AND ended_at_ms < :beforeMs
          ORDER BY ended_at_ms LIMIT ${FORGET_COUNT})`),
  };
}

/** The counts of a job so far, and how it ended. */
type JobEnd = Pick<Job, 'id' | 'providerId' | 'kind' | 'actor' | 'seenCount' | 'changedCount'> & {
  state: 'done' | 'cancelled' | 'failed';
  problem?: string | null;
  /** Name of the person who cancelled it. */
  stoppedBy?: string;
};

/** The act of a job's owner. */
const actOf = ({ entriesMax }: JobHold, { actor }: Job, atMs: number): Act => ({
  actor,
  atMs,
  ...(entriesMax !== undefined && { entriesMax }),
});

type On = ReturnType<typeof statements>;

/** Steps that end a job and find the job of a claim. */
function jobSteps(backend: Backend, on: On) {
  return {
    /** Ends a job. A job that changed many links adds its audit entry now. */
    *end(
      notes: Notes,
      job: JobEnd,
      { atMs, entriesMax }: Pick<Act, 'atMs' | 'entriesMax'>,
    ): Step<void> {
      yield* on.end.run({ ...job, actor: null, problem: job.problem ?? null, nowMs: atMs });
      const deed = job.changedCount > 0 ? deeds.endJob(job) : null;
      notes.audit(
        { actor: job.actor, atMs, ...(entriesMax && { entriesMax }) },
        deed,
        job.providerId,
      );
    },

    /** Locks the provider, and returns the job if the claim and its position hold. */
    *held(hold: JobHold): Step<Job | null> {
      yield* backend.lockProvider(hold.providerId);
      return yield* on.claimed.get({ ...hold });
    },
  };
}

type Steps = ReturnType<typeof jobSteps>;

function work(
  backend: Backend,
  on: On,
  { end, held }: Steps,
): Pick<JobStore, 'stepLinks' | 'workOnSlots' | 'failJob'> {
  const links = linkChangeSteps(backend);
  const ends = linkEndSteps(backend);

  /** Changes or removes a link. Returns whether it did. */
  function* deal(
    notes: Notes,
    name: { providerId: number; id: number },
    change: LinksStep['change'],
    act: Act,
  ): Step<boolean> {
    if (change !== null) {
      const updated = yield* links.update(notes, { ...name, change }, act);
      return typeof updated !== 'string' && updated.isChanged;
    }
    const link = { providerId: name.providerId, installId: name.id };
    return typeof (yield* ends.remove(notes, link, act)) !== 'string';
  }

  /**
   * Frees slots of a link, or revokes it. Returns the problem, or the devices that lost their
   * tokens.
   */
  function* endSlots(
    notes: Notes,
    { hwid, installCode, linkId: installId }: SlotsWork,
    { providerId, claimed }: { providerId: number; claimed: readonly number[] },
    act: Act,
  ): Step<string | readonly number[]> {
    const link = { providerId, installId };
    if (installCode !== null) {
      const revoked = yield* ends.revoke(notes, { ...link, installCode, claimed }, act);
      return typeof revoked === 'string' ? revoked : revoked.deviceIds;
    }
    const selector = { installCode: null, installId };
    const freed =
      hwid === null
        ? yield* ends.free(notes, link, act)
        : yield* links.free(notes, { providerId, selector, hwid }, act);
    return typeof freed === 'string' ? freed : [];
  }

  return {
    stepLinks: (hold, { change, linkIds, nextId, nowMs }) =>
      backend.write(function* (notes) {
        const job = yield* held(hold);
        if (job === null) return false;
        const act = { actor: job.actor, atMs: nowMs, isOfJob: true };
        let { changedCount } = job;
        for (const id of linkIds) {
          const { providerId } = hold;
          if (yield* deal(notes, { providerId, id }, change, act)) changedCount += 1;
        }
        const seenCount = job.seenCount + linkIds.length;
        if (nextId === null)
          yield* end(
            notes,
            { ...job, seenCount, changedCount, state: 'done' },
            actOf(hold, job, nowMs),
          );
        else
          yield* on.move.run({ id: job.id, nextId, seenCount, changedCount, behindMs: nowMs + 1 });
        return true;
      }),

    workOnSlots: async (hold, asked, turn = nextTurn) => {
      const { installCode, linkId, nowMs } = asked;
      const { providerId } = hold;
      const claimed = installCode === null ? [] : await ends.claimsOf(linkId, turn);
      return backend.write(function* (notes) {
        const job = yield* held(hold);
        if (job === null) return 'lost';
        const act = actOf(hold, job, nowMs);
        const ended = yield* endSlots(notes, asked, { providerId, claimed }, act);
        if (ended === 'install_code_exists') return ended;
        const problem = typeof ended === 'string' ? ended : null;
        const state = problem === null ? 'done' : 'failed';
        // The change has its own entry.
        const counts = { seenCount: 1, changedCount: 0 };
        yield* end(notes, { ...job, ...counts, state, problem }, act);
        return { deviceIds: typeof ended === 'string' ? [] : ended };
      });
    },

    failJob: (hold, problem, nowMs) =>
      backend.write(function* (notes) {
        const job = yield* held(hold);
        if (job === null) return;
        yield* end(notes, { ...job, state: 'failed', problem }, actOf(hold, job, nowMs));
      }),
  };
}

export function jobNoun(backend: Backend): JobStore {
  const on = statements(backend);
  const steps = jobSteps(backend, on);
  return {
    ...work(backend, on, steps),

    addJob: ({ among, countMax, actor, ...draft }) =>
      backend.write(function* () {
        const { dueAtMs, providerId } = draft;
        const own = { ...draft, actor: JSON.stringify(actor) };
        yield* backend.lockProvider(providerId);
        const same = yield* on.same.get(own);
        if (same !== null) return same;
        const open = (yield* on.openCount.get({ providerId, among }))?.count ?? 0;
        if (open >= countMax) return 'job_limit_reached';
        return { id: yield* on.add.insert(own), dueAtMs };
      }),

    findJob: async (providerId, id) => backend.read(() => on.find.get({ providerId, id })),

    listJobs: async (providerId, countMax, waitingMax) => {
      const [open, ended, held] = await backend.read(() =>
        backend.together([
          () => on.open.all({ providerId }),
          () => on.ended.all({ providerId, countMax }),
          () => on.held.all({ providerId, waitingMax }),
        ]),
      );
      const heldIds = new Set(held.map(({ id }) => id));
      return [...open, ...ended]
        .map((job) => ({ ...job, isHeld: heldIds.has(job.id) }))
        .sort((one, other) => other.id - one.id);
    },

    cancelJob: (providerId, id, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const job = yield* on.lock.get({ providerId, id });
        if (job === null) return 'job_not_found';
        if (job.state !== 'waiting' && job.state !== 'running') return 'job_ended';
        const stoppedBy = act.actor.name;
        yield* steps.end(notes, { ...job, state: 'cancelled', stoppedBy }, act);
        return 'ok';
      }),

    claimJob: (owner, { nowMs, leaseUntilMs }, waitingMax) =>
      backend.write(function* () {
        const job = yield* on.due.get({ owner, nowMs, leaseUntilMs, waitingMax });
        if (job === null) return null;
        yield* on.claim.run({ id: job.id, owner, leaseUntilMs });
        return { ...job, state: 'running' };
      }),

    findNextJobMs: async (owner) =>
      (await backend.read(() => on.next.get({ owner })))?.atMs ?? null,

    forgetJobs: async (beforeMs) =>
      (await backend.write(() => on.forget.run({ beforeMs }))) >= FORGET_COUNT,
  };
}
