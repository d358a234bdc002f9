/**
 * Jobs of the console: changes of many links by a filter, and ends of slots. A job begins ten
 * seconds after the request; until then it can be undone and leaves no trace.
 */

import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import { filterAt, type LinkFilter } from '../link-filter.ts';
import { fromStore, Refused } from '../outcome.ts';
import type { AddedJob, Job, JobKind } from '../port/job.ts';
import type { OwnedLink } from '../port/link-view.ts';
import type { Provider } from '../port/provider.ts';
import { nextTurn } from '../turn.ts';
import {
  BULK_KINDS,
  type BulkChange,
  type JobWork,
  LINK_KINDS,
  readWork,
  WAITING_EVENTS_MAX,
} from './work.ts';

/** The time in which a person can undo a job, ms. */
export const UNDO_MS = 10_000;
/** The most unfinished jobs of a provider: over many links, and about one link. */
const BULK_MAX = 5;
const LINK_JOBS_MAX = 100;
const ENDED_SHOWN = 20;
const EXAMPLES = 5;

/** The effect of a change of many links. */
interface BulkPreview {
  count: number;
  /** Links with more devices than the new limit: they stay unchanged. */
  refusedCount: number;
  deviceCount: number;
  examples: Pick<OwnedLink, 'id' | 'installCode' | 'note' | 'installLimit' | 'deviceCount'>[];
}

async function add(
  core: Core,
  provider: Pick<Provider, 'id'>,
  work: JobWork,
  totalCount: number,
  nowMs: number,
): Promise<AddedJob | Refused<'job_limit_reached'>> {
  const { kind, ...params } = work;
  const isOfMany = BULK_KINDS.some((one) => one === kind);
  const among: readonly JobKind[] = isOfMany ? BULK_KINDS : LINK_KINDS;
  const added = await core.store.addJob({
    providerId: provider.id,
    kind,
    params: JSON.stringify(params),
    actor: core.actor(),
    totalCount,
    createdAtMs: nowMs,
    dueAtMs: nowMs + UNDO_MS,
    among,
    countMax: isOfMany ? BULK_MAX : LINK_JOBS_MAX,
  });
  if (added === 'job_limit_reached') return new Refused(added);
  core.signals.jobAdded();
  return added;
}

/**
 * Adds a job that changes all links that match now, or removes them if the change is null. Refuses
 * `job_limit_reached` if the provider has too many unfinished jobs, `no_links` if no link matches,
 * `more_links_match` if more links match than the `shownCount` that the person saw (null: unknown).
 */
export async function changeLinks(
  core: Core,
  provider: Pick<Provider, 'id' | 'code'>,
  filter: LinkFilter,
  change: BulkChange | null,
  nowMs: number,
  shownCount: number | null = null,
): Promise<AddedJob | Refused<'job_limit_reached' | 'no_links' | 'more_links_match'>> {
  const matching = filterAt(provider, filter);
  const all = { providerCode: provider.code, isFull: false, status: null };
  const newest = { ...all, beyondId: null, isOldest: false, countMax: 1 };
  const [{ links }, count] = await Promise.all([
    core.store.listLinkSlice(newest),
    core.store.countLinks(matching),
  ]);
  const toId = links[0]?.id;
  if (toId === undefined || count === 0) return new Refused('no_links');
  if (shownCount !== null && count > shownCount) return new Refused('more_links_match');
  const work: JobWork =
    change === null
      ? { kind: 'links.remove', filter, toId }
      : { kind: 'links.change', filter, toId, change };
  return add(core, provider, work, count, nowMs);
}

/**
 * Returns the effect that {@link changeLinks} would have now. Reads all links, a slice in each
 * turn, until `signal` aborts.
 */
export async function previewChange(
  core: Core,
  provider: Pick<Provider, 'id' | 'code'>,
  filter: LinkFilter,
  change: BulkChange | null,
  signal?: AbortSignal,
): Promise<BulkPreview> {
  const matching = filterAt(provider, filter);
  const preview: BulkPreview = { count: 0, refusedCount: 0, deviceCount: 0, examples: [] };
  for (let beyondId: number | null = null; ; ) {
    const slice = { ...matching, beyondId, isOldest: false, countMax: 500 };
    const { links, nextId } = await core.store.listLinkSlice(slice);
    for (const link of links) {
      const { id, installCode, note, installLimit, deviceCount } = link;
      preview.count += 1;
      preview.deviceCount += deviceCount;
      const limit = change?.installLimit;
      const isRefused = limit !== undefined && limit < deviceCount && limit !== installLimit;
      if (isRefused && !change?.asTheyLeave) {
        preview.refusedCount += 1;
      }
      if (preview.examples.length < EXAMPLES) {
        preview.examples.push({ id, installCode, note, installLimit, deviceCount });
      }
    }
    if (nextId === null || signal?.aborted) return preview;
    beyondId = nextId;
    // A full slice comes without a turn, and SQLite answers at once.
    await nextTurn();
  }
}

/**
 * Adds a job that frees the slot of a HWID, or all slots of a link, or gives it a new code. Refuses
 * `install_not_found` if the provider has no such link, and `job_limit_reached`.
 */
export async function endSlotsLater(
  core: Core,
  provider: Pick<Provider, 'id'>,
  work: Extract<JobWork, { linkId: number }>,
  nowMs: number,
): Promise<AddedJob | Refused<'job_limit_reached' | 'install_not_found'>> {
  const link = await core.store.findLinkById(work.linkId);
  if (link?.providerId !== provider.id) return new Refused('install_not_found');
  return add(core, provider, work, 1, nowMs);
}

/** Undoes a job, or stops it before its next step. Refuses `job_not_found` and `job_ended`. */
export async function cancelJob(
  core: Core,
  provider: Pick<Provider, 'id'>,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'job_not_found' | 'job_ended'>> {
  return fromStore(await core.store.cancelJob(provider.id, id, actAt(core, nowMs)));
}

/**
 * Lists the provider's unfinished jobs and the last ended ones. `work` is null if this version
 * cannot read it.
 */
export async function listJobs(
  core: Core,
  provider: Pick<Provider, 'id'>,
): Promise<(Job & { isHeld: boolean; work: JobWork | null })[]> {
  const jobs = await core.store.listJobs(provider.id, ENDED_SHOWN, WAITING_EVENTS_MAX);
  return jobs.map((job) => ({ ...job, work: readWork(job) }));
}
