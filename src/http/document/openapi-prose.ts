/** The words of the OpenAPI document: the rules for every endpoint, and for each group. */

import { EVENT_MEANINGS } from '../../core/event/meanings.ts';
import { JSON_NESTING_MAX, REQUEST_BOUNDS } from '../../core/json-input.ts';
import { PROVIDER_EVENTS } from '../../core/port/event.ts';
import { VERSION } from '../../version.ts';
import type { groups } from '../endpoints/index.ts';
import { LIST_COUNT_MAX } from '../endpoints/reply.ts';
import {
  CLOSE_MALFORMED,
  CLOSE_TOKEN,
  CLOSE_TOO_FAST,
  STREAM_PATH,
} from '../stream/device-stream.ts';
import { CLOSE_REPLACED, PING_INTERVAL_MS } from '../stream/stream.ts';

/** Paragraphs as CommonMark has them. */
const paragraphs = (...texts: string[]) => texts.join('\n\n');

export const INFO = {
  title: 'Gatepost',
  version: VERSION,
  summary: 'Limited install links, subscription domains and messages to devices.',
  description: paragraphs(
    'Every call answers HTTP 200 with a JSON object, refusals included. `rc` is 1 for success, 2 for something that exists already, 0 for an error; `msg` is a fixed text. Programs should read these two and pass over fields that they do not know. The fixed texts say little: a refusal therefore carries one plain sentence for people in the header `x-error-detail`.',
    'Whole numbers are 1 to 15 decimal digits. A parameter given twice is refused like a malformed one. An optional parameter that is empty counts as absent, and unknown ones are ignored. Runs of slashes in a path count as one. Lengths of texts count code points. The query is UTF-8, percent-encoded; `+` is a blank.',
    `Bodies are JSON objects in UTF-8 of at most ${REQUEST_BOUNDS.bytesMax / 1024} KiB, some of less, that hold at most ${REQUEST_BOUNDS.valuesMax} values and nest at most ${JSON_NESTING_MAX} deep, whatever content type they name. \`null\` and \`""\` count as absent. Programs that are built around forms are understood too: a whole number may be a string of digits, true and false may be \`"true"\` and \`"false"\`, 1 and 0, a list of operating systems a text with commas.`,
    `Lists return the newest first, at most ${LIST_COUNT_MAX} records. \`before_id\` continues: give the lowest \`id\` of the page before. An \`id\` that is unknown or another provider's gives an empty \`data\`.`,
    'Checks run in this order, and the first that fails answers: credentials, an active subscription, the plan, the body as a whole, the parameters in the order in which they are listed here, then the state of what they name.',
    'Another method than the one that is listed changes nothing and answers `Unknown error`, and so does a path under `/api` or `/remote` that does not exist. When something breaks inside, the answer is `Unknown error` with an ID under which the log of the server has the reason.',
  ),
  license: { name: 'MIT', identifier: 'MIT' },
};

const EVENT_LIST = PROVIDER_EVENTS.map(
  (kind) => `\`${kind}\` (${EVENT_MEANINGS[kind].about})`,
).join('; ');

type GroupName = (typeof groups)[number]['name'];

export const GROUP_DESCRIPTIONS: Readonly<Record<GroupName, string>> = {
  'Limited links':
    'A limited link lets in as many devices as it may hold, and never one more. Each takes a slot under its HWID.',
  Domains:
    'A domain is bound to a provider by the SHA-256 of its host name. Devices that come by way of a bound domain are linked to the provider.',
  'Notifications and commands':
    'What a provider sends to devices. `Ok` means that it is on disk; from then on it is delivered or accounted for, after a crash too.',
  Figures: 'What happened at a provider by day: an extension of the public contract.',
  Webhooks: paragraphs(
    'Whom to tell of events: an extension of the public contract. Events are sent as the Standard Webhooks specification has it: a POST of JSON with `type`, `timestamp` and `data`, signed in the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. 2xx is success; what fails is tried 10 times over about three days, always with the same `webhook-id`.',
    `The types of events: ${EVENT_LIST}.`,
  ),
  'Calls that apps make':
    'Two calls that apps make by themselves, without credentials. The HWID and what a device says about itself come from headers, else from the query; names of query parameters may come in any case. What a device says of itself is cut to 128 characters and is never a reason to turn it away. Older apps say it in one text, the header `x-device-info`: a JSON object, or names with values (`os=Android; model=Pixel 9`), in at most 2,048 characters; a text of another form is ignored; it counts where a fact is not said otherwise.',
  'Devices that get messages': paragraphs(
    'The protocol for apps that get notifications and commands. A device registers once, keeps its token, fetches its messages, and acknowledges each. Until then a message comes again, always with the same `id`.',
    `Beside the calls there is a stream: a WebSocket (RFC 6455) at \`${STREAM_PATH}\`, with the token in the header \`Authorization\` of the handshake. The server sends frames of text like the answers of \`/device/inbox\`, at once what waits and then what comes; the device sends frames like the bodies of \`/device/ack\`, and each is answered.`,
    'A handshake that is refused has an HTTP status of its own: 401 for a token that is no device\u2019s, 426 when it asks for no WebSocket, 503 when the server holds as many streams as it may.',
    `The server pings every ${PING_INTERVAL_MS / 1000} seconds and lets go of a stream that left two pings unanswered. It closes a stream with ${CLOSE_TOKEN} when the token is dead, with ${CLOSE_REPLACED} when the device opened another one, with ${CLOSE_MALFORMED} after a frame that does not fit, and with ${CLOSE_TOO_FAST} when frames come faster than a device needs.`,
  ),
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
  'Comes with refusals, and with an `Ok` of which a part was refused: one plain English sentence that names the parameter and the rule. For people; programs should read `rc` and `msg`.';

export const REQUEST_ID =
  'The ID under which the log of the server has this request, if it has it: it always has faults.';

/** The demand of an endpoint's plan. */
export const PLAN_NEEDS = {
  pro: 'Needs the Pro or the Enterprise plan.',
  enterprise: 'Needs the Enterprise plan.',
} as const;

/** The note of an endpoint that has a path of older documents too. */
export const olderPathNote = (path: string) =>
  `\`${path}\` is the same call, as older documents have it.`;
