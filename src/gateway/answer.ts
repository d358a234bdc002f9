/** Judges answers of gateways by their tables; the first row that fits applies. */

import type { AttemptVerdict } from '../core/outbox/carrier.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../outgoing/call.ts';

/**
 * The meaning of an answer: a verdict, or one of
 *
 * | meaning | |
 * |---|---|
 * | `token` | our access token is rejected; a new one may be accepted |
 * | `foreign` | the address belongs to another app, or the gateway is configured for another app |
 * | `throttled` | this address gets too many messages; others do not |
 * | `unclear` | the cause may be the address or not; the address is kept |
 */
export type Meaning =
  | Exclude<AttemptVerdict['verdict'], 'wait' | 'busy'>
  | 'token'
  | 'foreign'
  | 'throttled'
  | 'unclear';

/** Meanings of answers that a gateway gives only after it has accepted our token. */
const TAKES_TOKEN: ReadonlySet<Meaning> = new Set<Meaning>([
  'accepted',
  'dead',
  'failed',
  'foreign',
]);

export interface AnswerRow {
  /** A status, or the first and last of a range. */
  status: number | readonly [number, number];
  /** The gateway's own code; null: any, or none. */
  code: string | null;
  means: Meaning;
  /** One sentence for the ledger and the operator; empty for `accepted`. */
  problem: string;
}

/** Makes a row of a table of answers. */
export const row = (
  status: AnswerRow['status'],
  code: string | null,
  means: Meaning,
  problem: string,
): AnswerRow => ({ status, code, means, problem });

interface AnswerTable {
  /** The name of the service in problems. */
  service: string;
  rows: readonly AnswerRow[];
  /** Returns the service's own code in an answer; null: it has none. */
  codeOf(answer: OutgoingAnswer): string | null;
  /** Returns the time since which an address is dead, UTC ms; null: the answer has none. */
  deadSinceMs?(answer: OutgoingAnswer): number | null;
}

/** The access token of a call, which records the outcome. */
export interface UsedToken {
  onAccepted(): void;
  /** Returns the verdict on the call. */
  onRejected(problem: string): AttemptVerdict;
}

/** Longest code of the other side that a problem repeats. */
const CODE_LENGTH_MAX = 60;

/** Returns a code in the form for a problem; null: it is no code. */
export function asCode(value: unknown): string | null {
  return typeof value === 'string' && /^\w+$/.test(value) ? value.slice(0, CODE_LENGTH_MAX) : null;
}

/** Longest sentence of the other side that a problem repeats. */
const SENTENCE_LENGTH_MAX = 200;

/** Returns a sentence in printable ASCII for a problem; null: there is none. */
export function asSentence(value: unknown): string | null {
  const words = typeof value === 'string' ? value.replace(/[^\x20-\x7e]+/g, ' ').trim() : '';
  return words === '' ? null : words.slice(0, SENTENCE_LENGTH_MAX);
}

/** Returns the verdict on a call without an answer. */
export function verdictOfFailure({ kind, problem }: OutgoingFailure): AttemptVerdict {
  // This call can never be sent; the operator may change what is allowed, so the address stays.
  if (kind === 'address' || kind === 'unsendable') return { verdict: 'failed', problem };
  if (kind === 'busy') return { verdict: 'busy', problem };
  return { verdict: 'retry', afterMs: null, problem };
}

/** The wait before an address is tried again after an unclear answer, ms. */
const UNCLEAR_WAIT_MS = 15 * 60_000;

/**
 * Judges the answers of one gateway, and remembers whether it has accepted a message. A gateway
 * that is configured for another app calls every address foreign; so a foreign address is dead only
 * once the gateway has accepted another one.
 */
export class AnswerJudge {
  #hasAccepted = false;

  constructor(private readonly table: AnswerTable) {}

  /** Returns the verdict on a call. `token` is null if the call has no access token. */
  classify(answer: OutgoingAnswer | OutgoingFailure, token: UsedToken | null): AttemptVerdict {
    if (answer instanceof OutgoingFailure) return verdictOfFailure(answer);
    const { service, rows, codeOf, deadSinceMs } = this.table;
    const { status } = answer;
    if (!answer.isWhole) {
      // Its status does not prove that the message was accepted. A repeat has the same id.
      return retry(`the answer of ${service} is truncated (${status})`);
    }
    const code = codeOf(answer);
    const found = rows.find((each) => fits(each, status, code));
    // A proxy or a page in place of the service answered.
    if (found === undefined) return retry(`the answer is not from ${service} (${status})`);
    const problem = `${found.problem} (${status}${code === null ? '' : ` ${code}`})`;
    if (TAKES_TOKEN.has(found.means)) token?.onAccepted();
    const verdict = this.#verdictOf(found.means, problem, answer, token);
    const asOfMs = verdict.verdict === 'dead' ? deadSinceMs?.(answer) : null;
    return asOfMs == null ? verdict : { ...verdict, verdict: 'dead', problem, asOfMs };
  }

  #verdictOf(
    means: Meaning,
    problem: string,
    { status, retryAfterMs }: OutgoingAnswer,
    token: UsedToken | null,
  ): AttemptVerdict {
    switch (means) {
      case 'accepted':
        this.#hasAccepted = true;
        return { verdict: 'accepted' };
      case 'token':
        return token?.onRejected(problem) ?? { verdict: 'failed', problem };
      case 'retry':
        return status === 429 && retryAfterMs !== null
          ? { verdict: 'wait', afterMs: retryAfterMs, problem }
          : { verdict: 'retry', afterMs: retryAfterMs, problem };
      case 'throttled':
        return retryAfterMs === null
          ? { verdict: 'retry', afterMs: null, problem, isOfOne: true }
          : { verdict: 'wait', afterMs: retryAfterMs, problem, isOfOne: true };
      case 'foreign':
        if (this.#hasAccepted) return { verdict: 'dead', problem };
        return { verdict: 'retry', afterMs: UNCLEAR_WAIT_MS, problem, isOfOne: true };
      case 'unclear':
        return { verdict: 'retry', afterMs: UNCLEAR_WAIT_MS, problem, isOfOne: true };
      default:
        return { verdict: means, problem };
    }
  }
}

function fits(row: AnswerRow, status: number, code: string | null): boolean {
  const [from, to] = typeof row.status === 'number' ? [row.status, row.status] : row.status;
  return status >= from && status <= to && (row.code === null || row.code === code);
}

function retry(problem: string): AttemptVerdict {
  return { verdict: 'retry', afterMs: null, problem };
}
