/** The log: a line per event on stderr, never a credential, a device token or a query string. */

export type Fields = Readonly<Record<string, string | number | boolean | null>>;
export type LogFormat = 'human' | 'json';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Settings that are read for each line, so that a change holds at once. */
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
 * Makes a log by `settings`; `write` gets whole lines, `nowMs` stamps them. `onEvent` hears of
 * every event, also of those that are not written.
 */
export function makeLog(
  settings: LogSettings,
  nowMs: () => number,
  write: (line: string) => void = (line) => process.stderr.write(line),
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
          ? `${JSON.stringify({ time, level, event, ...fields })}\n`
          : `${time} ${level} ${event}${humanFields(fields)}\n`,
      );
    };
  return { debug: emit('debug'), info: emit('info'), warn: emit('warn'), error: emit('error') };
}

function humanFields(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${quoteIfNeeded(String(value))}`)
    .join('');
}

/** Quotes a value as JSON where need be: a line break in it then forges no second log line. */
function quoteIfNeeded(text: string): string {
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text);
}

/** A fault with its causes, for the log. */
export function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const trace = fault.stack || `${fault.name}: ${fault.message}`;
  return fault.cause === undefined ? trace : `${trace}\ncaused by ${reasonOf(fault.cause)}`;
}
