/** Answers of APNs. */

import { readJsonObject } from '../core/json-input.ts';
import { isRefused } from '../core/outcome.ts';
import { type AnswerRow, asCode } from './answer.ts';
import { ANSWER_BOUNDS } from './parts.ts';

const OUR_KEY =
  'Apple does not take the signing key: gateway.apns.key_file, key_id and team_id must belong together, and the key must not be revoked';
const OUR_TOPIC =
  'the key may not send to gateway.apns.topic: it must be the bundle id of an app of the team';
const OTHER_SERVER =
  'the key is for the other one of Apple’s servers: see gateway.apns.sandbox, or make a key for both';
const MISTAKE = 'APNs finds a mistake in the message';
const OUTAGE = 'APNs is out of order for now';

const row = (status: number, code: string, means: AnswerRow['means'], problem: string) => ({
  ...{ status, code, means, problem },
});

/** By Apple's "Handling notification responses from APNs". */
export const APNS_ANSWERS: readonly AnswerRow[] = [
  { status: 200, code: null, means: 'accepted', problem: '' },
  row(
    400,
    'BadDeviceToken',
    'foreign',
    'APNs says that this is no token of its own; or the app is a development build, and gateway.apns.sandbox says otherwise',
  ),
  row(400, 'DeviceTokenNotForTopic', 'foreign', 'the token is that of another app'),
  row(400, 'MissingDeviceToken', 'dead', 'there is no token'),
  row(400, 'BadTopic', 'credentials', OUR_TOPIC),
  row(400, 'MissingTopic', 'credentials', OUR_TOPIC),
  row(400, 'TopicDisallowed', 'credentials', OUR_TOPIC),
  row(400, 'IdleTimeout', 'retry', OUTAGE),
  { status: 400, code: null, means: 'failed', problem: MISTAKE },
  row(
    403,
    'ExpiredProviderToken',
    'token',
    'Apple says that what we sign is too old: is the clock of this machine right?',
  ),
  row(403, 'InvalidProviderToken', 'credentials', OUR_KEY),
  row(403, 'MissingProviderToken', 'credentials', OUR_KEY),
  row(403, 'BadEnvironmentKeyIdInToken', 'credentials', OTHER_SERVER),
  row(403, 'BadEnvironmentKeyInToken', 'credentials', OTHER_SERVER),
  // A connection from before the key was changed: another one takes it.
  row(403, 'UnrelatedKeyIdInToken', 'retry', 'a connection still goes by the key of before'),
  { status: 403, code: null, means: 'credentials', problem: OUR_KEY },
  { status: [404, 405], code: null, means: 'failed', problem: MISTAKE },
  row(410, 'ExpiredToken', 'dead', 'the token has expired'),
  {
    status: 410,
    code: null,
    means: 'dead',
    problem: 'the app was removed from the device, or has another token by now',
  },
  { status: 413, code: null, means: 'failed', problem: 'the message is too large for APNs' },
  row(
    429,
    'TooManyProviderTokenUpdates',
    'retry',
    'Apple gets a new signature too often: another process may use the same key',
  ),
  { status: 429, code: null, means: 'throttled', problem: 'the device gets more than APNs takes' },
  { status: [500, 599], code: null, means: 'retry', problem: OUTAGE },
];

/** The reason that an answer of APNs names; null: none. */
export function apnsReason(text: string): string | null {
  return asCode(fieldsOf(text)['reason']);
}

/** Time at which APNs found that a token is valid no more, UTC ms; null: it does not say. */
export function apnsDeadSinceMs(text: string): number | null {
  const { timestamp } = fieldsOf(text);
  return Number.isSafeInteger(timestamp) ? (timestamp as number) : null;
}

function fieldsOf(text: string): Record<string, unknown> {
  const answer = readJsonObject(text, ANSWER_BOUNDS, 'the answer');
  return isRefused(answer) ? {} : answer;
}
