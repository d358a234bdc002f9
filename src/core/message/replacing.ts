/** Corrections: a notification that replaces an earlier one of its provider without a push. */

import { RECORD_ID } from '../formats.ts';
import { isAbsent } from '../json-input.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';
import { type NewDistribution, PUSH } from '../port/distribution.ts';
import type { Replaceable, ReplaceRefusal } from '../port/replacing.ts';
import { BLOCKED, CANCELLED } from './status.ts';

const DETAILS: Readonly<Record<ReplaceRefusal, string>> = {
  replaced_unknown: 'replaces must be the id of a notification of this provider',
  replaced_elsewhere: 'replaces must name a notification with the same os or HWIDs',
  replaced_ended:
    'replaces must not name a notification that was blocked, cancelled or replaced, or has expired',
  replaced_waits: 'replaces names a notification that has not begun: cancel that one, or wait',
};

/** Reads the id of the notification to replace; null: the call replaces none. */
export function readReplaces(value: unknown): number | null | Misfit {
  if (isAbsent(value)) return null;
  const id = RECORD_ID.read(value);
  return isRefused(id) ? malformed(`replaces ${id.detail}`) : (id as number);
}

/**
 * Returns why a send must not replace a notification of its provider (null: no such notification).
 * `exempt` or `counts`: whether the interval of general notifications applies. One correction of a
 * notification that is no correction itself is exempt.
 */
export function replacingOutcome(
  draft: Pick<NewDistribution, 'targetOs' | 'targetHwid' | 'segment' | 'createdAtMs'>,
  old: Replaceable | null,
): ReplaceRefusal | 'exempt' | 'counts' {
  if (old?.notificationType !== PUSH) return 'replaced_unknown';
  const isSame = (a: string | null, b: string | null) => sorted(a) === sorted(b);
  const isNamedAlike =
    isSame(old.targetOs, draft.targetOs) && isSame(old.targetHwid, draft.targetHwid);
  if (!isNamedAlike || old.segment !== (draft.segment ?? null)) return 'replaced_elsewhere';
  const isOver = old.status === BLOCKED || old.status === CANCELLED;
  if (isOver || old.expiresAtMs <= draft.createdAtMs) return 'replaced_ended';
  // Its devices would get neither its push nor a push of the correction.
  if (old.beganAtMs === null) return 'replaced_waits';
  return old.replacesId === null ? 'exempt' : 'counts';
}

const sorted = (list: string | null) => list?.split(',').sort().join(',');

/** Returns true for the refusal of a correction. */
export function isReplaceRefusal(outcome: unknown): outcome is ReplaceRefusal {
  return typeof outcome === 'string' && Object.hasOwn(DETAILS, outcome);
}

/** Returns the refusal of a correction in the form of a misfit. */
export function refusedReplacing(refusal: ReplaceRefusal): Misfit {
  return malformed(DETAILS[refusal]);
}
