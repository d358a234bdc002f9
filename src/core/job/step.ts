/** One step of a job: so many links that others are not kept waiting. */

import type { Core } from '../core.ts';
import { filterAt } from '../link-filter.ts';
import type { Job, JobHold } from '../port/job.ts';
import type { OwnedLink } from '../port/link.ts';
import { randomCode } from '../secret.ts';
import { mayGoOn } from './right.ts';
import { isBulk, type JobWork, readWork } from './work.ts';

/** Slots and links that a step changes: some ms on either database. */
const WEIGHT_MAX = 50;
/** Slices without a match after which the position is saved. */
const EMPTY_SLICES_MAX = 20;
/** A worker that is gone keeps a job for so long, ms. */
const LEASE_MS = 5_000;
/** Events waiting for a webhook at which jobs of its provider wait: at 100,000 it is disabled. */
export const WAITING_EVENTS_MAX = 10_000;

/** Takes the job that is due longest one step further. Returns false if none is due. */
export async function jobStep(core: Core, owner: string, nowMs: number): Promise<boolean> {
  const times = { nowMs, leaseUntilMs: nowMs + LEASE_MS };
  const job = await core.store.claimJob(owner, times, WAITING_EVENTS_MAX);
  if (job === null) return false;
  const hold = { id: job.id, providerId: job.providerId, owner, afterId: job.afterId };
  if (!(await mayGoOn(core, job))) {
    await core.store.failJob(hold, 'no_right', nowMs);
    return true;
  }
  let work: JobWork;
  try {
    work = readWork(job);
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : 'it cannot be read';
    await core.store.failJob(hold, reason, nowMs);
    return true;
  }
  if ('filter' in work && isBulk(job)) await stepLinks(core, hold, job, work, nowMs);
  else if ('linkId' in work) await workOnSlots(core, hold, work, nowMs);
  return true;
}

async function stepLinks(
  core: Core,
  hold: JobHold,
  { afterId, providerCode: code }: Job,
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
  const change = work.kind === 'links.change' ? work.change : null;
  const links = change === null ? lightOf(found) : found;
  const isAll = links.length === found.length;
  const nextId = isAll ? beyondId : (links.at(-1)?.id ?? null);
  await core.store.stepLinks(hold, { linkIds: links.map(({ id }) => id), change, nextId, nowMs });
}

/** The first links whose removal, slot by slot, is a step. */
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
  // The next step draws another code.
  if (typeof done === 'string') return;
  // Their streams end now.
  for (const deviceId of done.deviceIds) core.signals.messagesFor(deviceId);
}
