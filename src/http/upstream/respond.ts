/** Passes on responses of panels, decoded where needed, with the headers that ride on them. */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { AdmittedFetch, RideDesk } from '../ride/desk.ts';
import { SERVER_HEADER } from '../ride/discovery.ts';
import { decodedFor } from './decoded-response.ts';
import { Failure, type UpstreamResponse } from './exchange.ts';
import type { Forwarding } from './forwarding.ts';
import { keepFresh, keepFromSharedCaches } from './headers.ts';
import type { Inspection } from './inspection.ts';
import type { Panel } from './panels.ts';
import { failed, forwarded, type ProxyResponse } from './responses.ts';
import { addRides } from './riders.ts';

interface RespondDeps {
  clock: Clock;
  log: Log;
  rides: RideDesk;
  inspection: Inspection;
}

interface Given {
  response: UpstreamResponse;
  forwarding: Forwarding;
  /** True: the request names a link. */
  hasLink: boolean;
  /** The fetch that rides; null: no device is admitted. */
  rider: AdmittedFetch | null;
  /** True: the response shows nothing of Gatepost. */
  isStrange: boolean;
}

/** Passes on the response of a panel, decoded for a client that takes no encoding. */
export async function respond(
  deps: RespondDeps,
  { headers }: Request,
  panel: Panel,
  { response, forwarding, hasLink, rider, isStrange }: Given,
): Promise<ProxyResponse> {
  const { clock, inspection, log } = deps;
  const { upstream } = panel;
  const plain = await decodedFor(response, {
    ...upstream,
    accepted: headers.get('accept-encoding'),
    onFailure: (failure) => panel.logFailure(failure, log, clock.steadyMs()),
  });
  if (plain instanceof Failure) return failed(plain.kind, hasLink);
  // Only Gatepost says it, and only to an app that may register.
  plain.headers.delete(SERVER_HEADER);
  if (!forwarding.isForAll && !isStrange) keepFromSharedCaches(plain.headers);
  // Also without a message: a cache must not hide the next one.
  if (rider !== null && upstream.ride !== 'off') keepFresh(plain.headers);
  if (rider !== null) await addRides(deps, rider, upstream, plain);
  const looked = inspection.of(plain, upstream, forwarding.isForAll, clock.nowMs());
  return {
    outcome: rider === null ? 'passed' : 'admitted',
    response: forwarded(looked, rider !== null),
  };
}
