/**
 * Notes the figures of subscriptions in answers of panels to admitted apps, for providers that keep
 * them. No request waits for it, and nearly none writes: what is kept is remembered.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import type { AdmittedLink } from '../../core/port/slot.ts';
import type { KeptFigures } from '../../core/port/subscription-figures.ts';
import { afterRead, figuresIn } from '../../core/subscription-figures.ts';
import { reportFault } from '../interpreter.ts';
import { remember } from './panel-api.ts';

interface Deps {
  core: Core;
  clock: Clock;
  log: Log;
}

/** The header in which panels tell apps the figures of a subscription. */
export const FIGURES_HEADER = 'subscription-userinfo';
/** The time for which it is known whether a provider keeps figures, ms. */
const HOLDS_MS = 10_000;
/** The most links whose figures are read or saved at once; others wait for their next fetch. */
const AT_ONCE = 64;

export class FiguresNotes {
  /** By the code of the provider. */
  readonly #keeps = new Map<string, { untilMs: number; keeps: boolean }>();
  /** The kept figures, by the id of the link. */
  readonly #known = new Map<string, KeptFigures | null>();
  readonly #inFlight = new Set<number>();

  constructor(private readonly deps: Deps) {}

  /** Notes the figures in the headers of an answer, without delaying it. */
  noteLater(link: AdmittedLink, headers: Headers): void {
    const header = headers.get(FIGURES_HEADER);
    const { installId, providerCode } = link;
    const known = this.#keeps.get(providerCode);
    const isKnown = known !== undefined && this.deps.clock.steadyMs() < known.untilMs;
    if (header === null || (isKnown && !known.keeps)) return;
    if (this.#inFlight.has(installId) || this.#inFlight.size >= AT_ONCE) return;
    this.#inFlight.add(installId);
    this.#note(link, header)
      .catch((fault: unknown) => {
        reportFault(this.deps.log, 'upstream', fault, crypto.randomUUID());
      })
      .finally(() => this.#inFlight.delete(installId));
  }

  async #note({ installId, providerCode }: AdmittedLink, header: string): Promise<void> {
    const { clock, core } = this.deps;
    if (!(await this.#keepsFigures(providerCode))) return;
    const nowMs = clock.nowMs();
    const read = figuresIn(header, nowMs);
    if (read === null) return;
    const name = String(installId);
    const known = this.#known.get(name) ?? (await core.store.findSubscriptionFigures(installId));
    remember(this.#known, name, known);
    if (afterRead(known, read, 'proxy', nowMs) === null) return;
    await core.store.keepSubscriptionFigures(installId, read, 'proxy', nowMs);
    // Another node, or the switch of the provider, may have decided otherwise.
    remember(this.#known, name, await core.store.findSubscriptionFigures(installId));
  }

  async #keepsFigures(providerCode: string): Promise<boolean> {
    const { clock, core } = this.deps;
    const nowMs = clock.steadyMs();
    const known = this.#keeps.get(providerCode);
    if (known !== undefined && nowMs < known.untilMs) return known.keeps;
    const provider = await core.store.findProvider(providerCode);
    const keeps = provider?.subscriptionFigures === 1;
    this.#keeps.set(providerCode, { untilMs: nowMs + HOLDS_MS, keeps });
    return keeps;
  }
}
