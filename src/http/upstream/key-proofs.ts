/**
 * Keeps by which upstreams the keys of links are proved: only there may their users be changed. A
 * panel that serves strangers proves nothing.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { HOUR_MS } from '../../core/calendar.ts';
import type { Core } from '../../core/core.ts';
import { proverOf } from '../../core/panel/cut-off.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { reportFault } from '../interpreter.ts';
import { remember } from './panel-api.ts';
import type { Upstream } from './settings.ts';

interface Deps {
  core: Core;
  clock: Clock;
  log: Log;
}

/** The time for which a proof is not looked at again: the key may come to another link. */
const KEPT_MS = HOUR_MS;

export class KeyProofs {
  /** Steady times at which proofs were kept, by upstream and key, the oldest first. */
  readonly #kept = new Map<string, number>();

  constructor(private readonly deps: Deps) {}

  /**
   * Keeps that a subscription of the panel proved the key of a link, without delaying the request,
   * if the upstream may change users.
   */
  noteLater(
    upstream: Upstream,
    providerId: number,
    key: string,
    servesStrangers: () => Promise<boolean>,
  ): void {
    if (!upstream.cutOff) return;
    const { clock, core } = this.deps;
    const prover = proverOf(upstream);
    const name = `${prover}\n${providerId}\n${key}`;
    const nowMs = clock.steadyMs();
    const keptAtMs = this.#kept.get(name);
    if (keptAtMs !== undefined && nowMs < keptAtMs + KEPT_MS) return;
    remember(this.#kept, name, nowMs);
    const note = async () => {
      if (await servesStrangers()) return this.#kept.delete(name);
      return core.store.noteKeyProof(providerId, subscriptionKeyHash(key), prover, clock.nowMs());
    };
    note().catch((fault) => {
      this.#kept.delete(name);
      reportFault(this.deps.log, 'upstream', fault, crypto.randomUUID());
    });
  }
}
