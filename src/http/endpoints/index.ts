import type { Endpoint } from '../endpoint.ts';
import { deviceEndpoints } from './device.ts';
import { domainEndpoints } from './domain.ts';
import { installEndpoints } from './install.ts';

/** The table of endpoints: the one place that says what the API is. */
export const endpoints: readonly Endpoint[] = [
  ...installEndpoints,
  ...domainEndpoints,
  ...deviceEndpoints,
];
