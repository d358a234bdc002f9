/**
 * A cache of messages as gateways show them: a send to many devices reads its message once and
 * renders it once for each language. A message with placeholders is rendered for each device.
 */

import { fillMessages, hasNeutralPush, isFilled } from '../../core/message/filling.ts';
import { neutralPush } from '../../core/message/neutral-push.ts';
import { type PushSettings, renderPush } from '../../core/message/push.ts';
import type { PushContent, PushMessage } from '../../core/port/outbox.ts';
import type { Store } from '../../core/port/store.ts';

/** Bounds of the cache: messages, and languages of each, which devices choose freely. */
const MESSAGES_MAX = 64;
const LOCALES_MAX = 32;

interface Entry {
  message: PushMessage;
  byLocale: Map<string | null, PushContent>;
}

export class PushContents {
  /** In the order of their last rendering. */
  readonly #entries = new Map<number, Entry>();
  /** Reads in progress, which attempts at the same message share. */
  readonly #reads = new Map<number, Promise<PushMessage | null>>();

  constructor(
    private readonly store: Pick<Store, 'findFillFacts' | 'findPushMessage'>,
    private readonly settings: PushSettings,
  ) {}

  /** Returns a cached message in a language; undefined: {@link render} it. */
  known(distributionId: number, locale: string | null): PushContent | undefined {
    return this.#entries.get(distributionId)?.byLocale.get(locale);
  }

  /**
   * Returns a message in a language for a device; null: it was deleted, or is a reminder that is
   * not true any more.
   */
  async render(
    { distributionId, deviceId }: { distributionId: number; deviceId: number },
    locale: string | null,
    nowMs: number,
  ): Promise<PushContent | null> {
    const message =
      this.#entries.get(distributionId)?.message ?? (await this.#read(distributionId));
    if (message === null) return null;
    const entry = this.#entries.get(distributionId) ?? { message, byLocale: new Map() };
    const known = entry.byLocale.get(locale);
    if (known !== undefined) return known;
    this.#entries.delete(distributionId);
    this.#entries.set(distributionId, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MESSAGES_MAX && oldest !== undefined) this.#entries.delete(oldest);
    if (isFilled(message)) {
      const [own] = await fillMessages(this.store, deviceId, [message], nowMs);
      if (own === undefined) return null;
      return hasNeutralPush(message)
        ? neutralPush(own, locale)
        : renderPush(own, locale, this.settings);
    }
    const content = renderPush(message, locale, this.settings);
    if (entry.byLocale.size >= LOCALES_MAX) entry.byLocale.clear();
    entry.byLocale.set(locale, content);
    return content;
  }

  /** Empties the cache, as settings may have changed. */
  clear(): void {
    this.#entries.clear();
  }

  #read(distributionId: number): Promise<PushMessage | null> {
    const present = this.#reads.get(distributionId);
    if (present !== undefined) return present;
    const read = this.store
      .findPushMessage(distributionId)
      .finally(() => this.#reads.delete(distributionId));
    this.#reads.set(distributionId, read);
    return read;
  }
}
