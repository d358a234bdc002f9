import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import { fromStore, Refused, saving } from '../outcome.ts';
import type { Provider } from '../port/provider.ts';
import { CANCELLED, isTerminal, statusesBefore } from './status.ts';

/** Least time between a cancellation and the planned delivery, ms (specification, "Limits"). */
export const CANCEL_CUTOFF_MS = 10 * 60_000;

/**
 * Cancels a scheduled distribution: after `ok` no device ever gets it. Refuses
 * `notification_not_found` if the provider has none with the id, `cancel_failed` if it has ended,
 * `cancel_too_late` if it is not scheduled or due in less than {@link CANCEL_CUTOFF_MS}.
 */
export async function cancelDistribution(
  core: Core,
  provider: Pick<Provider, 'id'>,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'notification_not_found' | 'cancel_too_late' | 'cancel_failed'>> {
  const dueFromMs = core.leastMs(nowMs) + CANCEL_CUTOFF_MS;
  const outcome = await saving(
    'cancel_failed',
    core.store.cancelDistribution(
      provider.id,
      id,
      { from: statusesBefore(CANCELLED), dueFromMs, nowMs },
      actAt(core, nowMs),
    ),
  );
  if (typeof outcome !== 'number') return fromStore(outcome);
  return new Refused(isTerminal(outcome) ? 'cancel_failed' : 'cancel_too_late');
}
