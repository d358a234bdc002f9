/** Answers of APNs. */

import { readJsonObject } from '../core/json-input.ts';
import { isRefused } from '../core/outcome.ts';
import { type AnswerRow, asCode, row } from './answer.ts';
import { ANSWER_BOUNDS } from './parts.ts';

const OUR_KEY =
  'Apple rejects the signing key: gateway.apns.key_file, key_id and team_id must belong together, and the key must not be revoked';
const OUR_TOPIC =
  'the key may not send to gateway.apns.topic: it must be the bundle id of an app of the team';
const OTHER_SERVER =
  'the key is for the other server of Apple: see gateway.apns.sandbox, or create a key for both';
const OLD = 'Apple rejects our signature as too old: check the clock of this machine';
const UNKNOWN =
  'APNs does not know this token; or gateway.apns.sandbox does not match the build of the app';
const OFTEN = 'Apple gets a new signature too often: another process may use the same key';
const INVALID = 'APNs rejects the message as invalid';
const OUTAGE = 'APNs is temporarily unavailable';

/** By Apple's "Handling notification responses from APNs". */
export const APNS_ANSWERS: readonly AnswerRow[] = [
  row(200, null, 'accepted', ''),
  row(400, 'BadDeviceToken', 'foreign', UNKNOWN),
  row(400, 'DeviceTokenNotForTopic', 'foreign', 'the token belongs to another app'),
  row(400, 'MissingDeviceToken', 'dead', 'there is no token'),
  row(400, 'BadTopic', 'credentials', OUR_TOPIC),
  row(400, 'MissingTopic', 'credentials', OUR_TOPIC),
  row(400, 'TopicDisallowed', 'credentials', OUR_TOPIC),
  row(400, 'IdleTimeout', 'retry', OUTAGE),
  row(400, null, 'failed', INVALID),
  row(403, 'ExpiredProviderToken', 'token', OLD),
  row(403, 'InvalidProviderToken', 'credentials', OUR_KEY),
  row(403, 'MissingProviderToken', 'credentials', OUR_KEY),
  row(403, 'BadEnvironmentKeyIdInToken', 'credentials', OTHER_SERVER),
  row(403, 'BadEnvironmentKeyInToken', 'credentials', OTHER_SERVER),
  // The connection is older than the key: a new one accepts it.
  row(403, 'UnrelatedKeyIdInToken', 'retry', 'a connection still uses the previous key'),
  row(403, null, 'credentials', OUR_KEY),
  row([404, 405], null, 'failed', INVALID),
  row(410, 'ExpiredToken', 'dead', 'the token has expired'),
  row(410, null, 'dead', 'the app was removed from the device, or has a new token'),
  row(413, null, 'failed', 'the message is too large for APNs'),
  row(429, 'TooManyProviderTokenUpdates', 'retry', OFTEN),
  row(429, null, 'throttled', 'too many messages for the device'),
  row([500, 599], null, 'retry', OUTAGE),
];

/** Returns the reason in an answer of APNs; null: none. */
export function apnsReason(text: string): string | null {
  return asCode(fieldsOf(text)['reason']);
}

/** Returns the time at which a token became invalid, UTC ms; null: the answer has none. */
export function apnsDeadSinceMs(text: string): number | null {
  const { timestamp } = fieldsOf(text);
  return Number.isSafeInteger(timestamp) ? (timestamp as number) : null;
}

function fieldsOf(text: string): Record<string, unknown> {
  const answer = readJsonObject(text, ANSWER_BOUNDS, 'the answer');
  return isRefused(answer) ? {} : answer;
}
