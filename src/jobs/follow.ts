/**
 * Follows panels: claims those whose pass is due, so that one node makes it, and notes how it went.
 * After failures a panel is asked less often.
 */

import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import { isPanelRefusal, OperatorError } from '../base/operator-error.ts';
import { HOUR_MS } from '../core/calendar.ts';
import { actingAs, type Core } from '../core/core.ts';
import { type FollowLine, FollowLost, followPanel } from '../core/moving/follow.ts';
import type { FollowRules } from '../core/moving/follow-parts.ts';
import type { Listing } from '../core/moving/follow-user.ts';
import { PANEL } from '../core/panel/actor.ts';
import type { Follow, FollowHold, FollowOutcome } from '../core/port/follow.ts';
import { isAway } from '../core/port/store.ts';
import { nextTurn } from '../core/turn.ts';

/** A panel that the settings follow. */
export interface FollowedPanel extends FollowRules {
  providerCode: string;
  /** Time between two passes, ms. */
  everyMs: number;
  /** Reads all users; `signal` ends it. Throws `OperatorError`. */
  read(listing: Listing, signal: AbortSignal): AsyncIterable<FollowLine>;
}

interface FollowDeps {
  core: Core;
  clock: Clock;
  log: Log;
  /** The panels of the settings, read at each look. */
  panels(): readonly FollowedPanel[];
}

export interface Follower {
  /** Begins the passes that are due; every few seconds. */
  tick(): Promise<void>;
  /** Resolves when no pass is in progress. */
  idle(): Promise<void>;
  /** Stops passes between two steps; a later one takes them over. */
  stop(): Promise<void>;
}

/** The time after which another node takes a pass over, ms; it is prolonged thrice in it. */
const LEASE_MS = 60_000;
/** Panels that a node reads at a time: each takes a process. */
const PASSES_MAX = 2;
/** The longest wait after failures, ms, unless passes are rarer. */
const BACKOFF_MAX_MS = 3_600_000;

/** Makes the worker that follows panels under a name of its own. */
export function makeFollower(deps: FollowDeps): Follower {
  const { clock, core, log, panels } = deps;
  const stopping = new AbortController();
  const passes = new Map<string, Promise<void>>();

  async function pass(panel: FollowedPanel): Promise<void> {
    try {
      await new PanelPass(deps, panel, stopping.signal).run();
    } catch (fault) {
      if (!isAway(fault)) log.error('job_fault', { job: 'follow', reason: reasonOf(fault) });
    }
  }

  return {
    async tick() {
      const all = panels();
      if (all.length === 0) return;
      const known = await core.store.listFollows();
      const nowMs = clock.nowMs();
      const due = all
        .map((panel) => ({ panel, follow: known.find(({ host }) => host === panel.host) }))
        .filter(({ follow }) => (follow?.nextAtMs ?? 0) <= nowMs)
        // Those that another node has go last.
        .sort((one, two) => (one.follow?.claimedAtMs ?? 0) - (two.follow?.claimedAtMs ?? 0));
      for (const { panel } of due) {
        if (stopping.signal.aborted || passes.size >= PASSES_MAX) return;
        const { host } = panel;
        if (passes.has(host)) continue;
        passes.set(
          host,
          pass(panel).finally(() => passes.delete(host)),
        );
      }
    },
    idle: async () => {
      await Promise.all(passes.values());
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(passes.values());
    },
  };
}

const hourOf = (atMs: number) => Math.floor(atMs / HOUR_MS);

class PanelPass {
  /** Aborts with the server, or when another node has the claim. */
  readonly #ending = new AbortController();
  #hold: Omit<FollowHold, 'nowMs' | 'leaseUntilMs'> = { id: 0, owner: '' };

  constructor(
    private readonly deps: FollowDeps,
    private readonly panel: FollowedPanel,
    private readonly stopping: AbortSignal,
  ) {}

  async run(): Promise<void> {
    const { clock, core } = this.deps;
    const { host, kind, providerCode } = this.panel;
    const owner = await core.store.nameWorker();
    this.#hold = { id: 0, owner };
    const source = `${providerCode}/${kind}`;
    const hashKey = crypto.getRandomValues(new Uint8Array(32)).toHex();
    const claimed = await core.store.claimFollow(host, { source, hashKey }, this.#held());
    if (claimed === null) return;
    this.#hold.id = claimed.id;
    const begunMs = clock.steadyMs();
    const follow = claimed.source === source ? claimed : await this.#begin(claimed, source);
    const outcome = follow && (await this.#kept(() => this.#pass(follow)));
    if (follow === null || outcome === null || this.#isOver) return;
    const tookMs = Math.round(clock.steadyMs() - begunMs);
    const nextAtMs = clock.nowMs() + this.#pauseMs(follow, outcome);
    await core.store.endFollow(this.#held(), { ...outcome, tookMs, nextAtMs });
    this.#log(follow, outcome, tookMs);
  }

  get #isOver(): boolean {
    return this.stopping.aborted || this.#ending.signal.aborted;
  }

  #held(): FollowHold {
    const nowMs = this.deps.clock.nowMs();
    return { ...this.#hold, nowMs, leaseUntilMs: nowMs + LEASE_MS };
  }

  /** Forgets the users of another provider or panel; null: the claim was lost. */
  async #begin(follow: Follow, source: string): Promise<Follow | null> {
    const { store } = this.deps.core;
    for (;;) {
      const hasMore = await store.emptyFollow(this.#held(), source);
      if (hasMore === 'lost') return null;
      if (!hasMore) return { ...follow, source, view: null, pass: null, held: null };
      await nextTurn();
    }
  }

  /** Prolongs the claim while `work` runs. */
  async #kept<T>(work: () => Promise<T>): Promise<T> {
    const prolong = async () => {
      const isHeld = await this.deps.core.store
        .stepFollow(this.#held(), { put: [], drop: [] })
        // The work meets the same fault.
        .catch(() => true);
      if (!isHeld) this.#ending.abort();
    };
    const timer = setInterval(prolong, LEASE_MS / 3);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  /** Makes the pass; null: it has no end that could be noted. */
  async #pass(follow: Follow): Promise<FollowOutcome | null> {
    const { clock, log } = this.deps;
    const { panel } = this;
    const core = actingAs(this.deps.core, () => PANEL);
    const provider = await core.store.findProvider(panel.providerCode);
    if (provider === null) {
      const reason = `there is no provider ${panel.providerCode}`;
      return { problem: 'provider_not_found', reason };
    }
    const { hashKey } = follow;
    const signal = AbortSignal.any([this.stopping, this.#ending.signal]);
    const parts = {
      core,
      provider,
      follow,
      rules: panel,
      nowMs: clock.nowMs,
      readsFigures: hourOf(follow.pass?.atMs ?? 0) !== hourOf(clock.nowMs()),
      hold: () => this.#held(),
      signal,
    };
    try {
      return await followPanel(parts, panel.read({ hashKey, withNotes: panel.withNotes }, signal));
    } catch (fault) {
      if (fault instanceof FollowLost || this.#isOver) return null;
      if (fault instanceof OperatorError) {
        const problem = isPanelRefusal(fault) ? 'refused' : 'unreadable';
        return { problem, reason: fault.message };
      }
      if (isAway(fault)) throw fault;
      log.error('job_fault', { job: 'follow', reason: reasonOf(fault) });
      return { problem: 'fault', reason: 'the log of the server has the fault' };
    }
  }

  /** Returns the time until the next pass, ms. */
  #pauseMs({ failure }: Follow, outcome: FollowOutcome): number {
    const { everyMs } = this.panel;
    if ('counts' in outcome || outcome.held !== undefined) return everyMs;
    const count = failure?.count ?? 0;
    return Math.min(everyMs * 2 ** Math.min(count, 10), Math.max(everyMs, BACKOFF_MAX_MS));
  }

  #log(follow: Follow, outcome: FollowOutcome, tookMs: number): void {
    const { log } = this.deps;
    const { gone, host } = this.panel;
    if ('counts' in outcome) {
      const { addedCount, changedCount, goneCount, userCount } = outcome.counts;
      if (goneCount > 0) log.warn('follow_gone', { host, count: goneCount, links: gone });
      if (addedCount + changedCount + goneCount === 0 && follow.failure === null) return;
      const counts = { added: addedCount, changed: changedCount, gone: goneCount };
      log.info('follow_passed', { host, users: userCount, ...counts, took_ms: tookMs });
      return;
    }
    const { problem, reason } = outcome;
    // Once for all that follow it.
    if (follow.failure?.problem !== problem) log.warn('follow_failed', { host, problem, reason });
  }
}
