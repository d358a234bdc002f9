/**
 * Makes cut-offs that wait: one attempt at a time for each upstream, so that a slow panel delays no
 * other. An attempt is claimed first, so that one node makes it; one that failed comes again later.
 */

import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import { SYSTEM } from '../core/audit/entry.ts';
import { actingAs, type Core } from '../core/core.ts';
import { cutHosts, cutPlaceOf, endAttempt, endOldCut } from '../core/cut-off.ts';
import {
  type CutOutcome,
  type CutUpstream,
  isSamePanel,
  type PanelCuts,
} from '../core/panel/cut-off.ts';
import type { Cut } from '../core/port/cut-off.ts';
import { isAway } from '../core/port/store.ts';
import { nextTurn } from '../core/turn.ts';

interface CutterDeps {
  core: Core;
  clock: Clock;
  log: Log;
  cuts: PanelCuts;
  settings: {
    /** The most cut-offs that begin within an hour for one provider. */
    readonly cutsPerHourMax: number;
  };
}

export interface Cutter {
  /** Begins the attempts that are due; every few seconds. */
  tick(): Promise<void>;
  /** Resolves when no attempt is in progress. */
  idle(): Promise<void>;
  /** Ends attempts in progress; they are made again later. */
  stop(): Promise<void>;
}

/** The time within which an attempt may change something, ms. */
const ATTEMPT_MS = 60_000;
/** The time after which another node makes it, ms: reading back takes up to 1.5 minutes more. */
const LEASE_MS = 3 * ATTEMPT_MS;
/** Attempts that a tick makes at one upstream. */
const ATTEMPTS_MAX = 50;

/** Makes the worker that makes cut-offs under a name of its own. */
export function makeCutter({ core: any, clock, log, cuts, settings }: CutterDeps): Cutter {
  const core = actingAs(any, () => SYSTEM);
  const { store } = core;
  const stopping = new AbortController();
  const working = new Map<string, Promise<void>>();

  const report = (fault: unknown) => {
    if (!isAway(fault)) log.error('job_fault', { job: 'cut-off', reason: reasonOf(fault) });
  };

  /** Asks the panel, if it still proves the key of the link. */
  async function attempt(upstream: CutUpstream, cut: Cut): Promise<CutOutcome> {
    const { installId, keyHash, providerId, seen } = cut;
    const facts = await store.findCutFacts(providerId, { installCode: null, installId });
    if (facts === null || keyHash === null || facts.keyHash !== keyHash) {
      return { is: 'impossible', why: 'the link has got another subscription key since' };
    }
    const place = cutPlaceOf(core, facts);
    if (place.host === null) return { is: 'impossible', why: place.why };
    const proved = cutHosts(core).find(({ host }) => host === place.host);
    if (proved === undefined || !isSamePanel(proved, upstream)) {
      return { is: 'impossible', why: 'another panel has proved the key of the link since' };
    }
    const deadline = AbortSignal.any([stopping.signal, AbortSignal.timeout(ATTEMPT_MS)]);
    return cuts.changeCredentials(upstream, { subscriptionKeyHash: keyHash, seen }, deadline);
  }

  async function work(upstream: CutUpstream): Promise<void> {
    const { host } = upstream;
    const owner = await store.nameWorker();
    for (let made = 0; made < ATTEMPTS_MAX && !stopping.signal.aborted; made += 1) {
      const nowMs = clock.nowMs();
      const leaseUntilMs = nowMs + LEASE_MS;
      const claim = { owner, nowMs, leaseUntilMs, perHourMax: settings.cutsPerHourMax };
      const cut = await store.claimCut(host, claim);
      if (cut === null) return;
      const outcome = await attempt(upstream, cut).catch((fault): CutOutcome => {
        report(fault);
        return { is: 'failed', why: 'an internal fault, see the log of the server', seen: null };
      });
      await endAttempt(core, cut, owner, outcome, clock.nowMs());
      logEnd(host, cut, outcome);
      await nextTurn();
    }
  }

  function logEnd(host: string, { id, attemptCount }: Cut, outcome: CutOutcome): void {
    if (outcome.is === 'differs') {
      log.error('cut_off_differs', { host, id, fields: outcome.fields.join(',') });
    }
    // Once for all attempts of a cut-off.
    if (outcome.is === 'failed' && attemptCount === 1) {
      log.warn('cut_off_failed', { host, id, reason: outcome.why });
    }
  }

  return {
    async tick() {
      while (await endOldCut(core, clock.nowMs())) await nextTurn();
      for (const upstream of cutHosts(core)) {
        const { host } = upstream;
        // A setting that is missing may come within the day.
        const isReady = !working.has(host) && cuts.canCut(upstream).possible;
        if (stopping.signal.aborted || !isReady) continue;
        const done = work(upstream)
          .catch(report)
          .finally(() => working.delete(host));
        working.set(host, done);
      }
    },
    idle: async () => {
      await Promise.all(working.values());
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(working.values());
    },
  };
}
