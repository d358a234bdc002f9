/** Opens outgoing connections, for the server and for commands that test them. */

import { systemClock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/settings/index.ts';
import type { Core } from '../core/core.ts';
import type { EventSenders } from '../core/outbox/carrier.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { PushAddress, PushGateway } from '../core/port/registration.ts';
import { makeGateways } from '../gateway/gateways.ts';
import { Outbox } from '../jobs/outbox/worker.ts';
import { readOutgoingFiles } from '../outgoing/authorities.ts';
import { Outgoing } from '../outgoing/outgoing.ts';
import { makeEventSenders } from '../webhook/senders.ts';

/** Opens outgoing connections; each call reads the current settings. */
export function openOutgoing(settings: Config): Outgoing {
  return new Outgoing({
    settings,
    clock: systemClock,
    files: readOutgoingFiles(settings),
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

/** The pause between two looks at the outbox, ms. */
const LOOK_MS = 200;
/** Longer than the lease of a server that was killed. */
const TIME_MAX_MS = 45_000;

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Sends the events that wait, as the worker of a server does, which may run beside this command,
 * until `isDone`, for at most 45 s.
 */
export async function sendEvents(
  core: Core,
  settings: Config,
  eventSenders: EventSenders,
  isDone: () => Promise<boolean>,
): Promise<void> {
  const clock = systemClock;
  const outbox = new Outbox({
    core,
    clock,
    log: silent,
    settings,
    eventSenders,
    // Pushes wait for the server.
    gateways: () => ({}),
    onAttempt: () => {},
    random: Math.random,
  });
  const endMs = clock.steadyMs() + TIME_MAX_MS;
  try {
    while (!(await isDone()) && clock.steadyMs() < endMs) {
      outbox.wake();
      await clock.sleep(LOOK_MS);
    }
  } finally {
    await outbox.stop();
  }
}
