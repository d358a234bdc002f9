/**
 * The outcomes of a run, on their way into the store: saved together, and kept when they cannot be.
 * Each save renews the lease.
 */

import type { Clock } from '../../clock.ts';
import type { DestinationHealth, OutboxStore, Settlement } from '../../core/port/outbox.ts';

/** Time for which a process that says nothing keeps a destination, ms. */
export const LEASE_MS = 30_000;
/** Longest attempt, ms: 5 s for a place or an access token each, and 15 or 10 s for the call. */
const ATTEMPT_MAX_MS = 20_000;
/** No attempt begins later after the last word of the lease, ms. */
const LEASE_TRUST_MS = LEASE_MS - ATTEMPT_MAX_MS - 1_000;
/** Outcomes that are saved without waiting for more, and the most in one step. */
const AT_ONCE_COUNT = 250;
const STEP_COUNT_MAX = 512;
/** Time until another attempt to save what could not be saved, ms. */
const PAUSE_MS = 1_000;

export interface OutcomesHost {
  store: Pick<OutboxStore, 'settleDispatches'>;
  clock: Clock;
  owner: string;
  destinationId: number;
  /** Has `save` called soon, together with those of other runs. */
  saveSoon(): void;
  /** Hears that a save ended, well or not. */
  onChange(): void;
  /** Hears that the destination is another's by now. */
  onLost(): void;
  onFault(fault: unknown): void;
  onSaved(): void;
}

export class Outcomes {
  #pending: Settlement[] = [];
  #hasNews = false;
  #disables: string | null = null;
  /** Outcomes that are being saved; null: none are, nor is the lease renewed. */
  #saving: readonly Settlement[] | null = null;
  /** The last save failed; and while it is not tried again yet. */
  #hasFailed = false;
  #isPausing = false;
  #isAbandoned = false;
  #renewedMs: number;

  constructor(
    private readonly host: OutcomesHost,
    private health: DestinationHealth,
  ) {
    this.#renewedMs = host.clock.steadyMs();
  }

  /** True: everything is on disk. */
  get isSaved(): boolean {
    return this.#pending.length === 0 && this.#saving === null && !this.#hasNews;
  }

  /** False: what is there must be saved first, or the lease renewed. */
  get mayGrow(): boolean {
    const count = this.#pending.length + (this.#saving?.length ?? 0);
    return !this.#hasFailed && count < STEP_COUNT_MAX && this.isLeaseFresh;
  }

  get isLeaseFresh(): boolean {
    return this.host.clock.steadyMs() - this.#renewedMs < LEASE_TRUST_MS;
  }

  /** True: there is so much, or so important, that it waits for no more. */
  get isPressing(): boolean {
    return this.#pending.length >= AT_ONCE_COUNT || this.#disables !== null;
  }

  /** Dispatches whose outcomes are not on disk yet. */
  ids(): number[] {
    return [...(this.#saving ?? []), ...this.#pending].map(({ id }) => id);
  }

  add(settlement: Settlement): void {
    this.#pending.push(settlement);
    if (this.#pending.length === 1) this.host.saveSoon();
  }

  /** Notes the health, which is saved with the next outcomes. */
  setHealth(health: DestinationHealth): void {
    this.health = health;
    this.#hasNews = true;
  }

  /** Has the webhook disabled by the next save. */
  disable(why: string): void {
    this.#disables ??= why;
  }

  /** Saves what is there, unless it is at it; without anything it renews the lease. */
  save(): void {
    if (this.#saving === null && !this.#isPausing) void this.#save();
  }

  /** Saves what is there once more, and gives up what then is left. */
  abandon(): void {
    this.#isAbandoned = true;
    if (this.#isPausing) this.#forget();
  }

  async #save(): Promise<void> {
    const { store, clock, owner, destinationId, onSaved, onLost, onFault } = this.host;
    const batch = this.#pending.splice(0, STEP_COUNT_MAX);
    const disables = this.#disables;
    const saidMs = clock.steadyMs();
    this.#saving = batch;
    this.#hasNews = false;
    this.#disables = null;
    try {
      const lease = { owner, nowMs: clock.nowMs(), leaseMs: LEASE_MS, destinationId };
      const isHeld = await store.settleDispatches(lease, batch, this.health, disables);
      this.#renewedMs = saidMs;
      this.#hasFailed = false;
      onSaved();
      if (!isHeld) {
        // Its health is for the holder to say.
        this.#hasNews = false;
        onLost();
      }
    } catch (fault) {
      this.#pending.unshift(...batch);
      this.#disables ??= disables;
      this.#hasNews = true;
      this.#hasFailed = true;
      onFault(fault);
      if (this.#isAbandoned) this.#forget();
      else this.#putOff();
    }
    this.#saving = null;
    if (this.#pending.length > 0) this.host.saveSoon();
    this.host.onChange();
  }

  #putOff(): void {
    this.#isPausing = true;
    void this.host.clock.sleep(PAUSE_MS).then(() => {
      this.#isPausing = false;
      this.host.onChange();
    });
  }

  #forget(): void {
    this.#pending = [];
    this.#hasNews = false;
    this.#disables = null;
  }
}
