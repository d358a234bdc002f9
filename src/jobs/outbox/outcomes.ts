/**
 * The outcomes of a run that are not saved yet. They are saved together, and kept when a save
 * fails. Each save renews the lease of the destination.
 */

import type { Clock } from '../../base/clock.ts';
import type { DestinationHealth, OutboxStore, Settlement } from '../../core/port/outbox.ts';

/** The lease of a destination: another process may claim it after this time without a save, ms. */
export const LEASE_MS = 30_000;
/** The longest attempt, ms: 5 s for a place or an access token each, 15 or 10 s for the call. */
const ATTEMPT_MAX_MS = 20_000;
/** The age of a lease from which no attempt begins, because the lease could end before it, ms. */
const LEASE_TRUST_MS = LEASE_MS - ATTEMPT_MAX_MS - 1_000;
/** Outcomes that are saved without waiting for more, and the most in one step. */
const AT_ONCE_COUNT = 250;
const STEP_COUNT_MAX = 512;
/** The pause after a save that failed, ms. */
const PAUSE_MS = 1_000;

interface OutcomesHost {
  store: Pick<OutboxStore, 'settleDispatches'>;
  clock: Clock;
  owner: string;
  destinationId: number;
  /** Requests a save soon, together with those of other runs. */
  saveSoon(): void;
  /** Called when a save has ended or may be tried again. */
  onChange(): void;
  /** Called when another process has claimed the destination. */
  onLost(): void;
  onFault(fault: unknown): void;
  onSaved(): void;
}

export class Outcomes {
  #pending: Settlement[] = [];
  #isHealthChanged = false;
  #disables: string | null = null;
  /** The outcomes of the save in progress; null: none is. */
  #saving: readonly Settlement[] | null = null;
  /** True: the last save failed. */
  #hasFailed = false;
  /** True: a failed save is not tried again yet. */
  #isPausing = false;
  #isAbandoned = false;
  #renewedMs: number;

  constructor(
    private readonly host: OutcomesHost,
    private health: DestinationHealth,
  ) {
    this.#renewedMs = host.clock.steadyMs();
  }

  get isSaved(): boolean {
    return this.#pending.length === 0 && this.#saving === null && !this.#isHealthChanged;
  }

  /** False: outcomes must be saved or the lease renewed before another attempt. */
  get mayGrow(): boolean {
    const count = this.#pending.length + (this.#saving?.length ?? 0);
    return !this.#hasFailed && count < STEP_COUNT_MAX && this.isLeaseFresh;
  }

  get isLeaseFresh(): boolean {
    return this.host.clock.steadyMs() - this.#renewedMs < LEASE_TRUST_MS;
  }

  /** True: the outcomes are so many or so important that they are saved at once. */
  get isPressing(): boolean {
    return this.#pending.length >= AT_ONCE_COUNT || this.#disables !== null;
  }

  /** Returns the ids of the dispatches whose outcomes are not saved. */
  ids(): number[] {
    return [...(this.#saving ?? []), ...this.#pending].map(({ id }) => id);
  }

  add(settlement: Settlement): void {
    this.#pending.push(settlement);
    if (this.#pending.length === 1) this.host.saveSoon();
  }

  /** Notes the health, which the next save writes. */
  setHealth(health: DestinationHealth): void {
    this.health = health;
    this.#isHealthChanged = true;
  }

  /** Makes the next save disable the webhook. */
  disable(why: string): void {
    this.#disables ??= why;
  }

  /** Saves, unless a save is in progress; renews the lease alone if there is no outcome. */
  save(): void {
    if (this.#saving === null && !this.#isPausing) void this.#save();
  }

  /** Drops the outcomes if the next save fails. */
  abandon(): void {
    this.#isAbandoned = true;
    if (this.#isPausing) this.#drop();
  }

  async #save(): Promise<void> {
    const { store, clock, owner, destinationId, onSaved, onLost, onFault } = this.host;
    const batch = this.#pending.splice(0, STEP_COUNT_MAX);
    const disables = this.#disables;
    const beganMs = clock.steadyMs();
    this.#saving = batch;
    this.#isHealthChanged = false;
    this.#disables = null;
    try {
      const lease = { owner, nowMs: clock.nowMs(), leaseMs: LEASE_MS, destinationId };
      const isHeld = await store.settleDispatches(lease, batch, this.health, disables);
      this.#renewedMs = beganMs;
      this.#hasFailed = false;
      onSaved();
      if (!isHeld) {
        // The new holder saves the health.
        this.#isHealthChanged = false;
        onLost();
      }
    } catch (fault) {
      this.#pending.unshift(...batch);
      this.#disables ??= disables;
      this.#isHealthChanged = true;
      this.#hasFailed = true;
      onFault(fault);
      if (this.#isAbandoned) this.#drop();
      else this.#pause();
    }
    this.#saving = null;
    if (this.#pending.length > 0) this.host.saveSoon();
    this.host.onChange();
  }

  #pause(): void {
    this.#isPausing = true;
    void this.host.clock.sleep(PAUSE_MS).then(() => {
      this.#isPausing = false;
      this.host.onChange();
    });
  }

  #drop(): void {
    this.#pending = [];
    this.#isHealthChanged = false;
    this.#disables = null;
  }
}
