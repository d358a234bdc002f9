import { notEmpty, portOrOff } from '../readers.ts';
import { setting } from '../setting.ts';

export const monitorSettings = {
  // Its figures are only for the operator.
  monitorHost: setting('monitor.host', '127.0.0.1', notEmpty, [
    'The address on which `/healthz`, `/readyz` and `/metrics` are served.',
  ]),
  monitorPort: setting('monitor.port', '9180', { types: ['integer', 'string'], read: portOrOff }, [
    'The port of these; 0 picks a free one, `off` serves none.',
  ]),
} as const;
