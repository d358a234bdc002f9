/** Prints verdicts of cases that were played to an app or a server: each, then their numbers. */

import { OperatorError, UsageError } from '../base/operator-error.ts';
import { counted } from '../core/counted.ts';
import type { PeerVerdict } from '../peer/verdict.ts';
import type { CliContext } from './context.ts';

const SIGNS = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const;

/** Throws {@link UsageError} for a name of no case; `where` says where the names stand. */
export function checkNames(
  cases: readonly { name: string }[],
  names: readonly string[],
  where: string,
): void {
  const unknown = names.find((name) => !cases.some((one) => one.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no case ${unknown}${where}`);
}

/** Returns the beginning of a line about a verdict. */
export const startOf = ({ case: name, verdict }: PeerVerdict, nameWidth: number): string =>
  `${SIGNS[verdict]}  ${name.padEnd(nameWidth)}  `;

/** Returns what prints an event: as JSON, or as the text for people. */
export const printer =
  ({ stdout }: CliContext, json: boolean | undefined) =>
  (event: object, text: string): void => {
    stdout(`${json ? JSON.stringify(event) : text}\n`);
  };

/** Prints each verdict, then their numbers. Throws {@link OperatorError} if a case failed. */
export async function report<V extends PeerVerdict>(
  context: CliContext,
  json: boolean | undefined,
  lineOf: (verdict: V) => string,
  play: (tell: (verdict: V) => void) => Promise<void>,
): Promise<void> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const print = printer(context, json);
  await play((verdict) => {
    counts[verdict.verdict] += 1;
    print(verdict, lineOf(verdict));
  });
  const { failed, passed, skipped } = counts;
  if (!json) context.stdout(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  if (failed > 0) throw new OperatorError(`${counted(failed, 'case')} failed`);
}
