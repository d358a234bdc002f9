/** Every code that Gatepost gives out, with its meaning, for `gatepost explain`. */

import { FINDINGS } from '../base/finding-names.ts';
import { ERROR_CODES, EXIT_CODES } from '../base/operator-error.ts';
import { ACTIONS } from '../core/audit/entry.ts';
import { messages } from '../http/messages.ts';
import { LOG_EVENTS } from '../monitor/log-events.ts';
import { METRICS } from '../monitor/metric-table.ts';
import type { Explanation } from './context.ts';

/** Returns a meaning with the names of what comes with the code behind it. */
const withNames = (about: string, names: readonly string[]) =>
  names.length === 0 ? about : `${about} (${names.join(', ')})`;

export function explanations(): Explanation[] {
  const answers = Object.entries(messages).map(([code, { msg, detail }]) => {
    return { kind: 'answer of the API', code, texts: [msg, detail ?? ''], about: detail ?? msg };
  });
  const events = Object.entries(LOG_EVENTS).map(([code, { level, fields, when }]) => {
    return { kind: `event of the log, ${level}`, code, about: withNames(when, fields) };
  });
  const metrics = METRICS.map(({ name, labels, help }) => {
    return { kind: 'metric', code: name, about: withNames(help, labels) };
  });
  const plain = (kind: string, of: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([code, about]) => ({ kind, code, about }));
  return [
    ...plain('exit code', EXIT_CODES),
    ...plain('error of a command', ERROR_CODES),
    ...plain('finding of gatepost doctor', FINDINGS),
    ...answers,
    ...events,
    ...metrics,
    ...plain('action of the audit log', ACTIONS),
  ];
}
