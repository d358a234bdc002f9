/**
 * Looks into the inboxes of many open streams at once: after a message to all, thousands have to
 * look. A stream has one place in the queue, so that streams take turns.
 */

import type { Clock } from '../../base/clock.ts';
import type { Core } from '../../core/core.ts';
import type { AuthenticDevice } from '../../core/device.ts';
import { glanceInboxes } from '../../core/message/inbox.ts';
import type { Glance } from '../../core/port/inbox.ts';
import { isAway } from '../../core/port/store.ts';
import type { Turns } from '../bound/turns.ts';

/** The most streams of one look, which delays calls of others. */
const LOOK_COUNT = 64;
/** The most looks in flight: a database over the network answers one while it reads the next. */
const IN_FLIGHT_MAX = 3;
/** The most saves in flight: a store of several nodes limits its calls. */
const SAVES_MAX = 512;
/** The longest time for which saves wait for looks, ms. */
const REST_MAX_MS = 250;
/** Pause before a look or save is repeated because the database was away, ms. */
const PAUSE_MS = 1_000;
/** The time for which devices wait for the answer to an acknowledgement, ms. */
const ACK_MS = 30_000;
/** The party of all streams in queues. */
const PARTY = 'streams';

interface Looker {
  readonly device: AuthenticDevice;
  /** Takes what a look found. */
  found(glance: Glance): void;
  /** Receives the fault of the look. */
  missed(fault: unknown): void;
}

export class Looks {
  readonly #waiting = new Set<Looker>();
  /** Streams whose look is repeated after a pause. */
  readonly #paused = new Set<Looker>();
  #inFlightCount = 0;
  /** Callers that wait for the end of all looks. */
  readonly #resting = new Set<() => void>();
  #restingSinceMs = 0;
  #savingCount = 0;

  constructor(
    private readonly deps: {
      core: Core;
      clock: Clock;
      turns: Turns;
    },
  ) {}

  /** Queues a look into the inbox of a stream, together with others. */
  add(looker: Looker): void {
    this.#waiting.add(looker);
    if (this.#inFlightCount * LOOK_COUNT >= this.#waiting.size) return;
    if (this.#inFlightCount < IN_FLIGHT_MAX) void this.#run();
  }

  /** Queues a look after a pause: the database was away. */
  addLater(looker: Looker): void {
    this.#paused.add(looker);
    void this.deps.clock.sleep(PAUSE_MS).then(() => {
      if (this.#paused.delete(looker)) this.add(looker);
    });
  }

  /** Removes a closed stream from the queue. */
  remove(looker: Looker): void {
    this.#paused.delete(looker);
    this.#waiting.delete(looker);
    this.#beginSaves();
  }

  /**
   * Saves acknowledgements, in turn with others. Waits while streams wait for a look, at most
   * {@link REST_MAX_MS}: people notice a late message, not a late acknowledgement. Repeats `work`
   * while the database is away and the device waits: `isAwaited` says whether it is still there.
   */
  async save<T>(work: () => Promise<T>, isAwaited: () => boolean = () => true): Promise<T> {
    const { clock } = this.deps;
    const endMs = clock.steadyMs() + ACK_MS;
    for (;;) {
      try {
        return await this.#saveOnce(work);
      } catch (fault) {
        if (!isAway(fault) || !isAwaited() || clock.steadyMs() >= endMs) throw fault;
      }
      await clock.sleep(PAUSE_MS);
    }
  }

  async #saveOnce<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.deps;
    await new Promise<void>((begin) => {
      const isFirst = this.#resting.size === 0;
      if (isFirst) this.#restingSinceMs = clock.steadyMs();
      this.#resting.add(begin);
      this.#beginSaves();
      if (!isFirst || !this.#resting.has(begin)) return;
      // A look may take longer: a database over the network may be slow.
      void clock.sleep(REST_MAX_MS).then(() => this.#beginSaves(true));
    });
    try {
      return await work();
    } finally {
      this.#savingCount -= 1;
      this.#beginSaves();
    }
  }

  #beginSaves(isRestOver = false): void {
    const restedMs = this.deps.clock.steadyMs() - this.#restingSinceMs;
    if (!isRestOver && this.#waiting.size > 0 && restedMs < REST_MAX_MS) return;
    for (const begin of this.#resting) {
      if (this.#savingCount === SAVES_MAX) return;
      this.#savingCount += 1;
      this.#resting.delete(begin);
      begin();
    }
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { core, clock, turns } = this.deps;
    this.#inFlightCount += 1;
    while (this.#waiting.size > 0) {
      await turns.next(PARTY);
      const lookers = this.#take();
      // Another run has taken them.
      if (lookers.length === 0) break;
      try {
        const devices = lookers.map(({ device }) => device);
        const look = () => glanceInboxes(core, devices, clock.nowMs());
        const glances = await core.store.onBehalfOf(PARTY, String, look);
        for (const [n, looker] of lookers.entries()) looker.found(glances[n] ?? []);
      } catch (fault) {
        for (const looker of lookers) looker.missed(fault);
      }
      this.#beginSaves();
    }
    this.#inFlightCount -= 1;
  }

  #take(): Looker[] {
    const lookers: Looker[] = [];
    for (const looker of this.#waiting) {
      if (lookers.length === LOOK_COUNT) break;
      this.#waiting.delete(looker);
      lookers.push(looker);
    }
    return lookers;
  }
}
