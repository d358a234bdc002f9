/**
 * The worker of the outbox: gets hold of destinations that have something due, and runs each. Woken
 * by commits, and once a second by the bell of the clock; where nothing waits it asks nothing and
 * writes nothing. Gateways have places of their own each, push services share theirs, and so do
 * webhooks, so that whoever hangs holds up nobody else.
 */

import type { Clock } from '../../clock.ts';
import type { Core } from '../../core/core.ts';
import type { PushSettings } from '../../core/message/push.ts';
import type { EventSenders, Gateways } from '../../core/outbox/carrier.ts';
import type { Destination, DestinationHealth, DestinationKind } from '../../core/port/outbox.ts';
import { isAway } from '../../core/port/store.ts';
import { moveChat } from '../../core/webhook.ts';
import { type Log, reasonOf } from '../../log.ts';
import { WakeLoop } from '../wake-loop.ts';
import { type AttemptObserver, Carrier } from './carry.ts';
import { PushContents } from './contents.ts';
import { LEASE_MS } from './outcomes.ts';
import { Paces } from './paces.ts';
import { Places } from './places.ts';
import { OutboxRun, type RunHost } from './run.ts';

export interface OutboxDeps {
  core: Core;
  clock: Clock;
  log: Log;
  /** Gateways as they are set up now. */
  gateways(): Gateways;
  eventSenders: EventSenders;
  /** Settings; a change of theirs holds from `resume` on. */
  settings: PushSettings;
  onAttempt: AttemptObserver;
  /** Gives a number from 0 up to 1. */
  random: () => number;
}

export interface OutboxWorker {
  /** Claims destinations that are due, and once more if that is in progress. */
  wake(): void;
  /** Wakes the worker if something is due; to be called once a second. */
  tick(): void;
  /** Lets what was stopped be tried again: carriers or settings are others now. */
  resume(): Promise<void>;
  /** Begins nothing more, gives what is under way a moment, saves, and leaves the rest. */
  stop(): Promise<void>;
}

/** Kinds that share places. */
interface Pool {
  kinds: readonly DestinationKind[];
  places: Places;
  runs: Set<OutboxRun>;
  /** Most runs at a time, and of such that fail. */
  runsMax: number;
  failingMax: number;
}

/** Places of a gateway; of push services, and of webhooks, in all. */
const GATEWAY_PLACES = 64;
const SHARED_PLACES = 48;
/** The share of those that fail, or of which nothing is known yet. */
const FAILING_SHARE = 1 / 4;

/** The share of those that take long, in places and runs. */
const SLOW_SHARE = 1 / 2;

/** Time for which outcomes wait to be saved together, ms: a commit holds up all attempts. */
const SAVE_SOON_MS = 40;
/** Time that a run has before it gives way to others, ms. */
const RUN_MS = 1_000;
/** Time that what is under way has when the process stops, then to break off, ms. */
const FINISH_MS = 2_500;
const BREAK_OFF_MS = 1_000;

function pools(): Pool[] {
  const own = (kind: DestinationKind): Pool => ({
    ...{ kinds: [kind], runs: new Set<OutboxRun>(), runsMax: 1, failingMax: 1 },
    places: new Places(GATEWAY_PLACES, GATEWAY_PLACES),
  });
  const shared = (kinds: readonly DestinationKind[]): Pool => ({
    ...{ kinds, runs: new Set<OutboxRun>() },
    ...{ runsMax: SHARED_PLACES, failingMax: SHARED_PLACES * FAILING_SHARE },
    places: new Places(SHARED_PLACES, SHARED_PLACES * SLOW_SHARE),
  });
  return [own('fcm'), own('apns'), shared(['webpush']), shared(['webhook', 'telegram'])];
}

/** A worker under a name of its own, so that its leases are told from another process's. */
export class Outbox implements OutboxWorker {
  /** Its name; empty before it first looks for something to hold. */
  #owner = '';
  readonly #pools = pools();
  readonly #paces = new Paces();
  readonly #contents: PushContents;
  readonly #carrier: Carrier;
  readonly #breakingOff = new AbortController();
  /** Runs whose outcomes are saved together soon. */
  readonly #unsaved = new Set<OutboxRun>();
  readonly #loop: WakeLoop;
  /** A fault was logged, and nothing was written since. */
  #hasFault = false;
  #onQuiet: (() => void) | null = null;

  constructor(private readonly deps: OutboxDeps) {
    const { core, clock, settings, gateways, eventSenders, onAttempt } = deps;
    this.#contents = new PushContents((id) => core.store.findPushMessage(id), settings);
    this.#carrier = new Carrier({
      ...{ gateways, eventSenders, contents: this.#contents, clock, onAttempt },
      findWebhook: (id) => core.store.findWebhook(id),
      moveChat: (webhook, chat) => moveChat(core, webhook, chat, clock.nowMs()),
      signal: this.#breakingOff.signal,
      onFault: (fault) => this.#onFault(fault),
    });
    this.#loop = new WakeLoop({
      ...{ core, clock, work: () => this.#work() },
      onFault: (fault) => this.#onFault(fault),
    });
    core.signals.onOutbox(() => this.wake());
  }

  wake(): void {
    this.#loop.wake();
  }

  tick(): void {
    this.#loop.tick();
  }

  async resume(): Promise<void> {
    const { core, log } = this.deps;
    this.#contents.forget();
    try {
      const count = await core.store.resumeDestinations(this.#carrier.kinds());
      if (count > 0) log.info('outbox_resumed', { destinations: count });
    } catch (fault) {
      this.#onFault(fault);
    }
    this.wake();
  }

  async stop(): Promise<void> {
    const { core, clock } = this.deps;
    for (const run of this.#runs()) run.close();
    await this.#loop.stop();
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    this.#sayIfQuiet();
    for (const run of this.#runs()) run.close();
    await Promise.race([quiet, clock.sleep(FINISH_MS)]);
    this.#breakingOff.abort();
    for (const run of this.#runs()) run.abandon();
    await Promise.race([quiet, clock.sleep(BREAK_OFF_MS)]);
    if (this.#owner !== '') await core.store.releaseDestinations(this.#owner, null);
  }

  /** Claims destinations that are due. Returns the time at which more is due, UTC ms, or null. */
  async #work(): Promise<number | null> {
    const { core } = this.deps;
    this.#owner ||= await core.store.nameWorker();
    for (const run of this.#runs()) run.wake();
    const kinds = this.#carrier.kinds();
    for (const pool of this.#pools) {
      const carried = pool.kinds.filter((kind) => kinds.includes(kind));
      if (carried.length > 0) await this.#claim(pool, carried);
    }
    return core.store.findNextDispatchMs(kinds);
  }

  async #claim(pool: Pool, kinds: readonly DestinationKind[]): Promise<void> {
    const roomCount = pool.runsMax - pool.runs.size;
    if (roomCount <= 0) return;
    const { core, clock } = this.deps;
    const runs = [...pool.runs];
    const failingCount = runs.filter(({ isFailing }) => isFailing).length;
    const failingMax = Math.max(0, pool.failingMax - failingCount);
    let slowRoomCount = pool.runsMax * SLOW_SHARE - runs.filter(({ isSlow }) => isSlow).length;
    const except = slowRoomCount <= 0 ? this.#paces.slow() : [];
    const lease = { owner: this.#owner, nowMs: clock.nowMs(), leaseMs: LEASE_MS };
    const found = await core.store.claimDestinations(lease, kinds, roomCount, failingMax, except);
    if (found.length > 0) this.#hasFault = false;
    for (const destination of found) {
      const isSlow = pool.runsMax > 1 && this.#paces.isSlow(destination.id);
      if (isSlow && slowRoomCount-- <= 0) {
        await core.store.releaseDestinations(this.#owner, destination.id);
        continue;
      }
      const run = new OutboxRun(destination, this.#hostOf(pool, destination));
      pool.runs.add(run);
      run.start();
    }
  }

  #runs(): OutboxRun[] {
    return this.#pools.flatMap(({ runs }) => [...runs]);
  }

  #sayIfQuiet(): void {
    if (this.#runs().length === 0) this.#onQuiet?.();
  }

  #hostOf(pool: Pool, { kind, webhookId }: Destination): RunHost {
    const { core, clock, random, log } = this.deps;
    const isFull = () => pool.runs.size >= pool.runsMax;
    return {
      ...{
        store: core.store,
        clock,
        owner: this.#owner,
        random,
        places: pool.places,
        paces: this.#paces,
      },
      concurrency: this.#carrier.concurrencyOf(kind),
      spacingMs: this.#carrier.spacingOf(kind),
      isShared: pool.runsMax > 1,
      mustYield: (beganMs) => pool.runsMax > 1 && isFull() && clock.steadyMs() - beganMs >= RUN_MS,
      carry: async (dispatch) => {
        if (dispatch.kind === 'push') return this.#carrier.push(dispatch);
        return webhookId === null ? null : this.#carrier.deliver(dispatch, webhookId);
      },
      saveSoon: (run) => this.#saveSoon(run),
      onHealth: (destination, before, after) => this.#sayHealth(destination, before, after),
      onDisabled: ({ webhookId }, why) => log.info('webhook_disabled', { webhook: webhookId, why }),
      onFault: (fault) => this.#onFault(fault),
      onSaved: () => {
        this.#hasFault = false;
      },
      onEnd: (run) => void this.#end(pool, run),
    };
  }

  async #end(pool: Pool, run: OutboxRun): Promise<void> {
    this.#unsaved.delete(run);
    try {
      await this.deps.core.store.releaseDestinations(this.#owner, run.destination.id);
    } catch (fault) {
      // Its lease ends by itself.
      this.#onFault(fault);
    }
    pool.runs.delete(run);
    this.#sayIfQuiet();
    // One that found nothing, although something was due, leaves it to the bell.
    if (run.hasFound) this.wake();
  }

  /** Has the outcomes of all runs saved in one commit. */
  #saveSoon(run: OutboxRun): void {
    this.#unsaved.add(run);
    if (this.#unsaved.size > 1) return;
    void this.deps.clock.sleep(SAVE_SOON_MS).then(() => {
      const runs = [...this.#unsaved];
      this.#unsaved.clear();
      for (const each of runs) each.save();
    });
  }

  /** Tells the log of a gateway that stops, fails or is well again: once for each. */
  #sayHealth({ kind, id }: Destination, before: DestinationHealth, after: DestinationHealth): void {
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
      // Anybody can name a push service or a receiver that fails.
      log.debug('destination_failing', { kind, destination: id, problem });
    }
  }

  #onFault(fault: unknown): void {
    if (!this.#hasFault && !isAway(fault))
      this.deps.log.error('outbox_fault', { reason: reasonOf(fault) });
    this.#hasFault = true;
  }
}
