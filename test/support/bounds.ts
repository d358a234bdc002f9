/** Limits that no test meets by chance. */

import type { Limits } from '../../src/core/core.ts';
import { KEPT_BYTES_EACH, SENDS_WINDOW_MS } from '../../src/core/send.ts';

const SEND_BOUNDS = {
  sendsPerMinuteMax: 1_000_000,
  keptBytesMax: Number.MAX_SAFE_INTEGER,
  ledgerRowsMax: 1_000_000_000,
};

export const WIDE_LIMITS: Limits = {
  privacyKeep: 'usual',
  linksPerProviderMax: 100_000,
  domainsPerProviderMax: 100_000,
  unboundCommandsPerDayMax: 10,
  waitingPerDeviceMax: 1_000,
  auditEntriesMax: 1_000_000,
  outgoingAllow: [],
  outgoingAllowHttp: false,
  webhooksPerOwnerMax: 10,
  gateRide: 'off',
  gateProviderIdFile: '',
  gateUpdateIntervalHours: 0,
  gateUpstreams: [],
  rideHosts: [],
  myPath: '/my',
  myUrl: '',
  ...SEND_BOUNDS,
};

/** The bounds of sends in the form that the store gets with a send. */
export const GUARD_BOUNDS = {
  ...SEND_BOUNDS,
  windowMs: SENDS_WINDOW_MS,
  bytesEach: KEPT_BYTES_EACH,
};
