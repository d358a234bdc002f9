/** Answers of push services: RFC 8030, and what browsers' services add to it. */

import type { AnswerRow } from './answer.ts';

const REFUSED =
  'the push service does not let us send here: the subscription was made with another VAPID key, or gateway.webpush.subject is no contact that it takes';
const THROTTLED = 'the device gets more than its push service takes';

/** The statuses of RFC 8030; 406 is how Microsoft's service says that it is too much. */
export const WEBPUSH_ANSWERS: readonly AnswerRow[] = [
  { status: [200, 299], code: null, means: 'accepted', problem: '' },
  { status: 401, code: null, means: 'foreign', problem: REFUSED },
  { status: 403, code: null, means: 'foreign', problem: REFUSED },
  {
    status: 404,
    code: null,
    means: 'dead',
    problem: 'the push service knows no such subscription',
  },
  { status: 406, code: null, means: 'throttled', problem: THROTTLED },
  { status: 408, code: null, means: 'retry', problem: 'the push service waited for too long' },
  { status: 410, code: null, means: 'dead', problem: 'the subscription was ended' },
  {
    status: 413,
    code: null,
    means: 'failed',
    problem: 'the message is too large for the push service',
  },
  { status: 429, code: null, means: 'throttled', problem: THROTTLED },
  {
    status: [400, 499],
    code: null,
    means: 'failed',
    problem: 'the push service finds a mistake in the message',
  },
  {
    status: [500, 599],
    code: null,
    means: 'retry',
    problem: 'the push service is out of order for now',
  },
];
