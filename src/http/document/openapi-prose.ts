/** The texts of the OpenAPI document: the rules of every endpoint, and of each group. */

import { VERSION } from '../../base/version.ts';
import { EVENT_MEANINGS } from '../../core/event/meanings.ts';
import { JSON_NESTING_MAX, REQUEST_BOUNDS } from '../../core/json-input.ts';
import { PING_SECONDS } from '../../core/message/patience.ts';
import { PROVIDER_EVENTS } from '../../core/port/event.ts';
import type { Repeat } from '../endpoint.ts';
import type { groups } from '../endpoints/index.ts';
import { LIST_COUNT_MAX } from '../endpoints/reply.ts';
import {
  CLOSE_MALFORMED,
  CLOSE_TOKEN,
  CLOSE_TOO_FAST,
  STREAM_PATH,
} from '../stream/device-stream.ts';
import { PING_HEADER } from '../stream/handshake.ts';
import { CLOSE_REPLACED, PING_INTERVAL_MS } from '../stream/stream.ts';

/** Joins paragraphs of CommonMark. */
const paragraphs = (...texts: string[]) => texts.join('\n\n');

export const INFO = {
  title: 'Gatepost',
  version: VERSION,
  summary: 'Limited install links, subscription domains and messages to devices.',
  description: paragraphs(
    'Every call answers HTTP 200 with a JSON object, refusals included. `rc` is 1 for success, 2 for something that exists already, 0 for an error; `msg` is a fixed text. Programs should read these two and ignore unknown fields. A refusal has one plain sentence for people in the header `x-error-detail`.',
    'Whole numbers are 1 to 15 decimal digits. A parameter given twice is refused like a malformed one. An optional parameter that is empty counts as absent. Unknown ones are ignored, and an `Ok` to a provider or device names them in `x-error-detail`. Runs of slashes in a path count as one. Lengths of texts count code points. The query is UTF-8, percent-encoded; `+` is a blank.',
    `Bodies are JSON objects in UTF-8 of at most ${REQUEST_BOUNDS.bytesMax / 1024} KiB, some of less, with at most ${REQUEST_BOUNDS.valuesMax} values and ${JSON_NESTING_MAX} levels, of any content type. \`null\` and \`""\` count as absent. Values of forms are accepted too: a whole number as a string of digits, true and false as \`"true"\` and \`"false"\`, 1 and 0, a list of operating systems as a text with commas.`,
    `Lists return the newest first, at most ${LIST_COUNT_MAX} records. \`before_id\` continues: give the lowest \`id\` of the page before. An \`id\` that is unknown or another provider's gives an empty \`data\`.`,
    'Checks run in this order, and the first that fails answers: credentials, an active subscription, the plan, the body as a whole, the parameters in the order in which they are listed here, then the state of what they name.',
    'A call whose answer was lost may have been carried out, and HTTP libraries repeat GETs by themselves. Each call says what a repeat does; those that only read, and the calls of apps and devices, may always be repeated. `/api/add-install` and the two sends give the same answer for a day when they carry the same `idempotency_key`. Where a repeat does it again, look into the list first. `Unknown error` after an internal fault counts as a lost answer.',
    'Another method than the listed one changes nothing and answers `Unknown error` with the right method in `x-error-detail`; an unknown path under `/api` or `/remote` answers `Unknown error` too. After an internal fault the answer is `Unknown error` with an ID; the log of the server has the reason under it.',
  ),
  license: { name: 'MIT', identifier: 'MIT' },
};

const EVENT_LIST = PROVIDER_EVENTS.map(
  (kind) => `\`${kind}\` (${EVENT_MEANINGS[kind].about})`,
).join('; ');

type GroupName = (typeof groups)[number]['name'];

export const GROUP_DESCRIPTIONS: Readonly<Record<GroupName, string>> = {
  'Limited links':
    'A limited link admits devices up to its limit, and never one more. Each takes a slot under its HWID.',
  Domains:
    'A domain is bound to a provider by the SHA-256 of its host name. Devices that come through a bound domain are linked to the provider.',
  'Notifications and commands':
    'Messages of a provider to devices. `Ok` means that a message is on disk; from then on it is delivered or its failure is recorded, after a crash too.',
  Reminders:
    'Texts that customers get by themselves, before and after the end of their subscription and when its traffic is used up: an extension of the public contract.',
  Figures: 'Figures of a provider by day: an extension of the public contract.',
  Webhooks: paragraphs(
    'Receivers of events: an extension of the public contract. Events are sent by the Standard Webhooks specification: a POST of JSON with `type`, `timestamp` and `data`, signed in the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. 2xx is success; a failed delivery is tried 10 times over about three days, always with the same `webhook-id`.',
    'To verify an event, join `webhook-id`, `webhook-timestamp` and the bytes of the body as received by dots. One of the signatures in `webhook-signature`, which are separated by blanks, must be `v1,` and the HMAC-SHA256 of that text in base64, with the key that the secret has in base64 behind `whsec_`; or `v1a,` and an Ed25519 signature, with the public key behind `whpk_`. Compare in constant time, refuse a time that is more than five minutes off, and drop a `webhook-id` that came before.',
    `The types of events: ${EVENT_LIST}.`,
  ),
  'Calls that apps make':
    'Two calls of apps, without credentials. The HWID and the facts of a device come from headers, else from the query; the case of names of query parameters does not matter. Facts are cut to 128 characters and are never a reason to refuse a device. Older apps send them in one text, the header `x-device-info`: a JSON object, or names with values (`os=Android; model=Pixel 9`), in at most 2,048 characters; any other text is ignored. A fact in it counts if it is not given otherwise.',
  'Devices that get messages': paragraphs(
    'The protocol for apps that get notifications and commands. A device registers once, stores its token, fetches its messages, and acknowledges each. Until then a message is delivered again, always with the same `id`.',
    `Beside the calls there is a stream: a WebSocket (RFC 6455) at \`${STREAM_PATH}\`, with the token in the header \`Authorization\` of the handshake. The server sends frames of text like the answers of \`/device/inbox\`, first with the waiting messages and then with each new one; the device sends frames like the bodies of \`/device/ack\`, and each is answered.`,
    'A handshake that is refused has an HTTP status of its own: 401 for a token that is no device\u2019s, 426 when it asks for no WebSocket, 503 when the server holds as many streams as it may.',
    `The server pings every ${PING_INTERVAL_MS / 1000} seconds. A handshake may ask for fewer pings with \`?ping=\`, ${PING_SECONDS.min} to ${PING_SECONDS.max} seconds: a number out of bounds becomes the nearest that the operator allows, and the answer to the handshake has the one that holds in \`${PING_HEADER}\`; anything else counts as not asked. The server closes a stream that left two pings unanswered when the next one is due. It closes a stream with ${CLOSE_TOKEN} when the token is no longer valid, with ${CLOSE_REPLACED} when the device opened another one, with ${CLOSE_MALFORMED} after a malformed frame, and with ${CLOSE_TOO_FAST} when frames arrive faster than a device needs.`,
  ),
};

/** The effect of repeating a call after its answer was lost. */
export const REPEATS: Readonly<Record<Repeat, string>> = {
  reads: '',
  same: 'A repeated call changes nothing and has the same answer.',
  noted: 'A repeated call changes nothing; its answer may differ.',
  again: 'A repeated call does it again.',
  keyed: 'A repeated call does it again, unless it has an `idempotency_key`.',
};

export const SECURITY_SCHEMES = {
  providerCode: {
    type: 'apiKey',
    in: 'query',
    name: 'provider_code',
    description: '8 letters and digits: which provider calls.',
  },
  authKey: {
    type: 'apiKey',
    in: 'query',
    name: 'auth_key',
    description:
      '32 letters, digits, `-` and `_`. Beyond a number of wrong keys a minute from one address, each further refusal comes a second late.',
  },
  deviceToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The `device_token` that `/device/register` answered with.',
  },
} as const;

export const ERROR_DETAIL =
  'Comes with refusals, and with an `Ok` that leaves a part out: one plain English sentence with the parameter and the rule. For people; programs should read `rc` and `msg`.';

export const REQUEST_ID =
  'The ID of this request in the log of the server, if it was logged: faults always are.';

/** The plan that an endpoint needs. */
export const PLAN_NEEDS = {
  pro: 'Needs the Pro or the Enterprise plan.',
  enterprise: 'Needs the Enterprise plan.',
} as const;

/** The note of an endpoint with a second path of older documents. */
export const olderPathNote = (path: string) =>
  `\`${path}\` is the same call, as older documents have it.`;
