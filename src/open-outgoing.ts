/** Opens outgoing connections, for the server and for commands that test them. */

import { systemClock } from './clock.ts';
import type { Config } from './config/settings/index.ts';
import type { EventSenders } from './core/outbox/carrier.ts';
import type { PushContent } from './core/port/outbox.ts';
import type { PushAddress, PushGateway } from './core/port/registration.ts';
import { makeGateways } from './gateway/gateways.ts';
import { OperatorError } from './operator-error.ts';
import { readAuthorities } from './outgoing/authorities.ts';
import { Outgoing } from './outgoing/outgoing.ts';
import { makeEventSenders } from './webhook/senders.ts';

/** Opens outgoing connections; each call reads the current settings. */
export function openOutgoing(settings: Config): Outgoing {
  return new Outgoing({
    settings,
    clock: systemClock,
    ca: readAuthorities(settings.outgoingCaFile),
  });
}

/** Opens a gateway for a test. Throws `OperatorError` if its settings are missing or invalid. */
export async function openGateway(config: Config, name: PushGateway) {
  const outgoing = openOutgoing(config);
  const gateway = makeGateways(config, { outgoing, clock: systemClock }).all[name];
  if (gateway === undefined) {
    throw new OperatorError(`${name} is not set up: see [gateway.${name}] in the configuration`);
  }
  const send = (address: PushAddress, content: PushContent) =>
    gateway.send(address, content, new AbortController().signal);
  return Object.assign(send, { close: () => outgoing.close() });
}

/** Opens the senders of events for the test of a webhook. */
export function openEventSenders(settings: Config): { eventSenders: EventSenders; close(): void } {
  const outgoing = openOutgoing(settings);
  return { eventSenders: makeEventSenders(settings, outgoing), close: () => outgoing.close() };
}
