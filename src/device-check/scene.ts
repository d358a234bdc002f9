/** One case: the stage, the app, and the expectations of a case. */

import { systemClock } from '../base/clock.ts';
import type { Sent } from './answers.ts';
import type { Driver, Terms } from './app.ts';
import type { Item } from './sent.ts';
import type { Stage } from './stage.ts';

const { steadyMs } = systemClock;

/** The wrong behaviour of an app. */
export class Fault extends Error {}

/** The longest wait for a program to start on a busy machine, s. */
const START_SECONDS = 10;
/** The longest pause of the protocol before an attempt, and the time for that attempt, s. */
const AWAY_SECONDS = 95;
/** The longest first pause is 0.75 s: an app that comes back after this many was not in it. */
const BACK_SECONDS = 6;
/** A stream that held for longer than 10 s resets the pauses, s. */
const STEADY_SECONDS = 11;
/** The time for a developer to open the app, ms. */
const PERSON_MS = 600_000;

/** A case that the app cannot play, and why. */
export class Skipped extends Error {}

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
    const seconds = AWAY_SECONDS + START_SECONDS / this.pace;
    await this.expect(() => this.stage.isOpen, seconds, 'opened no stream after its start');
  }

  /** Starts the app in the mode of polls; waits until one of them waits. */
  async beginPolling(): Promise<void> {
    this.driver?.start({ mode: 'poll' });
    const isPolled = () => this.stage.of('inbox').some(({ waitSeconds }) => waitSeconds > 0);
    await this.back(isPolled, 'sent no poll that waits');
  }

  async opened(otherwise: string): Promise<void> {
    await this.back(() => this.stage.isOpen, otherwise);
  }

  /** Expects an event after the longest pause that the protocol allows. */
  async back(isSo: () => boolean, otherwise: string): Promise<void> {
    await this.expect(isSo, AWAY_SECONDS, otherwise);
  }

  /** Holds the stream until the app's pauses begin with the first one again. */
  async steady(): Promise<void> {
    await this.opened('did not come back');
    // The app may find its stream open some milliseconds after the check.
    const ms = STEADY_SECONDS * 1_000 * this.pace + 100;
    await this.stage.until(() => !this.stage.isOpen, ms - this.stage.openForMs);
    this.check(this.stage.isOpen, 'did not hold its stream');
  }

  /**
   * Fails so many attempts of a stream, after one that held. Returns the pauses before the first
   * and before each next one, ms.
   */
  async pauses(failures: number): Promise<number[]> {
    const { stage } = this;
    await this.begin();
    // A phone has the pauses of earlier cases behind it.
    if (this.driver === null) await this.steady();
    let left = failures;
    const away = () => (left > 0 ? new Response('', { status: 503 }) : null);
    stage.script.inbox = away;
    stage.script.stream = () => {
      left -= 1;
      return left >= 0 ? new Response('', { status: 503 }) : null;
    };
    const before = stage.of('stream').length;
    const startMs = steadyMs();
    stage.close(1001, 'the server stops');
    const isBack = () => stage.of('stream').length > before + failures && stage.isOpen;
    // All pauses together, each half as long again.
    const seconds = 0.75 * 2 ** (failures + 1);
    await this.expect(isBack, seconds + 5, `did not come back after ${failures} failures`);
    const times = stage.of('stream').slice(before);
    return times.map(({ atMs }, at) => atMs - (times[at - 1]?.atMs ?? startMs));
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
      await this.back(isSaid, `did not acknowledge message ${n} as ${state}`);
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
   * Expects that the app reconnects after a pause: no later than the longest first one, or the
   * longest of all for a phone, which has the pauses of earlier cases behind it. `act` ends the
   * stream.
   */
  async comesBack(act: () => void): Promise<void> {
    const before = this.stage.of('stream').length;
    const startMs = steadyMs();
    act();
    const isBack = () => this.stage.of('stream').length > before;
    const seconds = this.driver === null ? AWAY_SECONDS : BACK_SECONDS;
    await this.expect(isBack, seconds, 'did not come back');
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

  /** Expects that the app shows its user a state with all of these words, within 10 seconds. */
  async shows(state: string, ...words: readonly string[]): Promise<void> {
    const { driver } = this;
    if (driver === null) return;
    const isShown = () => driver.states.includes(state);
    await this.expect(isShown, 10, `did not tell its user that it is ${state}`);
    const line = driver.shown[driver.states.lastIndexOf(state)] ?? '';
    const missing = words.find((word) => !line.includes(word));
    this.check(missing === undefined, `did not hand over "${missing}" when it was ${state}`);
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
