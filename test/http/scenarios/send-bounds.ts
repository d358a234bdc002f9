/** Sends beyond what their provider may send and keep: nothing of them is kept. */

import type { SendBounds } from '../../../src/core/port/distribution.ts';
import type { Given, Scenario } from './scenario.ts';

const BEYOND: readonly [string, Partial<SendBounds>, string][] = [
  [
    'too_many_sends',
    { sendsPerMinuteMax: 0 },
    'the provider has sent as many in a minute as it may: try again in a minute',
  ],
  [
    'kept_bytes_full',
    { keptBytesMax: 200 },
    'as many bytes of notifications and commands are kept for the provider as may be: wait until old ones are pruned, or ask the operator to raise limits.kept_bytes_per_provider_max',
  ],
  [
    'ledger_full',
    { ledgerRowsMax: 0 },
    'as many recipients are kept in the ledger for the provider as may be: wait until old ones are pruned, or ask the operator to raise limits.ledger_rows_per_provider_max',
  ],
];

export function beyondBounds(
  kind: 'notification' | 'command',
  path: string,
  given: readonly Given[],
  body: unknown,
): Scenario[] {
  return BEYOND.map(([bound, numbers, detail]) => ({
    name: `beyond a bound of the provider: ${bound}`,
    path,
    options: { bounds: numbers },
    says: `${kind}_${bound}` as Scenario['says'],
    given,
    request: {},
    body,
    answer: JSON.stringify({ rc: 0, msg: `Failed to save ${kind}` }),
    detail,
  }));
}
