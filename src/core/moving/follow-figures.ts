/** Keeps the figures of subscriptions that a pass over a followed panel read. */

import { isProvedBy } from '../panel/proof.ts';
import type { FoundLink } from '../port/panel-tie.ts';
import type { Figures } from '../port/subscription-figures.ts';
import { keepsFigures } from '../privacy.ts';
import { afterRead, plausible } from '../subscription-figures.ts';
import type { FollowPassParts } from './follow-parts.ts';

/** Users whose links are looked up together. */
const BATCH = 100;

export class FollowedFigures {
  /** By the hash of the key. */
  readonly #read = new Map<string, Figures>();

  constructor(private readonly parts: FollowPassParts) {}

  /** Takes the figures of a user; those of a batch are kept together. */
  async add(keyHash: string, read: Figures): Promise<void> {
    const { core, provider, readsFigures } = this.parts;
    if (!readsFigures || provider.subscriptionFigures === 0 || !keepsFigures(core)) return;
    this.#read.set(keyHash, read);
    if (this.#read.size >= BATCH) await this.keep();
  }

  /** Keeps what was taken since the last time. */
  async keep(): Promise<void> {
    const { core, provider, rules } = this.parts;
    const links = await core.store.listTiedLinks(provider.id, [...this.#read.keys()]);
    for (const link of links) if (isProvedBy(rules.kind, link)) await this.#keepOf(link);
    this.#read.clear();
  }

  /** Nearly all writes would change nothing: what is kept is read first. */
  async #keepOf({ id, subscriptionKeyHash }: FoundLink): Promise<void> {
    const { core, nowMs: now } = this.parts;
    const found = this.#read.get(subscriptionKeyHash ?? '');
    if (found === undefined) return;
    const nowMs = now();
    const read = plausible(found, nowMs);
    const kept = await core.store.findSubscriptionFigures(id);
    if (afterRead(kept, read, 'panel', nowMs) === null) return;
    await core.store.keepSubscriptionFigures(id, read, 'panel', nowMs);
  }
}
