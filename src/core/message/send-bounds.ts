/** The bounds of a provider's sends. */

import type {
  BoundReached,
  DistributionGuards,
  NewDistribution,
  SendCount,
  SendUsage,
} from '../port/distribution.ts';

/**
 * Counts a send, or returns the refusal of the first bound that it exceeds. A window extends into
 * the past too: neither a clock that was set back nor a late call with an earlier time starts or
 * prolongs one.
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

/** Returns the bytes that a send counts until its ledger is pruned. */
export function keptBytesOf(
  { payload, targetHwid }: Pick<NewDistribution, 'payload' | 'targetHwid'>,
  { bytesEach }: DistributionGuards['bounds'],
): number {
  return Buffer.byteLength(payload) + Buffer.byteLength(targetHwid) + bytesEach;
}
