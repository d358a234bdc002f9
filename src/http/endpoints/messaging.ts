/** The messaging protocol of Gatepost, for apps of providers. */

import { Type } from '@sinclair/typebox';
import { authenticateDevice } from '../../core/device.ts';
import { DEVICE_TOKEN } from '../../core/formats.ts';
import { readAckItems, readRegistration } from '../../core/message/device-input.ts';
import { acknowledge, fetchInbox, INBOX_LIMITS } from '../../core/message/inbox.ts';
import { POLL_SECONDS_MAX } from '../../core/message/patience.ts';
import { registerDevice } from '../../core/message/registration.ts';
import { TYPE_NAMES } from '../../core/message/status.ts';
import { isRefused } from '../../core/outcome.ts';
import { CORS_HEADERS } from '../answer/cors.ts';
import { callerName } from '../answer/large.ts';
import { messageView, senderOf } from '../answer/message-view.ts';
import { appEndpoint, deviceEndpoint, optional, type WireSettings } from '../endpoint.ts';
import { AckInput, PUSH_KEY_EXAMPLE, RegistrationInput } from './messaging-bodies.ts';
import { statusOf, WireTime } from './params.ts';
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
    payload: Payload,
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
  // The calls of apps have other names for the same fields.
  details: {
    link_not_found:
      'install_code names no limited link, or domain_hash is not actively bound to its provider',
    provider_not_found: 'provider_code names no provider',
  },
  fields: {
    ok: {
      device_token: Type.RegExp(DEVICE_TOKEN.pattern, {
        description: 'For the header `Authorization: Bearer`. It is shown this once.',
        examples: ['6qDl-qvIqPWVCh0uVEyKg2DPj0bQ3jNYV6pwjp_LWS8'],
      }),
    },
  },
  says: [
    'ok',
    'unknown_error',
    'too_many_requests',
    'hwid_required',
    'link_not_found',
    'link_disabled',
    'link_limit_reached',
    'provider_not_found',
    'domain_not_bound',
    'registration_refused',
  ],
  answerHeaders: WAIT_MAX_HEADER,
  async handle({ core, body, token, client, nowMs, limits, settings }) {
    const registration = readRegistration(body, core.limits);
    if (isRefused(registration)) return registration;
    const register = () => registerDevice(core, { ...registration, token }, nowMs);
    // No limit applies to a device with a valid token.
    const holder = await authenticateDevice(core, token, nowMs);
    const registered =
      holder !== null && holder.hwid === registration.hwid
        ? await register()
        : await limits.registrations.attempt(client(), nowMs, register, (done) => !isRefused(done));
    if (registered === null) return 'too_many_requests';
    if (isRefused(registered)) return registered;
    const headers = waitMax(settings);
    return { says: 'ok', body: { device_token: registered.token }, headers };
  },
});

const waitForm = {
  schema: Type.Integer({ minimum: 0, maximum: POLL_SECONDS_MAX }),
  rule: `a whole number of seconds from 0 to ${POLL_SECONDS_MAX}`,
};

const inboxEndpoint = deviceEndpoint({
  method: 'GET',
  path: '/device/inbox',
  headers: CORS_HEADERS,
  summary: 'Fetch the waiting messages of a device, oldest first',
  description: `Returns the waiting messages of the token's device: at most ${INBOX_LIMITS.countMax}, and none after ${INBOX_LIMITS.bytesMax / 1024} KiB of payload. A message waits until it is acknowledged or expires, so a device ignores an \`id\` that it has seen.`,
  params: {
    wait: optional(waitForm, {
      misfit: 'unknown_error',
      about:
        'How long an empty answer waits for a message, in seconds; 0 when omitted. What exceeds `x-wait-max` is cut to it.',
      example: 60,
    }),
  },
  fields: { ok: { data: Type.Array(Message, { maxItems: INBOX_LIMITS.countMax }) } },
  answerHeaders: WAIT_MAX_HEADER,
  patienceSeconds: POLL_SECONDS_MAX + 15,
  says: ['ok', 'device_token_error', 'unknown_error'],
  async handle({ core, device, params, nowMs, signal, settings, limits }) {
    const waitMs = Math.min(params.wait ?? 0, settings.pollSecondsMax) * 1000;
    const messages = await limits.polls.park(device.tokenId, signal, async (whenOver) => {
      await limits.turns.next(callerName({ device }));
      return fetchInbox(core, device, waitMs, nowMs, whenOver);
    });
    if (isRefused(messages)) return messages;
    const data = messages.map((message) => messageView(message, settings));
    const headers = waitMax(settings);
    return { says: 'ok', body: { data }, headers, sender: senderOf(messages) };
  },
});

const ackEndpoint = deviceEndpoint({
  method: 'POST',
  path: '/device/ack',
  headers: CORS_HEADERS,
  summary: 'Acknowledge messages',
  description:
    'Acknowledges messages; every state removes a message from the inbox. A duplicate or late item, or one for a message of another device, changes nothing. If one item is malformed, none is saved.',
  params: {},
  input: AckInput,
  bodyBytesMax: 64 * 1024,
  says: ['ok', 'unknown_error'],
  async handle({ core, device, body, nowMs }) {
    const items = readAckItems(body['items']);
    if (isRefused(items)) return items;
    await acknowledge(core, device, items, nowMs);
    return 'ok';
  },
});

const pushKeyEndpoint = appEndpoint({
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
