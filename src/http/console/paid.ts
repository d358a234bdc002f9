/** The check of the subscription, for changes that the API refuses without one. */

import { Refused } from '../../core/outcome.ts';
import { refusalByPlan } from '../../core/provider.ts';
import type { Staff } from './call.ts';

/** Returns the refusal of a change by a provider without a subscription. */
export function unpaid({ provider, nowMs }: Staff) {
  const refusal = refusalByPlan(provider, undefined, nowMs);
  return refusal && new Refused(refusal);
}
