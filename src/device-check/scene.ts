/** One case: the stage, the app, and the expectations of a case. */

import { systemClock } from '../base/clock.ts';
import type { Driver, Terms } from './app.ts';
import type { Item } from './sent.ts';
import type { Sent, Stage } from './stage.ts';

const { steadyMs } = systemClock;

/** The wrong behaviour of an app. */
export class Fault extends Error {}

/** The longest wait for a program to start on a busy machine, s. */
const START_SECONDS = 10;
/** The time for a developer to open the app, ms. */
const PERSON_MS = 600_000;

export class Scene {
  /** The number of deeds before this case. */
  mark: number;
  #handledMark: number;

  constructor(
    readonly stage: Stage,
    /** The driver; null: a phone, whose screen the check does not see. */
    readonly driver: Driver | null,
    private readonly pace: number,
    /** The tolerance of times, ms. */
    private readonly slackMs: number,
    /** The ids of this case are above it: the app may remember those of earlier cases. */
    private readonly idBase: number,
  ) {
    this.mark = stage.deeds.length;
    this.#handledMark = driver?.handled.length ?? 0;
  }

  id(n: number): number {
    return this.idBase + n;
  }

  message(n: number, more: Omit<Sent, 'id'> = {}): Sent {
    return { id: this.id(n), ...more };
  }

  /**
   * Starts the app and waits until its stream is open; waits for a developer to open it on a phone.
   */
  async begin(terms: Terms = {}): Promise<void> {
    if (this.driver === null) {
      if (await this.stage.until(() => this.stage.isOpen, PERSON_MS)) return;
      throw new Fault('did not open a stream');
    }
    this.driver.start(terms);
    const seconds = 70 + START_SECONDS / this.pace;
    await this.expect(() => this.stage.isOpen, seconds, 'opened no stream after its start');
  }

  async opened(otherwise: string): Promise<void> {
    await this.expect(() => this.stage.isOpen, 70, otherwise);
  }

  /** Expects an event within these seconds of the app's pace. Throws {@link Fault} otherwise. */
  async expect(isSo: () => boolean, seconds: number, otherwise: string): Promise<void> {
    const hasEnded = () => this.driver?.endedWith != null;
    const ms = seconds * 1_000 * this.pace + this.slackMs;
    const isThere = await this.stage.until(() => isSo() || hasEnded(), ms);
    if (isThere && isSo()) return;
    throw new Fault(hasEnded() ? `ended with code ${this.driver?.endedWith}` : otherwise);
  }

  /** Expects no event within these seconds of the app's pace. Throws {@link Fault} otherwise. */
  async never(isSo: () => boolean, seconds: number, otherwise: string): Promise<void> {
    if (await this.stage.until(isSo, seconds * 1_000 * this.pace)) throw new Fault(otherwise);
  }

  check(isSo: boolean, otherwise: string): void {
    if (!isSo) throw new Fault(otherwise);
  }

  /** Expects acknowledgements of messages with a state. */
  async acknowledged(state: string, ...ns: readonly number[]): Promise<void> {
    for (const n of ns) {
      const isIt = (item: Item) => item.id === this.id(n) && item.state === state;
      const isSaid = () => this.acked().some(isIt);
      await this.expect(isSaid, 60, `did not acknowledge message ${n} as ${state}`);
    }
  }

  acked(): Item[] {
    return this.stage.acked(this.mark);
  }

  /** Returns the numbers of the messages that the app handled, in order; empty for a phone. */
  handled(): number[] {
    return (this.driver?.handled ?? []).slice(this.#handledMark).map(({ id }) => id - this.idBase);
  }

  /** Waits until the output of the driver so far is read. */
  async heard(): Promise<void> {
    const { driver } = this;
    if (driver === null) return;
    const before = driver.answers;
    driver.say({ do: 'effects' });
    await this.expect(() => driver.answers > before, 5, 'did not say its effects');
  }

  /** Expects that the app handled these messages in this order, once each. */
  async handledAs(ns: readonly number[]): Promise<void> {
    if (this.driver === null) return;
    await this.heard();
    const handled = this.handled();
    const twice = handled.find((n, at) => handled.indexOf(n) !== at);
    if (twice !== undefined) throw new Fault(`handled message ${twice} twice`);
    const missing = ns.find((n) => !handled.includes(n));
    if (missing !== undefined) throw new Fault(`did not handle message ${missing}`);
    const more = handled.find((n) => !ns.includes(n));
    if (more !== undefined) throw new Fault(`handled message ${more}`);
    if (handled.join() !== ns.join()) throw new Fault(`handled ${handled.join(', ')}`);
  }

  /**
   * Expects that the app reconnects after a pause, and no later than the longest first pause. `act`
   * ends the stream.
   */
  async comesBack(act: () => void): Promise<void> {
    const before = this.stage.of('stream').length;
    const startMs = steadyMs();
    act();
    const isBack = () => this.stage.of('stream').length > before;
    await this.expect(isBack, 6, 'did not come back');
    const pauseMs = (this.stage.of('stream')[before]?.atMs ?? 0) - startMs;
    const leastMs = this.leastPauseMs(0);
    if (pauseMs < leastMs) {
      throw new Fault(
        `came back after ${Math.round(pauseMs)} ms, before ${Math.round(leastMs)} ms were over`,
      );
    }
    await this.opened('came back without a stream');
  }

  /** Returns the shortest allowed pause after this many failures: half of the doubled pause, ms. */
  leastPauseMs(failures: number): number {
    return 250 * 2 ** failures * this.pace;
  }

  /** Expects no further request of the app. */
  async rests(otherwise: string): Promise<void> {
    const before = this.stage.deeds.length;
    const isBack = () => this.stage.deeds.slice(before).some(({ kind }) => kind !== 'left');
    // Longer than the first three pauses together.
    await this.never(isBack, 6, otherwise);
  }
}

export interface Case {
  /** The name of the case: one or two words. */
  name: string;
  /** The expected behaviour of an app. */
  should: string;
  /** True: the case needs a driver to restart the app, to push, or to see handled messages. */
  needsDriver?: boolean;
  play(scene: Scene): Promise<void>;
}
