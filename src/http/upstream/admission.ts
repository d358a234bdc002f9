/** Admits devices by the answer of a panel: only a subscription gives a slot. */

import type { Clock } from '../../clock.ts';
import type { AdmittedDevice } from '../../core/port/install.ts';
import { SUBSCRIPTION_HEADERS } from '../../core/subscription.ts';
import type { Obstacle } from './answers.ts';
import type { Answer } from './exchange.ts';
import { isPage } from './headers.ts';
import type { Denied, Passage } from './permit.ts';
import { isProof, proofIn } from './proof.ts';

interface Admitting {
  clock: Clock;
  /** Called with an answer of success to a device without a slot that is no subscription. */
  onOther(): void;
  /** Called if a subscription proves the key of the link that admits the device. */
  onProof(key: string, link: AdmittedDevice): void;
}

/**
 * Admits the device if the answer of the panel allows it; null: it takes no slot. A device that
 * holds its slot gets every answer of the panel; another one only a subscription, or, from a panel
 * that has no name, a 200 with a body that is no page.
 */
export async function admissionOf(
  first: Passage,
  answer: Answer,
  { clock, onOther, onProof }: Admitting,
): Promise<AdmittedDevice | Denied | Obstacle | null> {
  const { judge, unknown } = first;
  if (first.isForPage) return forPage(answer);
  const isGood = isSuccess(answer);
  if (judge === null && (first.admit === null || first.holdsSlot)) {
    // A device with a slot is seen even if its subscription is unchanged.
    const isSeen = isGood || answer.status === NOT_MODIFIED;
    if (first.admit === null || !isSeen) return null;
    const admitted = await orCancel(answer, first.admit());
    const isNamed =
      answer.status === 200 && SUBSCRIPTION_HEADERS.some((name) => answer.headers.has(name));
    if (isNamed && first.key !== null && isLink(admitted)) onProof(first.key, admitted);
    return admitted;
  }
  if (!isGood) return null;
  const { believesOther } = first;
  const proof = first.takesSlot
    ? await orCancel(answer, proofIn(answer, !believesOther))
    : 'subscription';
  if (!isProof(proof)) return proof;
  if (proof === 'other' || proof === 'none') onOther();
  const proves = proof === 'subscription' || (proof !== 'none' && believesOther);
  if (!proves) {
    const passes = await orCancel(answer, Promise.resolve(first.passesUnproven()));
    return passes ? null : unknown;
  }
  const passage = judge === null ? first : await orCancel(answer, judge(clock.nowMs()));
  if ('reason' in passage) return passage;
  if (passage.isForPage) return forPage(answer);
  if (passage.admit === null) return null;
  const admitted = await orCancel(answer, passage.admit());
  if (proof === 'subscription' && passage.key !== null && isLink(admitted)) {
    onProof(passage.key, admitted);
  }
  return admitted;
}

function isLink(admitted: AdmittedDevice | Denied | Obstacle): admitted is AdmittedDevice {
  return typeof admitted !== 'string' && !('reason' in admitted);
}

function forPage({ headers }: Answer): Denied | null {
  return isPage(headers) ? null : { reason: 'hwid_required' };
}

async function orCancel<T>(answer: Answer, judged: Promise<T>): Promise<T> {
  try {
    return await judged;
  } catch (fault) {
    answer.cancel();
    throw fault;
  }
}

const NOT_MODIFIED = 304;

export function isSuccess({ status, headers }: Answer): boolean {
  return status >= 200 && status < 300 && !isRefusal(headers);
}

/** Headers, with any status, by which a panel refuses a device over its own limit. */
const REFUSING = ['x-hwid-max-devices-reached', 'x-hwid-not-supported'];

function isRefusal(headers: Headers): boolean {
  return REFUSING.some((name) => isTrue(headers, name));
}

export const isTrue = (headers: Headers, name: string) =>
  /^(?!\s*false\s*$)/i.test(headers.get(name) ?? 'false');
