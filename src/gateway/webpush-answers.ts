/** Answers of push services: RFC 8030, and what services of browsers add. */

import { type AnswerRow, row } from './answer.ts';

const REFUSED =
  'the push service refuses our messages: the subscription was made with another VAPID key, or it does not accept gateway.webpush.subject';
const THROTTLED = 'too many messages for the device';

/** The statuses of RFC 8030; Microsoft's service answers 406 to too many messages. */
export const WEBPUSH_ANSWERS: readonly AnswerRow[] = [
  row([200, 299], null, 'accepted', ''),
  row(401, null, 'foreign', REFUSED),
  row(403, null, 'foreign', REFUSED),
  row(404, null, 'dead', 'the push service does not know this subscription'),
  row(406, null, 'throttled', THROTTLED),
  row(408, null, 'retry', 'the push service timed out'),
  row(410, null, 'dead', 'the subscription was ended'),
  row(413, null, 'failed', 'the message is too large for the push service'),
  row(429, null, 'throttled', THROTTLED),
  row([400, 499], null, 'failed', 'the push service rejects the message as invalid'),
  row([500, 599], null, 'retry', 'the push service is temporarily unavailable'),
];
