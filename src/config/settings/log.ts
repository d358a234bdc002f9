import type { LogFormat, LogLevel } from '../../log.ts';
import { oneOf, yesOrNo } from '../readers.ts';
import { setting } from '../setting.ts';

export const logSettings = {
  logFormat: setting({
    key: 'log.format',
    env: 'GATEPOST_LOG_FORMAT',
    default: 'human',
    read: oneOf<LogFormat>('human', 'json'),
    about: ['How log lines are written: `human` or `json`.'],
    isLive: true,
  }),
  logLevel: setting({
    key: 'log.level',
    env: 'GATEPOST_LOG_LEVEL',
    default: 'info',
    read: oneOf<LogLevel>('debug', 'info', 'warn', 'error'),
    about: ['The lowest level that is written: `debug`, `info`, `warn` or `error`.'],
    isLive: true,
  }),
  logRequests: setting({
    key: 'log.requests',
    env: 'GATEPOST_LOG_REQUESTS',
    // At full load a line for each request would cost more than the request.
    default: 'false',
    types: ['boolean'],
    read: yesOrNo,
    about: ['Whether each request is a log line: path, answer and time taken, never the query.'],
    isLive: true,
  }),
} as const;
