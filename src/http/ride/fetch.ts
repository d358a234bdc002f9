/** Notes fetches of subscriptions on links whose credentials changed: core/cut-off.ts. */

import type { Log } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import type { AdmittedDevice } from '../../core/port/link.ts';
import { reportFault } from '../interpreter.ts';

/**
 * Notes that the device fetched the subscription of a link, if that waits for it; the request,
 * which began at `beganAtMs`, does not wait.
 */
export function noteFetch(
  { core, log }: { core: Core; log: Log },
  { awaitsFetch = false, hwid, installId }: AdmittedDevice,
  beganAtMs: number,
): void {
  if (!awaitsFetch || hwid === undefined) return;
  core.store.noteFetched(installId, hwid, beganAtMs).catch((fault) => {
    reportFault(log, 'fetch', fault, crypto.randomUUID());
  });
}
