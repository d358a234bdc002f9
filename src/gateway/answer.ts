/** How answers of gateways are judged: by a table, first row first. */

import type { Verdict } from '../core/outbox/carrier.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../outgoing/call.ts';

/** The meaning of an answer. */
export type Meaning =
  | Exclude<Verdict['verdict'], 'wait' | 'busy'>
  /** The token that we showed is not taken any more: another one may be. */
  | 'token'
  /** The address is not one of our app, or the gateway is set up for another app. */
  | 'foreign'
  /** The address gets more than it may; others do not. */
  | 'throttled'
  /** Not said of the address for sure, so that it is never dropped for it. */
  | 'unclear';

/** Meanings of answers that are given only to who is known. */
const TAKES_TOKEN: ReadonlySet<Meaning> = new Set<Meaning>([
  'accepted',
  'dead',
  'failed',
  'foreign',
]);

/** A row of a table of answers. */
export interface AnswerRow {
  /** A status, or the first and last of some. */
  status: number | readonly [number, number];
  /** The gateway's own code; null: any, or none. */
  code: string | null;
  means: Meaning;
  /** One sentence in plain English, for the ledger and the operator; empty for `accepted`. */
  problem: string;
}

/** How answers of a service are read. */
export interface AnswerBook {
  /** Its name in problems. */
  service: string;
  rows: readonly AnswerRow[];
  /** The service's own code in an answer; null: it has none. */
  codeOf(answer: OutgoingAnswer): string | null;
  /** Since when an address is dead, UTC ms; null: the answer does not say. */
  deadSinceMs?(answer: OutgoingAnswer): number | null;
}

/** The token that a call showed, as its answer is noted. */
export interface ShownToken {
  /** Notes that it was taken. */
  worked(): void;
  /** Notes that it was refused, and says what that means. */
  refused(problem: string): Verdict;
}

/** The row that an answer belongs to; null: none, so the table is of no help. */
function rowFor(
  table: readonly AnswerRow[],
  status: number,
  code: string | null,
): AnswerRow | null {
  const fits = (row: AnswerRow) => {
    const [from, to] = typeof row.status === 'number' ? [row.status, row.status] : row.status;
    return status >= from && status <= to && (row.code === null || row.code === code);
  };
  return table.find(fits) ?? null;
}

/** Longest code that a problem repeats: the other side chose it. */
const CODE_LENGTH_MAX = 60;

/** A code as a problem may repeat it; null: it is none. */
export function asCode(value: unknown): string | null {
  return typeof value === 'string' && /^\w+$/.test(value) ? value.slice(0, CODE_LENGTH_MAX) : null;
}

/** Longest sentence of the other side that a problem repeats. */
const WORDS_LENGTH_MAX = 200;

/** A sentence of the other side in printable ASCII, for a problem; null: there is none. */
export function asWords(value: unknown): string | null {
  const words = typeof value === 'string' ? value.replace(/[^\x20-\x7e]+/g, ' ').trim() : '';
  return words === '' ? null : words.slice(0, WORDS_LENGTH_MAX);
}

/** The problem of a row with what was answered, so that it can be looked up. */
function problemOf(row: AnswerRow, status: number, code: string | null): string {
  return `${row.problem} (${status}${code === null ? '' : ` ${code}`})`;
}

/**
 * The verdict of an answer that broke off, or that is longer than any should be: not even its
 * status says whether the message was taken. A repeat has the same id.
 */
function brokenOff(service: string, status: number): Verdict {
  const problem = `the answer of ${service} broke off (${status})`;
  return { verdict: 'retry', afterMs: null, problem };
}

/** The verdict of an answer that is in no table: of a proxy, or of a page in place of a service. */
function strange(service: string, status: number): Verdict {
  const problem = `what answers in place of ${service} is something else (${status})`;
  return { verdict: 'retry', afterMs: null, problem };
}

/** The verdict of an answer, if its row leaves no doubt. */
function verdictOf(
  means: Exclude<Meaning, 'token' | 'foreign' | 'throttled' | 'unclear'>,
  problem: string,
  { status, retryAfterMs }: Pick<OutgoingAnswer, 'status' | 'retryAfterMs'>,
): Verdict {
  if (means === 'accepted') return { verdict: 'accepted' };
  if (means === 'retry' && status === 429 && retryAfterMs !== null) {
    return { verdict: 'wait', afterMs: retryAfterMs, problem };
  }
  if (means === 'retry') return { verdict: 'retry', afterMs: retryAfterMs, problem };
  return { verdict: means, problem };
}

/** The verdict of a call that got no answer. */
export function verdictOfFailure({ kind, problem }: OutgoingFailure): Verdict {
  // Nothing was sent, and nothing will be: but what the operator allows may change, so the address
  // stays.
  if (kind === 'address' || kind === 'unsendable') return { verdict: 'failed', problem };
  if (kind === 'busy') return { verdict: 'busy', problem };
  return { verdict: 'retry', afterMs: null, problem };
}

/** Wait before an address is tried again of which nothing is sure: more is known by then, ms. */
const UNSURE_WAIT_MS = 15 * 60_000;

/**
 * What is known of whether our side is set up right, by what the other side accepted since. A
 * foreign address is any device's doing; a gateway that is set up for another app finds all of them
 * foreign, and must not drop them. So an address is dead only once another one was accepted.
 */
export class Experience {
  #hasWorked = false;

  /** The verdict of a call by its answer. `token` null: it shows none that is fetched anew. */
  judge(
    answer: OutgoingAnswer | OutgoingFailure,
    book: AnswerBook,
    token: ShownToken | null,
  ): Verdict {
    if (answer instanceof OutgoingFailure) return verdictOfFailure(answer);
    const { service, rows } = book;
    const { status } = answer;
    if (!answer.isWhole) return brokenOff(service, status);
    const code = book.codeOf(answer);
    const row = rowFor(rows, status, code);
    if (row === null) return strange(service, status);
    const problem = problemOf(row, status, code);
    if (TAKES_TOKEN.has(row.means)) token?.worked();
    const verdict = this.#judgeRow(row, problem, answer, token);
    const asOfMs = verdict.verdict === 'dead' ? book.deadSinceMs?.(answer) : null;
    return asOfMs == null ? verdict : { ...verdict, verdict: 'dead', problem, asOfMs };
  }

  #judgeRow(
    { means }: AnswerRow,
    problem: string,
    answer: Pick<OutgoingAnswer, 'status' | 'retryAfterMs'>,
    token: ShownToken | null,
  ): Verdict {
    if (means === 'token') return token?.refused(problem) ?? { verdict: 'failed', problem };
    if (means === 'accepted') this.#hasWorked = true;
    if (means === 'foreign' && this.#hasWorked) return { verdict: 'dead', problem };
    if (means !== 'foreign' && means !== 'throttled' && means !== 'unclear') {
      return verdictOf(means, problem, answer);
    }
    if (means === 'throttled' && answer.retryAfterMs !== null) {
      return { verdict: 'wait', afterMs: answer.retryAfterMs, problem, isOfOne: true };
    }
    const afterMs = means === 'throttled' ? null : UNSURE_WAIT_MS;
    return { verdict: 'retry', afterMs, problem, isOfOne: true };
  }
}
