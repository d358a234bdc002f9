/** Passes on answers of panels, decoded where needed, with the headers that ride on them. */

import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { AdmittedFetch, RideDesk } from '../ride/desk.ts';
import { type Answered, hindered, passedOn } from './answers.ts';
import { type Answer, Failure } from './exchange.ts';
import { keepFresh, keepFromSharedCaches } from './headers.ts';
import type { Inspection } from './inspection.ts';
import type { Panel } from './panels.ts';
import type { Passage } from './permit.ts';
import { plainFor } from './plain-answer.ts';
import { addRides } from './riders.ts';

interface PassDeps {
  clock: Clock;
  log: Log;
  rides: RideDesk;
  inspection: Inspection;
}

interface Passing {
  answer: Answer;
  passage: Passage;
  /** True: the request names a link. */
  hasLink: boolean;
  /** The fetch that rides; null: no device is admitted. */
  rider: AdmittedFetch | null;
  /** True: the answer shows nothing of Gatepost. */
  isStrange: boolean;
}

/** Passes on the answer of a panel, decoded for a client that takes no encoding. */
export async function passOn(
  deps: PassDeps,
  { headers }: Request,
  panel: Panel,
  { answer, passage, hasLink, rider, isStrange }: Passing,
): Promise<Answered> {
  const { clock, inspection, log } = deps;
  const { upstream } = panel;
  const plain = await plainFor(answer, {
    ...upstream,
    accepted: headers.get('accept-encoding'),
    onFailure: (failure) => panel.logFailure(failure, log, clock.steadyMs()),
  });
  if (plain instanceof Failure) return hindered(plain.kind, hasLink);
  if (!passage.isForAll && !isStrange) keepFromSharedCaches(plain.headers);
  // Also without a message: a cache must not hide the next one.
  if (rider !== null && upstream.ride !== 'off') keepFresh(plain.headers);
  if (rider !== null) await addRides(deps, rider, upstream, plain);
  const looked = inspection.of(plain, upstream, passage.isForAll, clock.nowMs());
  return {
    outcome: rider === null ? 'passed' : 'admitted',
    response: passedOn(looked, rider !== null),
  };
}
