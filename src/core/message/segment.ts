/** Messages to the devices of links that a filter of figures finds. */

import type { Core } from '../core.ts';
import { counted } from '../counted.ts';
import { ANY_DEVICE, findDevices, SEARCHED_HWIDS_MAX } from '../device-search.ts';
import { figuresFilterOf, figuresNotKept, readFiguresWish } from '../figures-filter.ts';
import { isAbsent } from '../json-input.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';
import type { Provider } from '../port/provider.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * Returns the body of a notification with the HWIDs that its filter finds now, in place of the
 * filter; a body without a filter is returned as it is. Refuses a filter beside other targets, one
 * where no figures are kept, one that finds no device, and one that finds more than
 * {@link SEARCHED_HWIDS_MAX}.
 */
export async function withSegment(
  core: Core,
  provider: Provider,
  body: Body,
  nowMs: number,
  signal: AbortSignal,
): Promise<Body | Misfit | Refused<'no_devices_found'>> {
  const wish = readFiguresWish(body);
  if (wish === null || isRefused(wish)) return wish ?? body;
  if (!isAbsent(body['hwid']) || !isAbsent(body['os'])) {
    return malformed('give either hwid, os or a filter of subscriptions');
  }
  const notKept = figuresNotKept(provider);
  if (notKept !== null) return notKept;
  const search = { ...ANY_DEVICE, figures: figuresFilterOf(wish, nowMs) };
  const { count, hwids, isPart } = await findDevices(core, provider, search, signal);
  if (isPart) return malformed('the search for the devices was stopped');
  if (count === 0) {
    return new Refused('no_devices_found', { detail: 'the filter finds no device' });
  }
  if (hwids === null) {
    return malformed(
      `the filter finds ${counted(count, 'device')}, and a message goes to at most ${SEARCHED_HWIDS_MAX}`,
    );
  }
  return { ...body, hwid: hwids.join(',') };
}
