/** The readiness of this process, for `/readyz`. */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { innermostReason } from '../core/outcome.ts';
import type { Unfitness } from '../core/port/health.ts';
import type { Store } from '../core/port/store.ts';

/** How long a good or bad result of the database is reused, ms. */
const GOOD_MS = 5_000;
const BAD_MS = 1_000;
/** The time after which a write counts as failed, ms. */
const PATIENCE_MS = 3_000;

interface Problem {
  reason: 'starting' | 'stopping' | 'database_not_writable' | Unfitness;
  /** One sentence for people. */
  detail: string;
}

const STARTING: Problem = { reason: 'starting', detail: 'the server does not listen yet' };
const STOPPING: Problem = {
  reason: 'stopping',
  detail: 'the server finishes running work and stops',
};
const NEWER = 'a newer version has migrated the database: restart with that version';
const DETAILS: Readonly<Record<Unfitness, string>> = {
  schema_changed: NEWER,
  schema_newer: NEWER,
  database_unreachable: 'the database server does not answer',
  database_read_only: 'the database accepts no writes: it is a standby',
  database_moved: 'the data moved elsewhere, or a move is incomplete: see gatepost move-database',
  clock_off: 'the clocks of this machine and of the database differ by more than 2 s',
};

const notWritable = (detail: string): Problem => ({ reason: 'database_not_writable', detail });

export class Readiness {
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  #latest: { atMs: number; problem: Problem | null } | null = null;
  #asking: Promise<Problem | null> | null = null;

  constructor(
    private readonly store: Pick<Store, 'checkWritable'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Notes that the server listens. */
  serving(): void {
    this.#phase = 'serving';
  }

  /** Notes that the server stops: no new requests should arrive. */
  stopping(): void {
    this.#phase = 'stopping';
  }

  /** Discards the last result of the database, after the start or the end of an outage. */
  askAgain(): void {
    this.#latest = this.#latest && { ...this.#latest, atMs: Number.NEGATIVE_INFINITY };
  }

  /**
   * Returns the reason why the process is not ready; null: it is. Checks the database by a write,
   * at most once in some seconds.
   */
  async problem(): Promise<Problem | null> {
    if (this.#phase === 'starting') return STARTING;
    if (this.#phase === 'stopping') return STOPPING;
    const { clock } = this;
    const before = this.#latest;
    const holdsMs = before?.problem === null ? GOOD_MS : BAD_MS;
    if (before && clock.steadyMs() - before.atMs < holdsMs) return before.problem;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(): Promise<Problem | null> {
    const problem = await Promise.race([
      this.#write(),
      this.clock.sleep(PATIENCE_MS).then(() => notWritable('a write takes longer than 3 s')),
    ]);
    const wasGood = (this.#latest?.problem ?? null) === null;
    if (problem !== null && wasGood) this.log.warn('not_ready', { ...problem });
    if (problem === null && !wasGood) this.log.info('ready_again');
    this.#latest = { atMs: this.clock.steadyMs(), problem };
    return problem;
  }

  async #write(): Promise<Problem | null> {
    try {
      const state = await this.store.checkWritable();
      return state === 'ok' ? null : { reason: state, detail: DETAILS[state] };
    } catch (fault) {
      return notWritable(innermostReason(fault));
    }
  }
}
