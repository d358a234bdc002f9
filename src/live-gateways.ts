/** The gateways of this process, and the worker of the outbox that hands over to them. */

import type { Clock } from './clock.ts';
import type { Config } from './config/settings/index.ts';
import type { Core } from './core/core.ts';
import type { EventSenders } from './core/outbox/carrier.ts';
import type { PushGateway } from './core/port/registration.ts';
import { type GatewaySet, makeGateways, NO_GATEWAYS } from './gateway/gateways.ts';
import { Outbox } from './jobs/outbox/worker.ts';
import type { Log } from './log.ts';
import type { Tallies } from './monitor/tallies.ts';
import type { Outgoing } from './outgoing/outgoing.ts';

interface LiveGatewayParts {
  /** One object, which a reload changes in place. */
  settings: Config;
  outgoing: Outgoing;
  clock: Clock;
}

/** The gateways that are set up, which a reload may replace. */
export class LiveGateways {
  #gateways: GatewaySet = NO_GATEWAYS;

  constructor(private readonly parts: LiveGatewayParts) {}

  /** Names of the gateways that are set up. */
  names = (): readonly PushGateway[] => Object.keys(this.#gateways.all) as PushGateway[];

  pushKey = (): string | null => this.#gateways.pushKey;

  /**
   * Makes the gateways that these settings name, and says how to put them in place, which returns
   * the names of those that are new or others now. Throws `OperatorError`, and changes nothing, if
   * one of them cannot be made.
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

  /** The worker; `resume` begins its work. */
  worker(core: Core, eventSenders: EventSenders, log: Log, { onAttempt }: Tallies): Outbox {
    const { settings, clock } = this.parts;
    const gateways = () => this.#gateways.all;
    return new Outbox({
      ...{ core, clock, log, settings, gateways, eventSenders, onAttempt },
      random: Math.random,
    });
  }
}
