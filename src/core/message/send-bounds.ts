/** The bounds of a provider's sends: whether one more is within them, and how it is counted. */

import type {
  BoundReached,
  DistributionGuards,
  NewDistribution,
  SendCount,
  SendUsage,
} from '../port/distribution.ts';

/**
 * The counts with a send that nothing refuses. Sends of a time are counted around it: a
 * clock that is set back holds nobody up for longer, and a call that was held back, which comes
 * with an earlier time, begins no other window.
 */
export function countSend(
  usage: SendUsage,
  draft: NewDistribution,
  { generalIntervalMs, unboundQuota, bounds }: DistributionGuards,
): SendCount | 'general_too_soon' | 'unbound_quota_exceeded' | BoundReached {
  const { createdAtMs, unboundCount } = draft;
  const isWithin = (fromMs: number, ms: number) => Math.abs(createdAtMs - fromMs) < ms;
  if (unboundQuota !== null && usage.unboundCount + unboundCount > unboundQuota.countMax) {
    return 'unbound_quota_exceeded';
  }
  const { lastGeneralAtMs } = usage;
  const isGeneral = generalIntervalMs !== null;
  if (isGeneral && lastGeneralAtMs !== null && isWithin(lastGeneralAtMs, generalIntervalMs)) {
    return 'general_too_soon';
  }
  const isInWindow = isWithin(usage.sendsFromMs, bounds.windowMs);
  const sendCount = isInWindow ? usage.sendCount : 0;
  if (sendCount >= bounds.sendsPerMinuteMax) return 'too_many_sends';
  const bytes = keptBytesOf(draft, bounds);
  if (usage.keptBytes + bytes > bounds.keptBytesMax) return 'kept_bytes_full';
  if (usage.ledgerCount >= bounds.ledgerRowsMax) return 'ledger_full';
  return {
    lastGeneralAtMs: isGeneral ? createdAtMs : lastGeneralAtMs,
    sendsFromMs: isInWindow ? usage.sendsFromMs : createdAtMs,
    sendCount: sendCount + 1,
  };
}

/** Bytes that a send counts as until it is forgotten. */
export function keptBytesOf(
  { payload, targetHwid }: Pick<NewDistribution, 'payload' | 'targetHwid'>,
  { bytesEach }: DistributionGuards['bounds'],
): number {
  return Buffer.byteLength(payload) + Buffer.byteLength(targetHwid) + bytesEach;
}
