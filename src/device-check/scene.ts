/** One case: the stage, the app, and the words in which a case says what it expects. */

import { systemClock } from '../clock.ts';
import type { Driver, Terms } from './app.ts';
import type { Item, Sent, Stage } from './stage.ts';

const { steadyMs } = systemClock;

/** What the app did instead of what it should have done. */
export class Fault extends Error {}

/** For a machine that is busy: no case fails as a program takes so long to start, s. */
const START_SECONDS = 10;
/** How long a developer may take to open the app, ms. */
const PERSON_MS = 600_000;

export class Scene {
  /** What the app did before this case. */
  mark: number;
  #handledMark: number;

  constructor(
    readonly stage: Stage,
    /** Null: a phone, whose screen the check does not see. */
    readonly driver: Driver | null,
    private readonly pace: number,
    /** How much later than it should a thing may come, ms. */
    private readonly slackMs: number,
    /** The ids of this case are above it: an app remembers those of the cases before. */
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

  /** Starts the app and waits until its stream is open; a phone is waited for. */
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

  /** Expects that something comes in so many seconds of the app's pace. */
  async expect(isSo: () => boolean, seconds: number, otherwise: string): Promise<void> {
    const hasEnded = () => this.driver?.endedWith != null;
    const ms = seconds * 1_000 * this.pace + this.slackMs;
    const isThere = await this.stage.until(() => isSo() || hasEnded(), ms);
    if (isThere && isSo()) return;
    throw new Fault(hasEnded() ? `ended with code ${this.driver?.endedWith}` : otherwise);
  }

  /** Expects that something does not come in so many seconds of the app's pace. */
  async never(isSo: () => boolean, seconds: number, otherwise: string): Promise<void> {
    if (await this.stage.until(isSo, seconds * 1_000 * this.pace)) throw new Fault(otherwise);
  }

  check(isSo: boolean, otherwise: string): void {
    if (!isSo) throw new Fault(otherwise);
  }

  /** Expects that messages are acknowledged with a state. */
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

  /** Returns the numbers of the messages that the app handled, in order; none of a phone. */
  handled(): number[] {
    return (this.driver?.handled ?? []).slice(this.#handledMark).map(({ id }) => id - this.idBase);
  }

  /** Waits until all lines are read that the driver has written so far. */
  async heard(): Promise<void> {
    const { driver } = this;
    if (driver === null) return;
    const before = driver.answers;
    driver.say({ do: 'effects' });
    await this.expect(() => driver.answers > before, 5, 'did not say its effects');
  }

  /** Expects that the app handled these messages so, once each. */
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
   * Expects that the app comes back after a pause, and no later than the longest first one. `act`
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

  /** Returns the shortest pause after so many failures: half of the doubled one, ms. */
  leastPauseMs(failures: number): number {
    return 250 * 2 ** failures * this.pace;
  }

  /** Expects that the app asks for nothing any more. */
  async rests(otherwise: string): Promise<void> {
    const before = this.stage.deeds.length;
    const isBack = () => this.stage.deeds.slice(before).some(({ kind }) => kind !== 'left');
    // Above the first three pauses.
    await this.never(isBack, 6, otherwise);
  }
}

export interface Case {
  /** One word or two, as documents and machines name it. */
  name: string;
  /** What an app should do. */
  should: string;
  /** True: it needs a driver: it restarts the app, hands it pushes or looks at what it handled. */
  needsDriver?: boolean;
  play(scene: Scene): Promise<void>;
}
