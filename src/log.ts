/** One line per event on stderr. Never a credential, a device token or a query string. */

export type Fields = Readonly<Record<string, string | number | boolean | null>>;
export type LogFormat = 'human' | 'json';

/** From the least important on: a log of one level has the lines of all behind it too. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Looked at for each line, so that a change holds for the next one. */
export interface LogSettings {
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

export interface Log {
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
}

/** A log as `settings` have it; `write` gets whole lines, `nowMs` stamps them. */
export function makeLog(
  settings: LogSettings,
  nowMs: () => number,
  write: (line: string) => void = (line) => process.stderr.write(line),
  /** Told of every event, also of those whose level is not written. */
  onEvent: (level: LogLevel, event: string) => void = () => {},
): Log {
  const emit = (level: LogLevel) => {
    const rank = LOG_LEVELS.indexOf(level);
    return (event: string, fields: Fields = {}) => {
      onEvent(level, event);
      if (rank < LOG_LEVELS.indexOf(settings.logLevel)) return;
      const time = new Date(nowMs()).toISOString();
      write(
        settings.logFormat === 'json'
          ? `${JSON.stringify({ time, level, event, ...fields })}\n`
          : `${time} ${level} ${event}${humanFields(fields)}\n`,
      );
    };
  };
  return { debug: emit('debug'), info: emit('info'), warn: emit('warn'), error: emit('error') };
}

function humanFields(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name}=${quoteIfNeeded(String(value))}`)
    .join('');
}

/** JSON quoting also keeps a line break in a value from forging a second log line. */
function quoteIfNeeded(text: string): string {
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text);
}

/** A fault with its causes, for the log. */
export function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const trace = fault.stack || `${fault.name}: ${fault.message}`;
  return fault.cause === undefined ? trace : `${trace}\ncaused by ${reasonOf(fault.cause)}`;
}
