/** Admits devices by the answer of a panel. */

import type { Clock } from '../../clock.ts';
import type { AdmittedDevice } from '../../core/port/install.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { Obstacle } from './answers.ts';
import type { Answer } from './exchange.ts';
import type { Denied, Passage } from './passage.ts';

/** Admits the device if the answer of the panel allows it; null: it takes no slot. */
export async function admissionOf(
  first: Passage,
  answer: Answer,
  clock: Clock,
): Promise<AdmittedDevice | Denied | Obstacle | null> {
  const passage = await provenBy(answer, first, clock);
  if ('reason' in passage) return passage;
  const { admit, holdsSlot, isForPage } = passage;
  if (isForPage) {
    const isPage = /^text\/html\b/i.test(answer.headers.get('content-type') ?? '');
    return isPage ? null : { reason: 'hwid_required' };
  }
  // A device with a slot is seen even if its subscription is unchanged.
  const isSeen = isSuccess(answer) || (holdsSlot && answer.status === NOT_MODIFIED);
  return admit === null || !isSeen ? null : orCancel(answer, admit());
}

/** Judges a request after the panel's answer has proven its token. */
function provenBy(answer: Answer, passage: Passage, clock: Clock): Maybe<Passage | Denied> {
  const { judge } = passage;
  return judge === null || !isSuccess(answer) ? passage : orCancel(answer, judge(clock.nowMs()));
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
