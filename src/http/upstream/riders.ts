/** Adds the messages that ride to a response of the panel. */

import type { Clock } from '../../base/clock.ts';
import { SHORT_INTERVAL_HOURS } from '../../core/cut-off.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { figuresIn } from '../../core/subscription-figures.ts';
import { addRiders, intervalHeader } from '../ride/answer.ts';
import type { AdmittedFetch, RideDesk } from '../ride/desk.ts';
import { discoveryHeader } from '../ride/discovery.ts';
import { isTrue } from './admission.ts';
import type { UpstreamResponse } from './exchange.ts';
import { FIGURES_HEADER } from './figures.ts';
import { isPage } from './headers.ts';
import type { Upstream } from './settings.ts';

const UNKNOWN_APP = 'unknown app';

/** Adds the headers that ride now: a message may have begun or ended since the panel was asked. */
export async function addRides(
  { clock, rides }: { clock: Clock; rides: RideDesk },
  fetch: AdmittedFetch,
  upstream: Upstream,
  { headers, status }: UpstreamResponse,
): Promise<void> {
  const { awaitsFetch = false } = fetch.link;
  const interval = intervalHeader(
    awaitsFetch ? SHORT_INTERVAL_HOURS : upstream.updateIntervalHours,
  );
  for (const [name, value] of Object.entries(interval)) headers.set(name, value);
  // Beside this header, apps read `announce` as the reason of a refusal.
  if (isTrue(headers, 'x-hwid-limit')) return;
  const nowMs = clock.nowMs();
  const figures = () => figuresIn(headers.get(FIGURES_HEADER) ?? '', nowMs);
  const riders = await rides.on({ ...fetch, figures }, upstream, panelOf(upstream), nowMs);
  if (riders === null) return;
  const found = status === 200 && !isPage(headers) ? discoveryHeader(riders, fetch) : {};
  for (const [name, value] of Object.entries(found)) headers.set(name, value);
  const carried = addRiders(headers, riders, upstream.announce);
  rides.note(carried, fetch.link, riders.app?.toLowerCase() ?? UNKNOWN_APP, nowMs);
}
