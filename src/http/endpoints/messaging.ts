/** The messaging protocol of Gatepost, for apps of providers. */

import { type TInteger, Type } from '@sinclair/typebox';
import { authenticateDevice } from '../../core/device.ts';
import { DEVICE_TOKEN, readInstallCode } from '../../core/formats.ts';
import { byteLength } from '../../core/json-input.ts';
import { readAckItems, readRegistration } from '../../core/message/device-input.ts';
import { noteNotified } from '../../core/message/ended.ts';
import {
  acknowledge,
  FRAME_BYTES,
  fetchInbox,
  findInInbox,
  INBOX_LIMITS,
} from '../../core/message/inbox.ts';
import { POLL_SECONDS_MAX } from '../../core/message/patience.ts';
import { type Registration, registerDevice } from '../../core/message/registration.ts';
import { TYPE_NAMES } from '../../core/message/status.ts';
import { isRefused } from '../../core/outcome.ts';
import { refusalOfToken } from '../access.ts';
import { CORS_HEADERS } from '../answer/cors.ts';
import { endedViews } from '../answer/ended-view.ts';
import { FRAME_HEADER, FRAME_MAX, firstBatch, frameMaxOf } from '../answer/frames.ts';
import { callerName } from '../answer/large.ts';
import { messageView, senderOf } from '../answer/message-view.ts';
import { appEndpoint, deviceEndpoint, optional, type WireSettings } from '../endpoint.ts';
import type { IncomingCall } from '../request/call.ts';
import { AckInput, PUSH_KEY_EXAMPLE, RegistrationInput } from './messaging-bodies.ts';
import {
  Ended,
  REFUSED_AT_FULL_LINK,
  REFUSED_AT_LINK,
  REFUSED_TOKEN,
  REGISTER_DETAILS,
  refusedAtLink,
} from './messaging-refusals.ts';
import { forms, statusOf, WireTime } from './params.ts';
import { Payload } from './remote-bodies.ts';

/** The header of answers to devices with the longest wait of a poll, s. */
const WAIT_MAX_HEADER = {
  'x-wait-max': {
    about:
      'The longest wait of a poll that holds, in seconds: ask for this much. The operator may change it.',
    example: '60',
  },
};
const waitMax = ({ pollSecondsMax }: WireSettings) => ({ 'x-wait-max': String(pollSecondsMax) });

/** A message in an inbox. */
const Message = Type.Object(
  {
    id: Type.Integer({
      minimum: 1,
      description: 'The same in every copy; acknowledgements name it.',
      examples: [1],
    }),
    notification_type: statusOf(TYPE_NAMES),
    created_at: WireTime,
    expires_at: WireTime,
    payload: Type.Optional(Payload),
    stub: Type.Optional(
      Type.Literal(true, {
        description:
          'The message is longer than the device takes, and has no `payload`: fetch it by `id`.',
      }),
    ),
  },
  { title: 'Message' },
);

const registerEndpoint = appEndpoint({
  method: 'POST',
  path: '/device/register',
  headers: CORS_HEADERS,
  summary: 'Register a device for messages',
  description:
    'Registers the HWID for messages and answers with its token, shown once; a token that the call carries expires. A HWID is no secret and gives no access by itself: a link (`install_code` and `domain_hash`) or a binding (`provider_code` and `domain_hash`) shows its provider. A device with a token sends it as `Authorization: Bearer` and keeps its access.',
  params: {},
  input: RegistrationInput,
  bodyBytesMax: 8 * 1024,
  takesToken: true,
  limitedBy: 'registrations',
  details: REGISTER_DETAILS,
  fields: {
    ok: {
      device_token: Type.RegExp(DEVICE_TOKEN.pattern, {
        description: 'For the header `Authorization: Bearer`. It is shown this once.',
        examples: ['6qDl-qvIqPWVCh0uVEyKg2DPj0bQ3jNYV6pwjp_LWS8'],
      }),
    },
    device_token_error: REFUSED_TOKEN,
    link_not_found: REFUSED_AT_LINK,
    link_disabled: REFUSED_AT_LINK,
    link_limit_reached: REFUSED_AT_FULL_LINK,
  },
  says: [
    'ok',
    'unknown_error',
    'too_many_requests',
    'device_token_error',
    'hwid_required',
    'link_not_found',
    'link_disabled',
    'link_limit_reached',
    'provider_not_found',
    'domain_not_bound',
    'registration_refused',
  ],
  answerHeaders: WAIT_MAX_HEADER,
  async handle(call) {
    const registration = readRegistration(call.body, call.core.limits);
    return isRefused(registration) ? registration : register(call, registration);
  },
});

/** Registers a device; the limit of registrations is for those without a valid token. */
export async function register(call: Registering, registration: Omit<Registration, 'token'>) {
  const { core, token, client, nowMs, limits, settings } = call;
  const act = () => registerDevice(core, { ...registration, token }, nowMs);
  const holder = await authenticateDevice(core, token, nowMs);
  // By the token alone it would come back as a device of no provider.
  const showsAlone = registration.installCode === null && registration.domainHash === null;
  if (holder === null && token !== null && showsAlone) {
    const refusal = await refusalOfToken(core, call);
    if (refusal.body !== undefined) return refusal;
  }
  const isKnown = holder !== null && holder.hwid === registration.hwid;
  const by = { client: client(), link: await partyIn(call, registration) };
  const counts = (done: Awaited<ReturnType<typeof act>>) => !isRefused(done);
  const registered = isKnown
    ? await act()
    : await limits.registrations.attemptBy(by, nowMs, act, counts);
  if (registered === null) return 'too_many_requests';
  if (isRefused(registered)) return refusedAtLink(call, registration, registered);
  const headers = waitMax(settings);
  return { says: 'ok', body: { device_token: registered.token }, headers } as const;
}

/** Returns the party of the link that a registration names; null: it counts for its address. */
async function partyIn(
  call: Pick<Registering, 'core' | 'isOfLink' | 'isShared'>,
  { installCode }: Pick<Registration, 'installCode'>,
): Promise<string | null> {
  const isOfAddress =
    installCode === null || !call.isShared || isRefused(readInstallCode(installCode));
  const link = isOfAddress ? null : await call.core.store.findLink(installCode);
  return link === null ? null : call.isOfLink(link.id, true);
}

/** The call of a registration. */
type Registering = Pick<
  IncomingCall,
  | 'core'
  | 'token'
  | 'client'
  | 'nowMs'
  | 'limits'
  | 'settings'
  | 'languages'
  | 'isOfLink'
  | 'isShared'
>;

const waitForm = {
  schema: Type.Integer({ minimum: 0, maximum: POLL_SECONDS_MAX }),
  rule: `a whole number of seconds from 0 to ${POLL_SECONDS_MAX}`,
};

const frameForm = { schema: Type.Integer({ minimum: 1 }), rule: 'a number of bytes' };

export const inboxEndpoint = deviceEndpoint({
  method: 'GET',
  path: '/device/inbox',
  headers: CORS_HEADERS,
  summary: 'Fetch the waiting messages of a device, oldest first',
  description: `Returns the waiting messages of the token's device: at most ${INBOX_LIMITS.countMax}, and no more than ${FRAME_BYTES / 1024} KiB, unless one alone is longer. A message waits until it is acknowledged or expires, so a device ignores an \`id\` that it has seen.`,
  params: {
    wait: optional(waitForm, {
      misfit: 'unknown_error',
      about:
        'How long an empty answer waits for a message, in seconds; 0 when omitted. What exceeds `x-wait-max` is cut to it.',
      example: 60,
    }),
    id: optional(forms.id, {
      misfit: 'unknown_error',
      about: 'The message to fetch, whole: for one that came as a stub. Nothing else is answered.',
    }),
    frame_max: optional<TInteger, never>(frameForm, {
      misfit: null,
      header: FRAME_HEADER,
      about: `The longest answer that the device reads, in bytes: a message that is longer comes as a stub. What is beyond ${FRAME_MAX.min} to ${FRAME_MAX.max} becomes the nearest of the two.`,
    }),
  },
  fields: {
    ok: {
      data: Type.Array(Message, { maxItems: INBOX_LIMITS.countMax }),
      ended: Type.Optional(
        Type.Array(Ended, {
          description:
            'Ends of slots and links that the device was not told yet: a token with another place stays valid.',
        }),
      ),
    },
    device_token_error: REFUSED_TOKEN,
  },
  answerHeaders: WAIT_MAX_HEADER,
  patienceSeconds: POLL_SECONDS_MAX + 15,
  says: ['ok', 'device_token_error', 'unknown_error'],
  async handle(call) {
    const { core, device, params, nowMs, signal, settings, limits, languages } = call;
    const headers = waitMax(settings);
    if (params.id !== null) {
      await limits.turns.next(callerName({ device }));
      const message = await findInInbox(core, device, params.id, nowMs);
      const found = message === null ? [] : [message];
      const data = found.map((one) => messageView(one, settings));
      return { says: 'ok', body: { data }, headers, sender: senderOf(found) };
    }
    const waitMs = Math.min(params.wait ?? 0, settings.pollSecondsMax) * 1000;
    const fetched = await limits.polls.park(device.tokenId, signal, async (whenOver) => {
      await limits.turns.next(callerName({ device }));
      return fetchInbox(core, device, waitMs, nowMs, whenOver);
    });
    if (isRefused(fetched)) return refusalOfToken(core, call);
    const { messages } = fetched;
    const ended = fetched.ended && endedViews(fetched.ended, settings, languages);
    const frameMax = params.frame_max === null ? null : frameMaxOf(params.frame_max);
    const takenBytes = ended === null ? 0 : byteLength(`,"ended":${JSON.stringify(ended)}`);
    const data = firstBatch(messages, settings, frameMax, takenBytes);
    // To a caller that has gone, no answer carries them.
    if (fetched.ended !== null && !signal.aborted) await noteNotified(core, device, fetched.ended);
    const body = { data, ...(ended && { ended }) };
    return { says: 'ok', body, headers, sender: senderOf(messages) };
  },
});

export const ackEndpoint = deviceEndpoint({
  method: 'POST',
  path: '/device/ack',
  headers: CORS_HEADERS,
  summary: 'Acknowledge messages',
  description:
    'Acknowledges messages; every state removes a message from the inbox. A duplicate or late item, or one for a message of another device, changes nothing. If one item is malformed, none is saved.',
  params: {},
  input: AckInput,
  bodyBytesMax: 64 * 1024,
  fields: { device_token_error: REFUSED_TOKEN },
  says: ['ok', 'device_token_error', 'unknown_error'],
  async handle(call) {
    const { core, device, body, nowMs } = call;
    const items = readAckItems(body['items']);
    if (isRefused(items)) return items;
    const done = await acknowledge(core, device, items, nowMs);
    return isRefused(done) ? refusalOfToken(core, call) : done;
  },
});

export const pushKeyEndpoint = appEndpoint({
  method: 'GET',
  path: '/device/push-key',
  headers: CORS_HEADERS,
  summary: 'The key by which a browser or UnifiedPush subscribes',
  description:
    'The public VAPID key (RFC 8292), for `applicationServerKey`: a subscription without it, or with another one, gets no pushes. The key stays the same; a subscription with another key must be made again.',
  params: {},
  fields: {
    ok: {
      public_key: Type.RegExp(/^[A-Za-z0-9_-]{87}$/, {
        description: 'A point of P-256, uncompressed, in base64url.',
        examples: [PUSH_KEY_EXAMPLE],
      }),
    },
  },
  says: ['ok', 'push_key_missing'],
  handle({ core }) {
    const key = core.pushKey();
    return key === null ? 'push_key_missing' : { says: 'ok', body: { public_key: key } };
  },
});

export const messagingEndpoints = [registerEndpoint, inboxEndpoint, ackEndpoint, pushKeyEndpoint];
