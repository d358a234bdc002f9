/** One step of a job, small enough not to delay other writes. */

import type { Core } from '../core.ts';
import { filterAt } from '../link-filter.ts';
import type { Job, JobHold } from '../port/job.ts';
import type { OwnedLink } from '../port/link-view.ts';
import { isAway, WriteFailed } from '../port/store.ts';
import { randomCode } from '../secret.ts';
import { stopOf } from './right.ts';
import { type JobWork, readWork, WAITING_EVENTS_MAX } from './work.ts';

/** The most slots and links that a step changes: a few ms on either database. */
const WEIGHT_MAX = 50;
/** Slices without a match after which the position is saved, well within the lease. */
const EMPTY_SLICES_MAX = 5;
/** The lease of a worker on a job, ms. */
const LEASE_MS = 5_000;

/** Faults in a row after which a job has failed: other jobs wait behind it. */
const FAULTS_MAX = 3;

/** The faults in a row of the last job with a fault. */
interface JobFaults {
  id: number;
  count: number;
}

/**
 * Runs one step of the job that has been due longest. Returns false if none is due. Throws the
 * fault of a step; a job with {@link FAULTS_MAX} faults in a row fails.
 */
export async function jobStep(
  core: Core,
  owner: string,
  nowMs: number,
  faults: JobFaults = { id: 0, count: 0 },
): Promise<boolean> {
  const times = { nowMs, leaseUntilMs: nowMs + LEASE_MS };
  const job = await core.store.claimJob(owner, times, WAITING_EVENTS_MAX);
  if (job === null) return false;
  const { auditEntriesMax: entriesMax } = core.limits;
  const hold = { id: job.id, providerId: job.providerId, owner, afterId: job.afterId, entriesMax };
  try {
    await step(core, hold, job, nowMs);
    if (faults.id === job.id) faults.count = 0;
  } catch (fault) {
    // The whole store is away, so the job is not to blame.
    if (isAway(fault) || fault instanceof WriteFailed) throw fault;
    Object.assign(faults, { id: job.id, count: faults.id === job.id ? faults.count + 1 : 1 });
    if (faults.count >= FAULTS_MAX) await core.store.failJob(hold, 'fault', nowMs);
    throw fault;
  }
  return true;
}

async function step(core: Core, hold: JobHold, job: Job, nowMs: number): Promise<void> {
  const stop = await stopOf(core, job, nowMs);
  const work = stop === null ? readWork(job) : null;
  if (work === null) return core.store.failJob(hold, stop ?? 'not_understood', nowMs);
  return 'filter' in work
    ? stepLinks(core, hold, job, work, nowMs)
    : workOnSlots(core, hold, work, nowMs);
}

async function stepLinks(
  core: Core,
  hold: JobHold,
  { afterId, providerCode: code, seenCount, totalCount }: Job,
  work: Extract<JobWork, { toId: number }>,
  nowMs: number,
): Promise<void> {
  const { filter, toId } = work;
  const matching = filterAt({ code }, filter);
  let [found, beyondId]: [OwnedLink[], number | null] = [[], afterId];
  for (let n = 0; n < EMPTY_SLICES_MAX && found.length === 0 && beyondId !== null; n++) {
    const slice = { ...matching, beyondId, isOldest: true, countMax: WEIGHT_MAX };
    const { links, nextId } = await core.store.listLinkSlice(slice);
    found = links.filter(({ id }) => id <= toId);
    beyondId = nextId !== null && nextId < toId ? nextId : null;
  }
  // More links may match by now; the job changes no more than the person saw.
  const left = Math.max(0, totalCount - seenCount);
  if (left === 0 && found.length > 0) return core.store.failJob(hold, 'more_links_match', nowMs);
  const change = work.kind === 'links.change' ? work.change : null;
  const links = (change === null ? lightOf(found) : found).slice(0, left);
  const isAll = links.length === found.length;
  const nextId = isAll ? beyondId : (links.at(-1)?.id ?? null);
  await core.store.stepLinks(hold, { linkIds: links.map(({ id }) => id), change, nextId, nowMs });
}

/** Returns the first links whose removal, slot by slot, fits into one step. */
function lightOf(links: readonly OwnedLink[]): OwnedLink[] {
  let weight = 0;
  return links.filter(({ deviceCount }, n) => {
    weight += 1 + deviceCount;
    return n === 0 || weight <= WEIGHT_MAX;
  });
}

async function workOnSlots(
  core: Core,
  hold: JobHold,
  work: Extract<JobWork, { linkId: number }>,
  nowMs: number,
): Promise<void> {
  const { linkId } = work;
  const hwid = work.kind === 'link.free' ? work.hwid : null;
  const installCode = work.kind === 'link.revoke' ? randomCode(12) : null;
  const done = await core.store.workOnSlots(hold, { linkId, hwid, installCode, nowMs });
  // The code was taken; the next step draws another.
  if (typeof done === 'string') return;
  // Closes the streams of the devices.
  for (const deviceId of done.deviceIds) core.signals.messagesFor(deviceId);
}
