/** Answers of FCM HTTP v1. */

import { isRecord, readJsonObject } from '../core/json-input.ts';
import { isRefused } from '../core/outcome.ts';
import { type AnswerRow, asCode, row } from './answer.ts';
import { ANSWER_BOUNDS } from './parts.ts';

/** The code given here to an INVALID_ARGUMENT that is about the token and not the message. */
const INVALID_TOKEN = 'INVALID_TOKEN';

const OTHER_PUSH =
  'FCM cannot reach this device for the app: upload the key of Apple (or the Web Push certificate) in the Firebase console';
const OUR_TOKEN = 'FCM rejects the access tokens of the service account';
const OTHER_PROJECT = 'the token belongs to another Firebase project than the service account';
const OUR_ROLE =
  'the service account may not send: enable the Firebase Cloud Messaging API for its project, and give it the role Firebase Cloud Messaging API Admin';
const UNCLEAR =
  'FCM answers without a reason: check that the project of the service account exists, and that no other server answers in its place';

/** By Firebase's "ErrorCode", and answers that FCM was seen to give. */
export const FCM_ANSWERS: readonly AnswerRow[] = [
  row([200, 299], null, 'accepted', ''),
  row(400, INVALID_TOKEN, 'dead', 'FCM does not know this token'),
  row(400, null, 'failed', 'FCM rejects the message as invalid'),
  row(401, 'THIRD_PARTY_AUTH_ERROR', 'failed', OTHER_PUSH),
  row(401, null, 'token', OUR_TOKEN),
  row(403, 'SENDER_ID_MISMATCH', 'foreign', OTHER_PROJECT),
  row(403, null, 'credentials', OUR_ROLE),
  row(404, 'UNREGISTERED', 'dead', 'the app was removed from the device, or has a new token'),
  row(404, null, 'unclear', UNCLEAR),
  row(429, null, 'retry', 'too many messages for FCM'),
  row([500, 599], null, 'retry', 'FCM is temporarily unavailable'),
];

/** Returns the code of an answer: FCM's own, else the one of Google's services; null: none. */
export function fcmCode(text: string): string | null {
  const answer = readJsonObject(text, ANSWER_BOUNDS, 'the answer');
  const error = isRefused(answer) ? null : answer['error'];
  if (!isRecord(error)) return null;
  const details = Array.isArray(error['details']) ? error['details'].filter(isRecord) : [];
  const codes = details.map((detail) => asCode(detail['errorCode']));
  const code = codes.find((found) => found !== null) ?? asCode(error['status']);
  return code === 'INVALID_ARGUMENT' && isAboutToken(error, details) ? INVALID_TOKEN : code;
}

/**
 * Returns whether INVALID_ARGUMENT means the token, by the invalid field or else by the message.
 */
function isAboutToken(
  error: Record<string, unknown>,
  details: readonly Record<string, unknown>[],
): boolean {
  const violations = details.flatMap(({ fieldViolations: list }) =>
    Array.isArray(list) ? list.filter(isRecord) : [],
  );
  if (violations.length > 0) return violations.some(({ field }) => field === 'message.token');
  return /registration token/i.test(String(error['message']));
}
