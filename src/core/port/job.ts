/** Jobs: changes that take long, or that begin later so that they can be undone. */

import type { Act, Actor } from './audit.ts';
import type { LinkChange } from './link.ts';

const JOB_KINDS = [
  'links.change',
  'links.remove',
  'link.free',
  'link.free-all',
  'link.revoke',
] as const;

export type JobKind = (typeof JOB_KINDS)[number];
type JobState = 'waiting' | 'running' | 'done' | 'cancelled' | 'failed';

export interface Job {
  id: number;
  providerId: number;
  providerCode: string;
  kind: JobKind;
  /** The work as JSON: see `JobWork` of core/job/work.ts. */
  params: string;
  /** The actor of its entry in the audit log. */
  actor: Actor;
  state: JobState;
  /** The id of the last processed link. */
  afterId: number;
  /** The number of links that matched when the job was added; processed ones; changed ones. */
  totalCount: number;
  seenCount: number;
  changedCount: number;
  /** The reason of its failure; null: none. */
  problem: string | null;
  createdAtMs: number;
  dueAtMs: number;
  endedAtMs: number | null;
}

export interface NewJob
  extends Pick<
    Job,
    'providerId' | 'kind' | 'params' | 'actor' | 'totalCount' | 'createdAtMs' | 'dueAtMs'
  > {
  /**
   * Kinds of jobs, of which the provider may have `countMax` unfinished ones, the new one included.
   */
  among: readonly JobKind[];
  countMax: number;
}

export interface AddedJob {
  id: number;
  /** Until this time the job can be undone without a trace. */
  dueAtMs: number;
}

/** A worker's claim on a job, and the position at which the worker read it. */
export interface JobHold {
  id: number;
  providerId: number;
  owner: string;
  afterId: number;
  /** As `entriesMax` of an act, for the entry at the end. */
  entriesMax?: number;
}

/** A step of a bulk change. */
export interface LinksStep {
  linkIds: readonly number[];
  /** The change; null: the links are removed. */
  change: LinkChange | null;
  /** The position after the step; null: this is the last step. */
  nextId: number | null;
  nowMs: number;
}

/** The work of a job on the slots of one link. */
export interface SlotsWork {
  linkId: number;
  /** The HWID; null: all slots. */
  hwid: string | null;
  /** The new code of a revoked link; null: the link is not revoked. */
  installCode: string | null;
  nowMs: number;
}

/**
 * Steps on jobs. A step of a job changes links and saves its position in one commit, so that each
 * link is processed once. The end of a job adds its entry to the audit log.
 */
export interface JobStore {
  /**
   * Adds a job. If an equal job of the same person still waits, returns that one, so that a second
   * click adds none. Returns `job_limit_reached` beyond `countMax`.
   */
  addJob(draft: NewJob): Promise<AddedJob | 'job_limit_reached'>;
  /** Finds a job of a provider; null: it has none with the id. */
  findJob(providerId: number, id: number): Promise<Job | null>;
  /**
   * Lists the provider's unfinished jobs and the last `countMax` others, newest first. `isHeld`:
   * {@link claimJob} passes over it, because so many events wait for a webhook.
   */
  listJobs(
    providerId: number,
    countMax: number,
    waitingMax: number,
  ): Promise<(Job & { isHeld: boolean })[]>;
  /**
   * Ends a waiting or running job. If it has changed links already, its entry in the audit log
   * names the person who stopped it. Returns `job_not_found`, or `job_ended` if it has ended.
   */
  cancelJob(
    providerId: number,
    id: number,
    act: Act,
  ): Promise<'ok' | 'job_not_found' | 'job_ended'>;
  /**
   * Claims the job that has been due longest, until `leaseUntilMs`, unless another worker holds it.
   * A job over many links waits while an enabled webhook of its provider has `waitingMax` waiting
   * events. Returns null if there is none.
   */
  claimJob(
    owner: string,
    times: { nowMs: number; leaseUntilMs: number },
    waitingMax: number,
  ): Promise<Job | null>;
  /**
   * Changes or removes links and saves the position. The job then waits behind other due jobs.
   * Returns false, without a change, if the claim was lost.
   */
  stepLinks(hold: JobHold, step: LinksStep): Promise<boolean>;
  /**
   * Frees a slot or all slots of a link, or revokes it, and ends the job. Waits for a `turn`
   * between steps. Returns `lost` for a lost claim, `install_code_exists` for a new code that is
   * taken, else the devices whose tokens may have ended.
   */
  workOnSlots(
    hold: JobHold,
    work: SlotsWork,
    turn?: () => Promise<void>,
  ): Promise<'lost' | 'install_code_exists' | { deviceIds: readonly number[] }>;
  /** Ends a job that cannot continue, unless the claim was lost. */
  failJob(hold: JobHold, problem: string, nowMs: number): Promise<void>;
  /** Returns the time from which this worker may claim a job, UTC ms; null: there is none. */
  findNextJobMs(owner: string): Promise<number | null>;
  /** Deletes some jobs that ended before this time. Returns true if there may be more. */
  forgetJobs(endedBeforeMs: number): Promise<boolean>;
}
