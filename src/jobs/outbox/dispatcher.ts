/** Makes one attempt at a dispatch: a push through its gateway, or an event to its webhook. */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import type { PushSettings } from '../../core/message/push.ts';
import type { AttemptVerdict, EventSenders, Gateways } from '../../core/outbox/carrier.ts';
import type { DestinationKind, EventDispatch, PushDispatch } from '../../core/port/outbox.ts';
import { PUSH_GATEWAYS } from '../../core/port/registration.ts';
import type { Webhook } from '../../core/port/webhook.ts';
import { moveChat } from '../../core/webhook.ts';
import { forWebhook } from '../../core/webhook-figures.ts';
import type { PushContents } from './contents.ts';

export interface AttemptResult {
  /** The verdict; null: the attempt does not count, as it was aborted or its target has changed. */
  verdict: AttemptVerdict | null;
  /** The time at which the message expires, UTC ms; null: it does not. */
  expiresAtMs: number | null;
}

/** Receives the outcome of each attempt and its duration in seconds. */
type AttemptObserver = (
  kind: DestinationKind,
  outcome: AttemptVerdict['verdict'],
  seconds: number,
) => void;

export interface OutboxDeps {
  core: Core;
  clock: Clock;
  log: Log;
  /** Returns the gateways of the current configuration. */
  gateways(): Gateways;
  eventSenders: EventSenders;
  /** A change of the settings applies from `Outbox.resume` on. */
  settings: PushSettings;
  onAttempt: AttemptObserver;
  /** Returns a number from 0 up to 1. */
  random: () => number;
}

/** Returns whether the receiver that answered is still the webhook's receiver. */
function isSameReceiver(tried: Webhook, now: Webhook | null): boolean {
  if (now === null || tried.secret !== now.secret) return false;
  return JSON.stringify(tried.target) === JSON.stringify(now.target);
}

const FAULT = 'an internal fault, see the log of the server';
const GONE: AttemptResult = {
  verdict: { verdict: 'failed', problem: 'the message is gone' },
  expiresAtMs: null,
};

export class Dispatcher {
  /** Former ids of chats, each with its webhook: a chat that moves back is not followed. */
  readonly #formerChats = new Set<string>();

  /** `signal` aborts the attempts in progress. */
  constructor(
    private readonly deps: OutboxDeps,
    private readonly contents: PushContents,
    private readonly signal: AbortSignal,
    private readonly onFault: (fault: unknown) => void,
  ) {}

  /** Returns the kinds of destinations that can be served. */
  kinds(): DestinationKind[] {
    const gateways = this.deps.gateways();
    return [...PUSH_GATEWAYS.filter((kind) => gateways[kind] !== undefined), 'webhook', 'telegram'];
  }

  /** Returns the most attempts at a time to one destination, and the least time between two, ms. */
  limitsOf(kind: DestinationKind): { concurrency: number; spacingMs: number } {
    if (kind === 'webhook' || kind === 'telegram') return this.deps.eventSenders[kind];
    return { concurrency: this.deps.gateways()[kind]?.concurrency ?? 1, spacingMs: 0 };
  }

  /** Sends a push once. Returns null if its gateway is no longer configured. Never rejects. */
  async sendPush({ deviceId, distributionId, token }: PushDispatch): Promise<AttemptResult | null> {
    if (token?.push == null) return GONE;
    const { push, locale } = token;
    const gateway = this.deps.gateways()[push.gateway];
    if (gateway === undefined) return null;
    const { contents, deps } = this;
    return this.#attempt(push.gateway, async (signal) => {
      const content =
        contents.known(distributionId, locale) ??
        (await contents.render({ distributionId, deviceId }, locale, deps.clock.nowMs()));
      if (content === null) return GONE;
      const verdict = await gateway.send(push, content, signal);
      const isReplaced = this.deps.gateways()[push.gateway] !== gateway;
      const isMended = isReplaced && verdict.verdict === 'credentials';
      return { verdict: isMended ? null : verdict, expiresAtMs: content.expiresAtMs };
    });
  }

  /** Sends an event once. Returns null if its webhook is deleted or disabled. Never rejects. */
  async sendEvent({ event }: EventDispatch, webhookId: number): Promise<AttemptResult | null> {
    const { eventSenders, clock } = this.deps;
    // Read for each attempt, so that a change by the owner applies to the next one.
    const webhook = await this.#enabledWebhook(webhookId);
    if (webhook === null) return null;
    const { kind } = webhook.target;
    return this.#attempt(kind, async (signal) => {
      const own = await forWebhook(this.deps.core.store, webhook, event);
      const verdict = await eventSenders[kind].deliver(webhook, own, clock.nowMs(), signal);
      if (await this.#followChat(webhook, verdict)) return { verdict: null, expiresAtMs: null };
      const isOld =
        verdict.verdict !== 'accepted' &&
        !isSameReceiver(webhook, await this.#enabledWebhook(webhookId));
      return { verdict: isOld ? null : verdict, expiresAtMs: null };
    });
  }

  /** Saves the new id of a chat that moved. Returns true if the event must be sent there. */
  async #followChat(webhook: Webhook, verdict: AttemptVerdict): Promise<boolean> {
    const { id, target } = webhook;
    if (verdict.verdict !== 'dead' || verdict.movedTo === undefined) return false;
    if (target.kind !== 'telegram') return false;
    if (this.#formerChats.has(`${id} ${verdict.movedTo}`)) return false;
    this.#formerChats.add(`${id} ${target.chat.replace(/\/.*/, '')}`);
    const { core, clock } = this.deps;
    await moveChat(core, webhook, verdict.movedTo, clock.nowMs());
    return true;
  }

  async #enabledWebhook(id: number): Promise<Webhook | null> {
    try {
      const webhook = await this.deps.core.store.findWebhook(id);
      return webhook?.disabled === null ? webhook : null;
    } catch (fault) {
      this.onFault(fault);
      return null;
    }
  }

  async #attempt(
    kind: DestinationKind,
    send: (signal: AbortSignal) => Promise<AttemptResult>,
  ): Promise<AttemptResult> {
    const { signal } = this;
    const { clock, onAttempt } = this.deps;
    const beganMs = clock.steadyMs();
    const result = await send(signal).catch((fault: unknown): AttemptResult => {
      this.onFault(fault);
      return { verdict: { verdict: 'retry', afterMs: null, problem: FAULT }, expiresAtMs: null };
    });
    const { verdict } = result;
    const isAborted = signal.aborted && verdict?.verdict === 'retry';
    if (verdict === null || isAborted) return { ...result, verdict: null };
    if (verdict.verdict === 'busy') return result;
    onAttempt(kind, verdict.verdict, (clock.steadyMs() - beganMs) / 1000);
    return result;
  }
}
