/** One attempt: a dispatch is given to whoever carries such. */

import type { Clock } from '../../clock.ts';
import type { EventSenders, Gateways, Verdict } from '../../core/outbox/carrier.ts';
import type { DestinationKind, EventDispatch, PushDispatch } from '../../core/port/outbox.ts';
import { PUSH_GATEWAYS } from '../../core/port/registration.ts';
import type { Webhook } from '../../core/port/webhook.ts';
import type { PushContents } from './contents.ts';

/** An attempt that has ended. */
export interface Carried {
  /** Null: it does not count, as it was broken off, or ours has been mended meanwhile. */
  verdict: Verdict | null;
  /** Time after which nobody needs it, UTC ms; null: there is none. */
  expiresAtMs: number | null;
}

/** Hears of each attempt: how it ended, and after how many seconds. */
export type AttemptObserver = (
  kind: DestinationKind,
  outcome: Verdict['verdict'],
  seconds: number,
) => void;

export interface CarrierDeps {
  /** Gateways as they are set up now. */
  gateways(): Gateways;
  eventSenders: EventSenders;
  contents: PushContents;
  findWebhook(id: number): Promise<Webhook | null>;
  /** Follows a chat to its new id, unless the webhook has another one by now. */
  moveChat(webhook: Webhook, chat: string): Promise<void>;
  clock: Clock;
  /** Breaks off what is under way. */
  signal: AbortSignal;
  onAttempt: AttemptObserver;
  onFault(fault: unknown): void;
}

/** Tells if an answer to the one is about the other too. */
function isSameReceiver(tried: Webhook, now: Webhook | null): boolean {
  if (now === null || tried.secret !== now.secret) return false;
  return JSON.stringify(tried.target) === JSON.stringify(now.target);
}

const FAULT = 'an internal fault, see the log of the server';
const GONE: Carried = {
  verdict: { verdict: 'failed', problem: 'the message is gone' },
  expiresAtMs: null,
};

export class Carrier {
  /** Chats that were left, with their webhooks: no chat is followed in a circle. */
  readonly #left = new Set<string>();

  constructor(private readonly deps: CarrierDeps) {}

  /** Kinds of destinations for which there is somebody who carries. */
  kinds(): DestinationKind[] {
    const gateways = this.deps.gateways();
    return [...PUSH_GATEWAYS.filter((kind) => gateways[kind] !== undefined), 'webhook', 'telegram'];
  }

  /** Most attempts at a time to one destination of a kind. */
  concurrencyOf(kind: DestinationKind): number {
    const { gateways, eventSenders } = this.deps;
    const isTold = kind === 'webhook' || kind === 'telegram';
    return (isTold ? eventSenders[kind] : gateways()[kind])?.concurrency ?? 1;
  }

  /** Least time between two attempts to one destination of a kind, ms. */
  spacingOf(kind: DestinationKind): number {
    return kind === 'webhook' || kind === 'telegram' ? this.deps.eventSenders[kind].spacingMs : 0;
  }

  /** Hands a push over once; null: its gateway is not set up any more. Never rejects. */
  async push({ distributionId, token }: PushDispatch): Promise<Carried | null> {
    if (token?.push == null) return GONE;
    const { push, locale } = token;
    const gateway = this.deps.gateways()[push.gateway];
    if (gateway === undefined) return null;
    const { contents } = this.deps;
    return this.#try(push.gateway, async (signal) => {
      const content =
        contents.known(distributionId, locale) ?? (await contents.render(distributionId, locale));
      if (content === null) return GONE;
      const verdict = await gateway.send(push, content, signal);
      const isReplaced = this.deps.gateways()[push.gateway] !== gateway;
      const isMended = isReplaced && verdict.verdict === 'credentials';
      return { verdict: isMended ? null : verdict, expiresAtMs: content.expiresAtMs };
    });
  }

  /** Tells a webhook of an event once; null: it is gone, or disabled. Never rejects. */
  async deliver({ event }: EventDispatch, webhookId: number): Promise<Carried | null> {
    const { eventSenders, clock } = this.deps;
    // Anew each time: what its owner changes holds for the next attempt.
    const webhook = await this.#enabledWebhook(webhookId);
    if (webhook === null) return null;
    const { kind } = webhook.target;
    return this.#try(kind, async (signal) => {
      const verdict = await eventSenders[kind].deliver(webhook, event, clock.nowMs(), signal);
      if (await this.#follow(webhook, verdict)) return { verdict: null, expiresAtMs: null };
      const isOld =
        verdict.verdict !== 'accepted' &&
        !isSameReceiver(webhook, await this.#enabledWebhook(webhookId));
      return { verdict: isOld ? null : verdict, expiresAtMs: null };
    });
  }

  /** Follows a chat that moved; true: the event goes there with the next attempt. */
  async #follow(webhook: Webhook, verdict: Verdict): Promise<boolean> {
    const { id, target } = webhook;
    if (verdict.verdict !== 'dead' || verdict.movedTo === undefined) return false;
    if (target.kind !== 'telegram' || this.#left.has(`${id} ${verdict.movedTo}`)) return false;
    this.#left.add(`${id} ${target.chat}`);
    await this.deps.moveChat(webhook, verdict.movedTo);
    return true;
  }

  async #enabledWebhook(id: number): Promise<Webhook | null> {
    try {
      const webhook = await this.deps.findWebhook(id);
      return webhook?.disabled === null ? webhook : null;
    } catch (fault) {
      this.deps.onFault(fault);
      return null;
    }
  }

  async #try(
    kind: DestinationKind,
    attempt: (signal: AbortSignal) => Promise<Carried>,
  ): Promise<Carried> {
    const { clock, signal, onAttempt, onFault } = this.deps;
    const beganMs = clock.steadyMs();
    const carried = await attempt(signal).catch((fault: unknown): Carried => {
      onFault(fault);
      return { verdict: { verdict: 'retry', afterMs: null, problem: FAULT }, expiresAtMs: null };
    });
    const { verdict } = carried;
    const isBrokenOff = signal.aborted && verdict?.verdict === 'retry';
    if (verdict === null || isBrokenOff) return { ...carried, verdict: null };
    if (verdict.verdict === 'busy') return carried;
    onAttempt(kind, verdict.verdict, (clock.steadyMs() - beganMs) / 1000);
    return carried;
  }
}
