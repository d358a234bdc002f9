/** Every code that Gatepost gives out, with its meaning, for `gatepost explain`. */

import type { Explanation } from './cli/context.ts';
import { FINDINGS } from './finding-names.ts';
import { messages } from './http/messages.ts';
import { LOG_EVENTS } from './monitor/log-events.ts';
import { ERROR_CODES, EXIT_CODES } from './operator-error.ts';

/** Leaves out the targets of links, which are pages beside the documents. */
const withoutLinks = (text: string) => text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1');

export function explanations(): Explanation[] {
  const answers = Object.entries(messages).map(([code, { msg, detail }]) => {
    return { kind: 'answer of the API', code, texts: [msg, detail ?? ''], about: detail ?? msg };
  });
  const events = Object.entries(LOG_EVENTS).map(([code, { level, fields, when }]) => {
    const has = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
    return { kind: `event of the log, ${level}`, code, about: withoutLinks(when) + has };
  });
  const plain = (kind: string, of: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([code, about]) => ({ kind, code, about }));
  return [
    ...plain('exit code', EXIT_CODES),
    ...plain('error of a command', ERROR_CODES),
    ...plain('finding of gatepost doctor', FINDINGS),
    ...answers,
    ...events,
  ];
}
