/** The log: a line per event on stderr, without credentials, device tokens and query strings. */

import { visible } from './visible.ts';

type Fields = Readonly<Record<string, string | number | boolean | null>>;
type LogFormat = 'human' | 'json';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Settings, read for each line, so that a change takes effect at once. */
interface LogSettings {
  readonly logFormat: LogFormat;
  /** Lowest level that is written. */
  readonly logLevel: LogLevel;
}

export interface Log {
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
}

const WEIGHTS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * Makes a log. `write` receives whole lines with their level, `onEvent` every event, also below
 * the log level.
 */
export function makeLog(
  settings: LogSettings,
  nowMs: () => number,
  write: (line: string, level: LogLevel) => void = (line) => process.stderr.write(line),
  onEvent: (level: LogLevel, event: string) => void = () => {},
): Log {
  const emit =
    (level: LogLevel) =>
    (event: string, fields: Fields = {}) => {
      onEvent(level, event);
      if (WEIGHTS[level] < WEIGHTS[settings.logLevel]) return;
      const time = new Date(nowMs()).toISOString();
      write(
        settings.logFormat === 'json'
          ? `${visible(JSON.stringify({ time, level, event, ...fields }))}\n`
          : `${time} ${level} ${event}${humanFields(fields)}\n`,
        level,
      );
    };
  return { debug: emit('debug'), info: emit('info'), warn: emit('warn'), error: emit('error') };
}

function humanFields(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${quoteIfNeeded(String(value))}`)
    .join('');
}

/** Quotes a value as JSON if needed: a line break forges no line, no sign controls a terminal. */
function quoteIfNeeded(text: string): string {
  return /^[\w.:/@+-]+$/.test(text) ? text : visible(JSON.stringify(text));
}

/** Formats a fault with its causes; without stacks if the innermost one has none. */
export function reasonOf(fault: unknown): string {
  const causes = [fault];
  for (let at = fault; at instanceof Error && at.cause !== undefined; at = at.cause) {
    causes.push(at.cause);
  }
  const last = causes.at(-1);
  const hasStacks = !(last instanceof Error) || Boolean(last.stack);
  return causes.map((cause) => traceOf(cause, hasStacks)).join('\ncaused by ');
}

function traceOf(fault: unknown, hasStacks: boolean): string {
  if (!(fault instanceof Error)) return String(fault);
  return (hasStacks && fault.stack) || `${fault.name}: ${fault.message}`;
}
