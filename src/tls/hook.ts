/** Runs the operator's program that creates and removes TXT records. */

import { OperatorError } from '../base/operator-error.ts';
import { runProgram } from '../base/operator-program.ts';

/** The time limit of a hook, ms: the record should be visible when it ends. */
const TIME_MAX_MS = 5 * 60_000;
/** A failure is reported with the first line of stderr, up to so many characters. */
const REASON_LENGTH_MAX = 200;

/**
 * Runs `hook action name value`. Ends it with all its processes on `signal` or after the time
 * limit. Throws {@link OperatorError} unless it exits with 0.
 */
export async function runHook(
  words: readonly [hook: string, action: string, name: string, value: string],
  signal: AbortSignal,
): Promise<void> {
  const [hook, action] = words;
  if (signal.aborted) throw new OperatorError(`${hook} ${action} was not run: the server stops`);
  const bounds = { timeMaxMs: TIME_MAX_MS, mayLeaveRest: true };
  const { exitCode, signalCode, errors } = await runProgram(words, signal, bounds);
  if (exitCode === 0) return;
  const ended = exitCode === null ? `was ended by ${signalCode}` : `exited with ${exitCode}`;
  const line = errors.trim().split('\n')[0]?.slice(0, REASON_LENGTH_MAX) ?? '';
  throw new OperatorError(`${hook} ${action} ${ended}${line === '' ? '' : `: ${line}`}`);
}
