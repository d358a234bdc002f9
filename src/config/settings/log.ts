import { boolean, oneOf } from '../readers.ts';
import { live } from '../setting.ts';

export const logSettings = {
  logFormat: live('log.format', 'human', oneOf('human', 'json'), [
    'The format of log lines: `human` or `json`.',
  ]),
  logLevel: live('log.level', 'info', oneOf('debug', 'info', 'warn', 'error'), [
    'The lowest level that is written: `debug`, `info`, `warn` or `error`.',
  ]),
  // At full load a line for each request would cost more than the request.
  logRequests: live('log.requests', 'false', boolean, [
    'Whether each request is logged: path, answer and duration, never the query.',
  ]),
} as const;
