/**
 * Keeps by which upstreams the keys of links are proved: only there may their users be changed. A
 * panel that serves strangers proves nothing.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { reportFault } from '../interpreter.ts';
import { remember } from './panel-api.ts';
import type { Upstream } from './settings.ts';

interface Deps {
  core: Core;
  clock: Clock;
  log: Log;
}

export class KeyProofs {
  /** Keys whose proof is kept, by host, the oldest first. */
  readonly #kept = new Map<string, true>();

  constructor(private readonly deps: Deps) {}

  /**
   * Keeps that a subscription of the panel proved the key of a link, without delaying the request,
   * if the upstream may change users.
   */
  noteLater(
    { cutOff, host }: Upstream,
    providerId: number,
    key: string,
    servesStrangers: () => Promise<boolean>,
  ): void {
    const name = `${host}\n${providerId}\n${key}`;
    if (!cutOff || this.#kept.has(name)) return;
    remember(this.#kept, name, true);
    const note = async () => {
      if (await servesStrangers()) return this.#kept.delete(name);
      const { clock, core } = this.deps;
      return core.store.noteKeyProof(providerId, subscriptionKeyHash(key), host, clock.nowMs());
    };
    note().catch((fault) => {
      this.#kept.delete(name);
      reportFault(this.deps.log, 'upstream', fault, crypto.randomUUID());
    });
  }
}
