/** Calls of the console for changes that take long or can be undone. */

import { type Static, Type } from '@sinclair/typebox';
import { LOOK, SEND, SUPPORT } from '../core/account/roles.ts';
import { readHwid } from '../core/formats.ts';
import { cancelJob, changeLinks, endSlotsLater, listJobs, previewChange } from '../core/job/job.ts';
import { JOB_ROLES, mayDo } from '../core/job/right.ts';
import type { BulkChange } from '../core/job/work.ts';
import { readLinkChange } from '../core/link-form.ts';
import { isRefused, type Misfit, malformed, Refused } from '../core/outcome.ts';
import { lookCall, paidCall, staffCall } from './call.ts';
import { refusedFilter } from './figures.ts';
import { atProvider, id, inputOf, nullable, text } from './inputs.ts';
import { linkFilterInput } from './link-filter-input.ts';
import { linkChangeInput } from './link-panel-calls.ts';

/** The new values of many links; null: the links are removed. */
const change = nullable(inputOf(linkChangeInput));

/** Parses a change; null: the links are removed. */
function readChange(given: Static<typeof change>): BulkChange | null | Misfit {
  if (given === null) return null;
  const read = readLinkChange(given);
  if (isRefused(read)) return read;
  return Object.keys(read).length === 0 ? malformed('nothing to change is given') : read;
}

const slotInput = atProvider({ linkId: id });

export const jobCalls = {
  'jobs.list': lookCall(LOOK, atProvider({}), async ({ core, nowMs, provider, signedIn }) => {
    const jobs = await listJobs(core, provider);
    return {
      nowMs,
      jobs: jobs.map(({ actor, work, ...job }) => ({
        id: job.id,
        state: job.state,
        by: actor.name,
        problem: job.problem,
        /** True: it waits until a webhook has taken more of its events. */
        isHeld: job.isHeld,
        /** True: the person may undo or stop the job. */
        mayStop: mayDo(job.kind, signedIn.grants, provider.id),
        totalCount: job.totalCount,
        seenCount: job.seenCount,
        work,
        changedCount: job.changedCount,
        createdAtMs: job.createdAtMs,
        dueAtMs: job.dueAtMs,
        endedAtMs: job.endedAtMs,
      })),
    };
  }),
  /** The right depends on the job: support may undo the slots that it frees, but no bulk change. */
  'jobs.cancel': staffCall(
    SUPPORT,
    ['install.update-many', 'install.remove-many'],
    atProvider({ id }),
    async ({ core, nowMs, provider, signedIn }, given) => {
      const job = await core.store.findJob(provider.id, given.id);
      if (job !== null && !mayDo(job.kind, signedIn.grants, provider.id)) {
        return new Refused('no_right');
      }
      return cancelJob(core, provider, given.id, nowMs);
    },
  ),
  'links.bulk-preview': lookCall(
    SEND,
    atProvider({ filter: linkFilterInput, change }),
    async (staff, given) => {
      const { core, provider, signal } = staff;
      const read = refusedFilter(staff, given.filter) ?? readChange(given.change);
      return isRefused(read) ? read : previewChange(core, provider, given.filter, read, signal);
    },
  ),
  'links.bulk': paidCall(
    SEND,
    ['install.update-many', 'install.remove-many'],
    atProvider({
      filter: linkFilterInput,
      change,
      /** The number of links in the preview. */
      shownCount: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    async (staff, { filter, change: wanted, shownCount }) => {
      const { core, nowMs, provider } = staff;
      const read = refusedFilter(staff, filter) ?? readChange(wanted);
      if (isRefused(read)) return read;
      return changeLinks(core, provider, filter, read, nowMs, shownCount);
    },
  ),
  'slots.free': paidCall(
    JOB_ROLES['link.free'],
    ['hwid.delete'],
    atProvider({ linkId: id, hwid: text(128) }),
    async ({ core, nowMs, provider }, { linkId, hwid: given }) => {
      const hwid = readHwid(given);
      if (isRefused(hwid)) return hwid;
      const work = { kind: 'link.free', linkId, hwid } as const;
      return endSlotsLater(core, provider, work, nowMs);
    },
  ),
  'slots.free-all': paidCall(
    JOB_ROLES['link.free-all'],
    ['install.free'],
    slotInput,
    async ({ core, nowMs, provider }, { linkId }) => {
      const work = { kind: 'link.free-all', linkId } as const;
      return endSlotsLater(core, provider, work, nowMs);
    },
  ),
  'links.revoke': paidCall(
    JOB_ROLES['link.revoke'],
    ['install.revoke'],
    slotInput,
    async ({ core, nowMs, provider }, { linkId }) => {
      const work = { kind: 'link.revoke', linkId } as const;
      return endSlotsLater(core, provider, work, nowMs);
    },
  ),
};
