/** The gateways of this process, and the worker of the outbox that sends through them. */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings/index.ts';
import type { Core } from '../core/core.ts';
import type { EventSenders } from '../core/outbox/carrier.ts';
import type { SendOnce } from '../core/outbox/gateway-test.ts';
import type { PushGateway } from '../core/port/registration.ts';
import { type GatewaySet, makeGateways, NO_GATEWAYS } from '../gateway/gateways.ts';
import { Outbox } from '../jobs/outbox/worker.ts';
import type { Tallies } from '../monitor/tallies.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';

interface LiveGatewayParts {
  settings: Config;
  outgoing: Outgoing;
  clock: Clock;
}

/** The configured gateways; a reload may replace them. */
export class LiveGateways {
  #gateways: GatewaySet = NO_GATEWAYS;

  constructor(private readonly parts: LiveGatewayParts) {}

  /** Returns the names of the configured gateways. */
  names = (): readonly PushGateway[] => Object.keys(this.#gateways.all) as PushGateway[];

  /** Returns the function that sends one message through a gateway; null: it is not configured. */
  sender = (name: PushGateway, signal: AbortSignal): SendOnce | null => {
    const gateway = this.#gateways.all[name];
    if (gateway === undefined) return null;
    return (address, content) => gateway.send(address, content, signal);
  };

  pushKey = (): string | null => this.#gateways.pushKey;

  /**
   * Makes the gateways of these settings. Returns a function that installs them and returns the
   * names of new and changed ones. Throws `OperatorError` and changes nothing if one is invalid.
   */
  prepare(settings: Config, log: Log): () => string[] {
    const { outgoing, clock } = this.parts;
    const gateways = makeGateways(settings, { outgoing, clock }, this.#gateways);
    return () => {
      const before = this.#gateways.all;
      this.#gateways = gateways;
      const { newKeyFile: path } = gateways;
      if (path !== null) log.info('vapid_key_made', { path });
      return this.names().filter((name) => gateways.all[name] !== before[name]);
    };
  }

  /**
   * Makes the worker; `resume` starts it. `clock` is the server's, which a leap does not set back;
   * gateways sign by the machine's.
   */
  worker(
    core: Core,
    clock: Clock,
    eventSenders: EventSenders,
    log: Log,
    { onAttempt }: Tallies,
  ): Outbox {
    const { settings } = this.parts;
    const gateways = () => this.#gateways.all;
    return new Outbox({
      core,
      clock,
      log,
      settings,
      gateways,
      eventSenders,
      onAttempt,
      random: Math.random,
    });
  }
}
