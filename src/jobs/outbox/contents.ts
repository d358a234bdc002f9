/**
 * Messages as gateways show them, rendered once for each language: a send to many devices is read
 * and rendered a few times, not once for each of them.
 */

import { type PushSettings, renderPush } from '../../core/message/push.ts';
import type { PushContent, PushMessage } from '../../core/port/outbox.ts';

/** Messages that are kept, and renderings of each: a device names its language as it likes. */
const MESSAGES_MAX = 64;
const LOCALES_MAX = 32;

interface Kept {
  message: PushMessage;
  byLocale: Map<string | null, PushContent>;
}

export class PushContents {
  readonly #kept = new Map<number, Kept>();
  /** Messages that are being looked for: many want the same one at once. */
  readonly #finding = new Map<number, Promise<PushMessage | null>>();

  constructor(
    private readonly find: (distributionId: number) => Promise<PushMessage | null>,
    private readonly settings: PushSettings,
  ) {}

  /** The message in a language, if it was asked for lately; undefined: ask by {@link render}. */
  known(distributionId: number, locale: string | null): PushContent | undefined {
    return this.#kept.get(distributionId)?.byLocale.get(locale);
  }

  /** The message in a language; null: it is gone. */
  async render(distributionId: number, locale: string | null): Promise<PushContent | null> {
    const message = this.#kept.get(distributionId)?.message ?? (await this.#find(distributionId));
    if (message === null) return null;
    const kept = this.#kept.get(distributionId) ?? { message, byLocale: new Map() };
    const known = kept.byLocale.get(locale);
    if (known !== undefined) return known;
    const content = renderPush(message, locale, this.settings);
    if (kept.byLocale.size >= LOCALES_MAX) kept.byLocale.clear();
    kept.byLocale.set(locale, content);
    // Put behind the others: the one that was used longest ago goes first.
    this.#kept.delete(distributionId);
    this.#kept.set(distributionId, kept);
    if (this.#kept.size > MESSAGES_MAX) this.#dropFirst();
    return content;
  }

  /** Forgets all: the settings may have changed. */
  forget(): void {
    this.#kept.clear();
  }

  #find(distributionId: number): Promise<PushMessage | null> {
    const present = this.#finding.get(distributionId);
    if (present !== undefined) return present;
    const finding = this.find(distributionId).finally(() => this.#finding.delete(distributionId));
    this.#finding.set(distributionId, finding);
    return finding;
  }

  #dropFirst(): void {
    for (const first of this.#kept.keys()) {
      this.#kept.delete(first);
      return;
    }
  }
}
