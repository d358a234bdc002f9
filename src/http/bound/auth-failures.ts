/**
 * Failed authentications, counted by client. A key has 192 random bits, so guessing is hopeless and
 * a lock-out would only help an attacker: valid credentials always work at once, and beyond the
 * limit of a minute each failing answer is delayed. Guesses at an account count for it at the
 * client, and for the network around: many people share the address of a carrier, and many
 * addresses belong to one guesser.
 */

import type { Log } from '../../base/log.ts';
import { isShortCode } from '../../core/formats.ts';
import { networkOf } from '../request/address.ts';
import { MinuteCounter, MinuteLine } from './limiter.ts';
import { type SharedSettings, timesOf } from './parties.ts';

/** The delay of a failing answer, ms. */
export const FAILURE_DELAY_MS = 1_000;
/** How often a network may guess at accounts, as a multiple of one address at one account. */
const NETWORK_TIMES = 10;
/** A guess at a short code counts as so many failures: such a code is found sooner. */
const SHORT_CODE_TIMES = 10;

interface Guess {
  /** The account that is guessed at; null: none. */
  account?: string | null;
  /** The code of a link that is guessed at. */
  code?: unknown;
  /** True: the key of a provider is guessed at. */
  isKey?: boolean;
}

export class AuthFailures {
  /** Answers that were delayed since the start. */
  delayedCount = 0;
  readonly #counter = new MinuteCounter();
  readonly #line = new MinuteLine();

  constructor(
    private readonly settings: SharedSettings & { readonly authFailuresPerMinuteMax: number },
    private readonly log: Log,
  ) {}

  /**
   * Counts a failure of `client`, at `account` if it guesses at one, or at the `code` of a link;
   * returns the delay of its answer, ms. Where many customers share the address, those with the
   * key of a provider count apart from theirs.
   */
  record(
    client: string,
    nowMs: number,
    { account = null, code, isKey = false }: Guess = {},
  ): number {
    const { authFailuresPerMinuteMax: most } = this.settings;
    const times = isShortCode(code) ? SHORT_CODE_TIMES : 1;
    const sharedTimes = account === null ? timesOf(this.settings, client) : 1;
    const isApart = isKey && sharedTimes > 1;
    const count = (name: string) => this.#counter.count(name, nowMs, client, times);
    const isFree =
      account === null
        ? isApart
          ? count(`keys ${client}`) <= most
          : count(client) <= sharedTimes * most
        : [
            count(`${client} ${account}`) <= most,
            count(`all of ${networkOf(client)}`) <= NETWORK_TIMES * most,
          ].every(Boolean);
    if (isFree) return 0;
    this.delayedCount += 1;
    const answers = this.#line.due(nowMs);
    if (answers > 0) this.log.warn('auth_failures_delayed', { client, answers });
    return FAILURE_DELAY_MS;
  }
}
