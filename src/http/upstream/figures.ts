/**
 * Notes the figures of subscriptions, in answers of panels to admitted apps and of their APIs, for
 * providers that keep them. No request waits for it, and nearly none writes: what is kept is
 * remembered.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import type { AdmittedLink } from '../../core/port/slot.ts';
import type { Figures, FiguresSource, KeptFigures } from '../../core/port/subscription-figures.ts';
import { keepsFigures } from '../../core/privacy.ts';
import { afterRead, figuresIn } from '../../core/subscription-figures.ts';
import { reportFault } from '../interpreter.ts';
import { remember } from './panel-api.ts';

interface Deps {
  core: Core;
  clock: Clock;
  log: Log;
}

type FiguresLink = Pick<AdmittedLink, 'installId' | 'providerCode'>;

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
  readonly #known = new Map<number, KeptFigures | null>();
  readonly #inFlight = new Set<number>();

  constructor(private readonly deps: Deps) {}

  /** Notes the figures in the headers of an answer, without delaying it. */
  noteLater(link: FiguresLink, headers: Headers): void {
    if (this.mayKeep(link) === false) return;
    const nowMs = this.deps.clock.nowMs();
    const known = this.#known.get(link.installId);
    const header = headers.get(FIGURES_HEADER);
    const read = header === null ? null : figuresIn(header, nowMs);
    if (read === null) return;
    if (known !== undefined && afterRead(known, read, 'proxy', nowMs) === null) return;
    this.note(link, read, 'proxy').catch((fault: unknown) => {
      reportFault(this.deps.log, 'upstream', fault, crypto.randomUUID());
    });
  }

  /** Returns whether the provider of a link keeps figures; null: it is not known now. */
  mayKeep({ providerCode }: FiguresLink): boolean | null {
    if (!keepsFigures(this.deps.core)) return false;
    const known = this.#keeps.get(providerCode);
    return known !== undefined && this.deps.clock.steadyMs() < known.untilMs ? known.keeps : null;
  }

  /** Keeps figures of a link, if its provider keeps them and they say something new. */
  async note(link: FiguresLink, read: Figures, source: FiguresSource): Promise<void> {
    const { installId } = link;
    if (this.#inFlight.has(installId) || this.#inFlight.size >= AT_ONCE) return;
    this.#inFlight.add(installId);
    try {
      if (await this.keeps(link)) await this.#keep(installId, read, source);
    } finally {
      this.#inFlight.delete(installId);
    }
  }

  /** Returns whether the provider of a link keeps figures. */
  async keeps(link: FiguresLink): Promise<boolean> {
    const known = this.mayKeep(link);
    if (known !== null) return known;
    const { clock, core } = this.deps;
    const provider = await core.store.findProvider(link.providerCode);
    const keeps = provider?.subscriptionFigures === 1;
    this.#keeps.set(link.providerCode, { untilMs: clock.steadyMs() + HOLDS_MS, keeps });
    return keeps;
  }

  async #keep(installId: number, read: Figures, source: FiguresSource): Promise<void> {
    const { clock, core } = this.deps;
    const nowMs = clock.nowMs();
    const known =
      this.#known.get(installId) ?? (await core.store.findSubscriptionFigures(installId));
    remember(this.#known, installId, known);
    if (afterRead(known, read, source, nowMs) === null) return;
    await core.store.keepSubscriptionFigures(installId, read, source, nowMs);
    // Another node, or the switch of the provider, may have decided otherwise.
    remember(this.#known, installId, await core.store.findSubscriptionFigures(installId));
  }
}
