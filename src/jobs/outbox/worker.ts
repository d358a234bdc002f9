/**
 * The worker of the outbox: claims destinations at which something is due, and starts a run for
 * each. FCM and APNs have places of their own. Push services share places, and so do webhooks with
 * Telegram; there, destinations that fail or are slow get no more than a share.
 */

import { reasonOf } from '../../base/log.ts';
import { Places } from '../../base/queue.ts';
import type { Destination, DestinationHealth, DestinationKind } from '../../core/port/outbox.ts';
import { isAway } from '../../core/port/store.ts';
import { WakeLoop } from '../wake-loop.ts';
import { PushContents } from './contents.ts';
import { Dispatcher, type OutboxDeps } from './dispatcher.ts';
import { LEASE_MS } from './outcomes.ts';
import { Paces } from './pace.ts';
import { OutboxRun, type RunHost } from './run.ts';

/** Destinations that share runs and places. */
interface Pool {
  kinds: readonly DestinationKind[];
  /** False: there is one destination, and its concurrency is the only bound. */
  isShared: boolean;
  runs: Set<OutboxRun>;
  paces: Paces;
  places: Places;
  slowPlaces: Places;
}

/** Runs, and attempts, at a time in a shared pool. */
const SHARED_MAX = 48;
/** Of these, runs of destinations that failed last or accepted nothing yet. */
const FAILING_MAX = 12;
/** Of these, runs and attempts of slow destinations. */
const SLOW_MAX = 24;

/** The time for which outcomes of all runs are gathered: a commit holds up all attempts, ms. */
const SAVE_SOON_MS = 40;
/** The time after which a run ends if others may wait, ms. */
const RUN_MS = 1_000;
/** The time that attempts have to end when the process stops, then to abort, ms. */
const FINISH_MS = 2_500;
const ABORT_MS = 1_000;

function makePool(...kinds: DestinationKind[]): Pool {
  const placesOf = (placesMax: number) =>
    new Places(() => ({ placesMax, waitingMax: Number.POSITIVE_INFINITY }));
  return {
    kinds,
    isShared: kinds[0] !== 'fcm' && kinds[0] !== 'apns',
    runs: new Set(),
    paces: new Paces(),
    places: placesOf(SHARED_MAX),
    slowPlaces: placesOf(SLOW_MAX),
  };
}

export class Outbox {
  /** The name under which it claims; empty before the first claim. */
  #owner = '';
  readonly #pools = [
    ...[makePool('fcm'), makePool('apns'), makePool('webpush')],
    makePool('webhook', 'telegram'),
  ];
  readonly #contents: PushContents;
  readonly #dispatcher: Dispatcher;
  readonly #aborting = new AbortController();
  /** Runs whose outcomes are saved together soon. */
  readonly #unsaved = new Set<OutboxRun>();
  /**
   * Runs that began before the last resumption; their outcomes may stop a gateway again after it.
   */
  readonly #earlier = new Set<OutboxRun>();
  readonly #loop: WakeLoop;
  /** True: a fault was logged, and the store has not answered since. */
  #hasFault = false;
  #onQuiet: (() => void) | null = null;

  constructor(private readonly deps: OutboxDeps) {
    const { core, clock, settings } = deps;
    const onFault = (fault: unknown) => this.#onFault(fault);
    this.#contents = new PushContents(core.store, settings);
    this.#dispatcher = new Dispatcher(deps, this.#contents, this.#aborting.signal, onFault);
    this.#loop = new WakeLoop({ core, clock, work: () => this.#work(), onFault });
    core.signals.onOutbox(() => this.wake());
  }

  /** Claims what is due, and once more if that is in progress. */
  wake(): void {
    this.#loop.wake();
  }

  /** Wakes the worker if something is due; to be called once a second. */
  tick(): void {
    this.#loop.tick();
  }

  /** Resumes stopped destinations, because the configuration may be new. Wakes the worker. */
  async resume(): Promise<void> {
    this.#contents.clear();
    for (const run of this.#runs()) this.#earlier.add(run);
    await this.#resumeStopped();
  }

  async #resumeStopped(): Promise<void> {
    const { core, log } = this.deps;
    try {
      const count = await core.store.resumeDestinations(this.#dispatcher.kinds());
      if (count > 0) log.info('outbox_resumed', { destinations: count });
    } catch (fault) {
      this.#onFault(fault);
    }
    this.wake();
  }

  /** Begins no further attempt, lets those in progress end, saves, and releases the leases. */
  async stop(): Promise<void> {
    const { core, clock } = this.deps;
    for (const run of this.#runs()) run.close();
    await this.#loop.stop();
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    this.#noteQuiet();
    for (const run of this.#runs()) run.close();
    await Promise.race([quiet, clock.sleep(FINISH_MS)]);
    this.#aborting.abort();
    for (const run of this.#runs()) run.abandon();
    await Promise.race([quiet, clock.sleep(ABORT_MS)]);
    if (this.#owner !== '') await core.store.releaseDestinations(this.#owner, null);
  }

  /** Claims destinations. Returns the time at which the next is due, UTC ms; null: none waits. */
  async #work(): Promise<number | null> {
    const { core } = this.deps;
    this.#owner ||= await core.store.nameWorker();
    for (const run of this.#runs()) run.wake();
    const kinds = this.#dispatcher.kinds();
    for (const pool of this.#pools) {
      const served = pool.kinds.filter((kind) => kinds.includes(kind));
      if (served.length > 0) await this.#claim(pool, served);
    }
    return core.store.findNextDispatchMs(kinds);
  }

  async #claim(pool: Pool, kinds: readonly DestinationKind[]): Promise<void> {
    const { core, clock } = this.deps;
    const runs = [...pool.runs];
    const roomCount = (pool.isShared ? SHARED_MAX : 1) - runs.length;
    if (roomCount <= 0) return;
    const failingCount = runs.filter(({ isFailing }) => isFailing).length;
    const failingMax = Math.max(0, FAILING_MAX - failingCount);
    const slowCount = runs.filter(({ isSlow }) => isSlow).length;
    const served = new Set(runs.map(({ destination }) => destination.id));
    const slow = pool.paces.slow().filter((id) => !served.has(id));
    const except = slow.slice(Math.max(0, SLOW_MAX - slowCount));
    const lease = { owner: this.#owner, nowMs: clock.nowMs(), leaseMs: LEASE_MS };
    const found = await core.store.claimDestinations(lease, kinds, roomCount, failingMax, except);
    if (found.length > 0) this.#hasFault = false;
    for (const destination of found) {
      const run = new OutboxRun(destination, this.#hostOf(pool, destination));
      pool.runs.add(run);
      run.start();
    }
  }

  #runs(): OutboxRun[] {
    return this.#pools.flatMap(({ runs }) => [...runs]);
  }

  #noteQuiet(): void {
    if (this.#runs().length === 0) this.#onQuiet?.();
  }

  #hostOf(pool: Pool, { kind, webhookId }: Destination): RunHost {
    const { core, clock, random, log } = this.deps;
    const { isShared, paces } = pool;
    return {
      store: core.store,
      leastMs: core.leastMs,
      clock,
      owner: this.#owner,
      random,
      paces,
      isShared,
      ...this.#dispatcher.limitsOf(kind),
      takePlace: (run) => this.#takePlace(pool, run),
      mustYield: (beganMs) =>
        isShared && pool.runs.size >= SHARED_MAX && clock.steadyMs() - beganMs >= RUN_MS,
      attempt: async (dispatch) => {
        if (dispatch.kind === 'push') return this.#dispatcher.sendPush(dispatch);
        return webhookId === null ? null : this.#dispatcher.sendEvent(dispatch, webhookId);
      },
      saveSoon: (run) => this.#saveSoon(run),
      onHealth: (destination, before, after) => this.#logHealth(destination, before, after),
      onGivenUp: ({ event }, problem) => {
        // Providers choose their receivers: a warning would let them fill the log.
        if (event.providerId !== null) return;
        log.warn('event_given_up', { webhook: webhookId, event: event.kind, problem });
      },
      onFault: (fault) => this.#onFault(fault),
      onSaved: () => {
        this.#hasFault = false;
      },
      onEnd: (run) => void this.#end(pool, run),
    };
  }

  async #takePlace({ isShared, places, slowPlaces }: Pool, run: OutboxRun) {
    if (!isShared) return () => {};
    const { signal } = this.#aborting;
    const party = String(run.destination.id);
    const leaveSlow = run.isSlow ? await slowPlaces.take(party, signal) : () => {};
    const leave = await places.take(party, signal);
    if (typeof leave === 'string' || typeof leaveSlow === 'string') return 'wait_ended';
    return () => {
      leaveSlow();
      leave();
    };
  }

  async #end(pool: Pool, run: OutboxRun): Promise<void> {
    this.#unsaved.delete(run);
    try {
      await this.deps.core.store.releaseDestinations(this.#owner, run.destination.id);
    } catch (fault) {
      // The lease ends by itself.
      this.#onFault(fault);
    }
    pool.runs.delete(run);
    if (this.#earlier.delete(run)) await this.#resumeStopped();
    this.#noteQuiet();
    // A run that found nothing, although something was due, waits for the next tick.
    if (run.hasFound) this.wake();
  }

  /** Saves the outcomes of all runs in one commit. */
  #saveSoon(run: OutboxRun): void {
    this.#unsaved.add(run);
    if (this.#unsaved.size > 1) return;
    void this.deps.clock.sleep(SAVE_SOON_MS).then(() => {
      const runs = [...this.#unsaved];
      this.#unsaved.clear();
      for (const each of runs) each.save();
    });
  }

  /** Logs a gateway that stops, fails or has recovered, once for each change. */
  #logHealth({ kind, id }: Destination, before: DestinationHealth, after: DestinationHealth): void {
    const { log } = this.deps;
    const { problem } = after;
    if (after.stoppedAtMs !== null && before.stoppedAtMs === null) {
      log.error('gateway_stopped', { gateway: kind, problem });
    }
    const isPaused = before.retryAtMs === 0 && after.retryAtMs > 0 && after.stoppedAtMs === null;
    const isHeldUp = ({ retryAtMs, stoppedAtMs }: DestinationHealth) =>
      retryAtMs > 0 || stoppedAtMs !== null;
    const isBack = isHeldUp(before) && !isHeldUp(after);
    if (kind === 'fcm' || kind === 'apns') {
      if (isPaused) log.warn('gateway_failing', { gateway: kind, problem });
      if (isBack) log.info('gateway_recovered', { gateway: kind });
    } else if (isPaused) {
      // Devices and providers choose these addresses: a warning would let them fill the log.
      log.debug('destination_failing', { kind, destination: id, problem });
    }
  }

  #onFault(fault: unknown): void {
    if (!this.#hasFault && !isAway(fault))
      this.deps.log.error('outbox_fault', { reason: reasonOf(fault) });
    this.#hasFault = true;
  }
}
