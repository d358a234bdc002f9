/** Sends the events that wait, as the worker of a server does, which may run beside it. */

import { systemClock } from './clock.ts';
import type { Config } from './config/settings/index.ts';
import type { Core } from './core/core.ts';
import type { EventSenders } from './core/outbox/carrier.ts';
import { Outbox } from './jobs/outbox/worker.ts';

const LOOK_MS = 200;
/** Longer than the lease of a server that was killed. */
const TIME_MAX_MS = 45_000;

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Sends events until `isDone`, for at most 45 s. */
export async function sendEvents(
  core: Core,
  settings: Config,
  eventSenders: EventSenders,
  isDone: () => Promise<boolean>,
): Promise<void> {
  const clock = systemClock;
  const outbox = new Outbox({
    ...{ core, clock, log: silent, settings, eventSenders },
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
