/** The messaging protocol of this project, for apps under a provider's control. */

import { Type } from '@sinclair/typebox';
import { parseAckItems, parseRegistration } from '../../core/device-input.ts';
import {
  acknowledge,
  fetchInbox,
  type RegisterRefusal,
  registerDevice,
} from '../../core/messaging.ts';
import { appEndpoint, deviceEndpoint, optional } from '../endpoint.ts';
import { messageView } from '../message-view.ts';

/** The longest that a poll may wait, s. */
const WAIT_SECONDS_MAX = 60;

/** Where the calls of apps have other names for the same fields. */
const DETAILS: Partial<Record<RegisterRefusal, { detail: string }>> = {
  link_not_found: {
    detail:
      'install_code names no limited link, or domain_hash is not actively bound to its provider',
  },
  provider_not_found: { detail: 'provider_code names no provider' },
};

const registerEndpoint = appEndpoint({
  method: 'POST',
  path: '/device/register',
  summary: 'Register a device for messages',
  params: {},
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
  async handle({ core, body, token, client, nowMs, limits }) {
    if (!limits.registrations.admits(client(), nowMs)) return 'too_many_requests';
    const registration = parseRegistration(body);
    if ('problem' in registration) return { says: 'unknown_error', detail: registration.problem };
    const registered = await registerDevice(core, { ...registration, token }, nowMs);
    if (typeof registered === 'string') return { says: registered, ...DETAILS[registered] };
    return { says: 'ok', body: { device_token: registered.token } };
  },
});

const inboxEndpoint = deviceEndpoint({
  method: 'GET',
  path: '/device/inbox',
  summary: 'Fetch what waits for a device, oldest first',
  params: {
    wait: optional(Type.Integer({ minimum: 0, maximum: WAIT_SECONDS_MAX }), {
      misfit: 'unknown_error',
      rule: `a whole number of seconds from 0 to ${WAIT_SECONDS_MAX}`,
    }),
  },
  patienceSeconds: WAIT_SECONDS_MAX + 15,
  says: ['ok', 'device_token_error', 'unknown_error'],
  async handle({ core, device, params, nowMs, signal, settings, limits: { polls } }) {
    const waitMs = (params.wait ?? 0) * 1000;
    const messages = await polls.park(device.id, signal, (whenOver) =>
      fetchInbox(core, device, waitMs, nowMs, whenOver),
    );
    if (typeof messages === 'string') return messages;
    const data = messages.map((message) => messageView(message, settings));
    return { says: 'ok', body: { data } };
  },
});

const ackEndpoint = deviceEndpoint({
  method: 'POST',
  path: '/device/ack',
  summary: 'Acknowledge messages',
  params: {},
  says: ['ok', 'unknown_error'],
  async handle({ core, device, body, nowMs }) {
    const items = parseAckItems(body['items']);
    if ('problem' in items) return { says: 'unknown_error', detail: items.problem };
    await acknowledge(core, device, items, nowMs);
    return 'ok';
  },
});

export const messagingEndpoints = [registerEndpoint, inboxEndpoint, ackEndpoint];
