import { notEmpty, portOrOff } from '../readers.ts';
import { setting } from '../setting.ts';

export const monitorSettings = {
  monitorHost: setting({
    key: 'monitor.host',
    env: 'GATEPOST_MONITOR_HOST',
    // Its figures are for the operator alone.
    default: '127.0.0.1',
    read: notEmpty,
    about: ['The address on which `/healthz`, `/readyz` and `/metrics` are served.'],
  }),
  monitorPort: setting({
    key: 'monitor.port',
    env: 'GATEPOST_MONITOR_PORT',
    default: '9180',
    types: ['integer', 'string'],
    read: portOrOff,
    about: ['The port of the monitor; 0 picks a free one, `off` serves none of these.'],
  }),
} as const;
