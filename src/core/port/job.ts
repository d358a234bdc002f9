/** Jobs: changes that take long, or begin later so that they can be taken back. */

import type { Act, Actor } from './audit.ts';
import type { InstallChange } from './install.ts';

export const JOB_KINDS = [
  'links.change',
  'links.remove',
  'link.free',
  'link.free-all',
  'link.revoke',
] as const;

export type JobKind = (typeof JOB_KINDS)[number];
export type JobState = 'waiting' | 'running' | 'done' | 'cancelled' | 'failed';

export interface Job {
  id: number;
  providerId: number;
  providerCode: string;
  kind: JobKind;
  /** What it does, as JSON: see `JobWork` of core/job/work.ts. */
  params: string;
  /** The person of its entry in the audit log. */
  actor: Actor;
  state: JobState;
  /** The id of the last link that was dealt with. */
  afterId: number;
  /** Links that matched when it was made; those that it dealt with; those that it changed. */
  totalCount: number;
  seenCount: number;
  changedCount: number;
  /** Why it failed; null: it did not. */
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
  /** Most unfinished jobs of the provider of these kinds, the new one included. */
  among: readonly JobKind[];
  countMax: number;
}

export interface AddedJob {
  id: number;
  /** Until then it can be taken back without a trace. */
  dueAtMs: number;
}

/** A worker's claim on a job, and the position at which the worker read it. */
export interface JobHold {
  id: number;
  providerId: number;
  owner: string;
  afterId: number;
}

/** A step of a change of many links. */
export interface LinksStep {
  linkIds: readonly number[];
  /** Null: the links are removed. */
  change: InstallChange | null;
  /** The position after the step; null: it is the last one. */
  nextId: number | null;
  nowMs: number;
}

/** What a job does to the slots of one link. */
export interface SlotsWork {
  linkId: number;
  /** Null: all of them. */
  hwid: string | null;
  /** The new code of a link that is revoked; null: it is not. */
  installCode: string | null;
  nowMs: number;
}

/**
 * Steps on jobs. A job's step changes its links and saves its position in one commit, so that each
 * link is dealt with once. The job's entry in the audit log is made with its end.
 */
export interface JobStore {
  /**
   * Adds a job; the same one of the same person that waits yet is returned instead, so that a
   * second click adds none. Returns `job_limit_reached` beyond `countMax`.
   */
  addJob(draft: NewJob): Promise<AddedJob | 'job_limit_reached'>;
  /** Finds a job of a provider; null: it has none with the id. */
  findJob(providerId: number, id: number): Promise<Job | null>;
  /** Lists the provider's unfinished jobs and the last `countMax` others, newest first. */
  listJobs(providerId: number, countMax: number): Promise<Job[]>;
  /**
   * Ends a job that waits or runs; if it changed links already, its entry in the audit log names
   * who stopped it. Returns `job_not_found`, or `job_ended` if it has ended.
   */
  cancelJob(
    providerId: number,
    id: number,
    act: Act,
  ): Promise<'ok' | 'job_not_found' | 'job_ended'>;
  /**
   * Claims the job that is due longest, until `leaseUntilMs`, unless another worker has it. One
   * over many links waits while an enabled webhook of its provider has `waitingMax` events waiting.
   * Returns null if there is none.
   */
  claimJob(
    owner: string,
    times: { nowMs: number; leaseUntilMs: number },
    waitingMax: number,
  ): Promise<Job | null>;
  /**
   * Changes or removes links, and saves the position, unless the claim is lost. The job then waits
   * behind other jobs that are due. Returns false for a lost claim.
   */
  stepLinks(hold: JobHold, step: LinksStep): Promise<boolean>;
  /**
   * Frees a slot or all slots of a link, or revokes it, and ends the job. Waits for a `turn`
   * between pieces of work. Returns `lost` for a lost claim, `install_code_exists` for a new code
   * that is taken, else the devices whose tokens may have died.
   */
  workOnSlots(
    hold: JobHold,
    work: SlotsWork,
    turn?: () => Promise<void>,
  ): Promise<'lost' | 'install_code_exists' | { deviceIds: readonly number[] }>;
  /** Ends a job that cannot go on, unless the claim is lost. */
  failJob(hold: JobHold, problem: string, nowMs: number): Promise<void>;
  /** Returns the time from which this worker may claim a job, UTC ms; null: there is none. */
  findNextJobMs(owner: string): Promise<number | null>;
  /** Deletes some jobs that ended before this time. Returns true if there may be more. */
  forgetJobs(endedBeforeMs: number): Promise<boolean>;
}
