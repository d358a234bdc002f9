import { portOrOff, text } from '../readers.ts';
import { setting } from '../setting.ts';

export const monitorSettings = {
  monitorHost: setting({
    key: 'monitor.host',
    env: 'GATEPOST_MONITOR_HOST',
    // What it tells is for the operator alone.
    default: '127.0.0.1',
    types: ['string'],
    read: text,
    about: ['The address on which `/healthz`, `/readyz` and `/metrics` are served.'],
  }),
  monitorPort: setting({
    key: 'monitor.port',
    env: 'GATEPOST_MONITOR_PORT',
    default: '9180',
    types: ['integer', 'string'],
    read: portOrOff,
    about: ['The port for these; 0 picks a free one, `off` serves none.'],
  }),
} as const;
