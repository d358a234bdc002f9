/** Answers of FCM HTTP v1. */

import { isRecord, readJsonObject } from '../core/json-input.ts';
import { isRefused } from '../core/outcome.ts';
import { type AnswerRow, asCode } from './answer.ts';
import { ANSWER_BOUNDS } from './parts.ts';

/** Our own code for INVALID_ARGUMENT that is about the token and not about the message. */
const INVALID_TOKEN = 'INVALID_TOKEN';

/** By Firebase's "ErrorCode" and the answers that FCM was seen to give. */
export const FCM_ANSWERS: readonly AnswerRow[] = [
  { status: [200, 299], code: null, means: 'accepted', problem: '' },
  {
    status: 400,
    code: INVALID_TOKEN,
    means: 'dead',
    problem: 'FCM says that this is no token of its own',
  },
  {
    status: 400,
    code: null,
    means: 'failed',
    problem: 'FCM finds a mistake in the message',
  },
  {
    status: 401,
    code: 'THIRD_PARTY_AUTH_ERROR',
    means: 'failed',
    problem:
      'FCM cannot reach this device for the app: upload the key of Apple (or the Web Push certificate) in the Firebase console',
  },
  {
    status: 401,
    code: null,
    means: 'token',
    problem: 'FCM does not take the access tokens that it gets for the service account',
  },
  {
    status: 403,
    code: 'SENDER_ID_MISMATCH',
    means: 'foreign',
    problem: 'the token belongs to another Firebase project than the service account',
  },
  {
    status: 403,
    code: null,
    means: 'credentials',
    problem:
      'the service account may not send: enable the Firebase Cloud Messaging API for its project, and give it the role Firebase Cloud Messaging API Admin',
  },
  {
    status: 404,
    code: 'UNREGISTERED',
    means: 'dead',
    problem: 'the app was removed from the device, or has another token by now',
  },
  {
    status: 404,
    code: null,
    means: 'unclear',
    problem:
      'FCM does not say that the token is dead: is the project of the service account gone, or does something else answer in its place?',
  },
  {
    status: 429,
    code: null,
    means: 'retry',
    problem: 'FCM gets more messages than it takes',
  },
  {
    status: [500, 599],
    code: null,
    means: 'retry',
    problem: 'FCM is out of order for now',
  },
];

/** The code of an answer: FCM's own, else the general one of Google's services; null: none. */
export function fcmCode(text: string): string | null {
  const answer = readJsonObject(text, ANSWER_BOUNDS, 'the answer');
  const error = isRefused(answer) ? null : answer['error'];
  if (!isRecord(error)) return null;
  const details = Array.isArray(error['details']) ? error['details'].filter(isRecord) : [];
  const codes = details.map((detail) => asCode(detail['errorCode']));
  const code = codes.find((found) => found !== null) ?? asCode(error['status']);
  return code === 'INVALID_ARGUMENT' && isAboutToken(error, details) ? INVALID_TOKEN : code;
}

/** INVALID_ARGUMENT is the code for both: the field that is wrong tells, else the words. */
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
