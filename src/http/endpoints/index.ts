import type { Endpoint } from '../endpoint.ts';
import { appEndpoints } from './app.ts';
import { domainEndpoints } from './domain.ts';
import { installEndpoints } from './install.ts';
import { messagingEndpoints } from './messaging.ts';
import { remoteEndpoints } from './remote.ts';

/** The table of endpoints: the one place that says what the API is. */
export const endpoints: readonly Endpoint[] = [
  ...installEndpoints,
  ...domainEndpoints,
  ...remoteEndpoints,
  ...appEndpoints,
  ...messagingEndpoints,
];
