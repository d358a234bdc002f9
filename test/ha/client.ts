/**
 * A caller of nodes that may die, on a database that may. What is not answered, or is answered
 * that it could not be saved, may have happened or not; everything else must hold.
 */

import type { Credentials } from '../../src/core/provider.ts';
import { call, type Reply } from '../support/app.ts';
import type { Recorder } from './recorder.ts';

/** A call that took so long has no answer; no proxy waits that long. */
const PATIENCE_MS = 60_000;
/** A node or database that is away refuses at once: without a pause callers would be busy loops. */
const REST_MS = 20;

type Query = Record<string, string | number>;

/** What is said when a change could not be saved, or nobody knows whether it was. */
const UNKNOWN = /^(?:Unknown error|Error save |Failed to (?:save|cancel) |Domain delete error)/;

/** Whether this tells what came of a call. */
export function isAnswer({ status, json }: Reply): boolean {
  return status === 200 && json !== null && !UNKNOWN.test(json.msg);
}

export class Client {
  readonly answers = new Map<string, number>();
  #unknown = 0;

  constructor(
    readonly url: string,
    readonly recorder: Recorder,
  ) {}

  /** How often it is unknown what came of a call. */
  get unknown(): number {
    return this.#unknown;
  }

  /** The answer; null: nobody knows what came of it. */
  async ask(path: string, by: Credentials | null, query: Query = {}, init: RequestInit = {}) {
    const startMs = performance.now();
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const reply = await call(this, path, by, query, { ...init, signal }).catch(() => null);
    const isKnown = reply !== null && isAnswer(reply);
    const says = `${path}: ${reply?.json?.msg ?? reply?.status ?? 'no answer'}`;
    this.recorder.note(startMs, isKnown, says);
    this.answers.set(says, (this.answers.get(says) ?? 0) + 1);
    if (isKnown) return reply.json;
    this.#unknown += 1;
    await Bun.sleep(REST_MS);
    return null;
  }

  /** Asks until there is an answer: for what only looks, or may be done twice. */
  async insist(path: string, by: Credentials | null, query: Query = {}, init: RequestInit = {}) {
    const giveUpMs = performance.now() + 2 * PATIENCE_MS;
    while (performance.now() < giveUpMs) {
      const json = await this.ask(path, by, query, init);
      if (json !== null) return json;
    }
    throw new Error(`${path} has no answer`);
  }
}
