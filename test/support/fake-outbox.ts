/** An outbox in memory, and carriers that do as a test says: the worker without a database. */

import { makeLog } from '../../src/base/log.ts';
import type { Core } from '../../src/core/core.ts';
import type { AttemptVerdict, EventSender, Gateway } from '../../src/core/outbox/carrier.ts';
import { HEALTHY } from '../../src/core/outbox/circuit.ts';
import { PUSH } from '../../src/core/port/distribution.ts';
import type { NodeStore } from '../../src/core/port/node.ts';
import {
  type Destination,
  type DestinationHealth,
  type DestinationKind,
  type Dispatch,
  type DispatchCursor,
  type OutboxStore,
  type Settlement,
  STOPPED_MS,
  WAIT_MAX_MS,
} from '../../src/core/port/outbox.ts';
import type { Store } from '../../src/core/port/store.ts';
import type { Webhook, WebhookChange } from '../../src/core/port/webhook.ts';
import { Signals } from '../../src/core/signals.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { USUAL_WEBHOOK } from '../../src/core/webhook-fields.ts';
import { Outbox } from '../../src/jobs/outbox/worker.ts';
import { ACT } from './actor.ts';
import { WIDE_LIMITS } from './bounds.ts';
import { FakeClock } from './clock.ts';
import { noLeap } from './no-leap.ts';
import { NO_RIDES } from './no-rides.ts';

const HOUR_MS = 3_600_000;

type Waiting = Dispatch & { destinationId: number; problem?: string };
type Held = Destination & { owner: string | null; leaseUntilMs: number; servedNo: number };
type Part = Pick<
  OutboxStore & NodeStore,
  | 'nameWorker'
  | 'claimDestinations'
  | 'listDispatches'
  | 'findPushMessage'
  | 'hastenDispatches'
  | 'settleDispatches'
  | 'releaseDestinations'
  | 'findNextDispatchMs'
  | 'resumeDestinations'
>;

/** The tables: what waits, what became of the rest, who holds what. */
export class FakeOutbox implements Part {
  readonly destinations = new Map<number, Held>();
  readonly webhooks = new Map<number, Webhook>();
  readonly settled = new Map<number, Settlement>();
  waiting: Waiting[] = [];
  /** Calls of the port, by method. */
  readonly calls: string[] = [];
  /** Throws in place of what it is asked for, as long as it is set. */
  fault: ((method: string) => boolean) | null = null;
  #nextId = 1;
  #servedCount = 0;

  constructor(readonly clock: FakeClock) {}

  addDestination(kind: DestinationKind, health: Partial<Destination> = {}): number {
    const id = this.#nextId++;
    const isTold = kind === 'webhook' || kind === 'telegram';
    const origin = kind === 'webpush' ? `https://push-${id}.example` : '';
    const held = { owner: null, leaseUntilMs: 0, servedNo: 0, waitingCount: 0 };
    const webhookId = isTold ? id : null;
    this.destinations.set(id, { ...HEALTHY, ...held, id, kind, origin, webhookId, ...health });
    if (isTold) this.webhooks.set(id, webhookOf(id, kind));
    return id;
  }

  /** Puts in pushes of distribution 1, or events. */
  add(destinationId: number, count = 1, more: Partial<Dispatch> = {}): number[] {
    const kind = this.#of(destinationId).kind;
    const added = Array.from({ length: count }, (): Waiting => {
      const id = this.#nextId++;
      const base = { id, nextAtMs: 0, queuedAtMs: this.clock.nowMs(), attemptCount: 0 };
      if (kind === 'webhook' || kind === 'telegram') {
        const event = { id, providerId: 1, kind: 'link.created', atMs: 0, data: {} } as const;
        return { ...base, kind: 'event', event, ...(more as object), destinationId };
      }
      const address = { gateway: kind, token: `token ${id}` };
      const token = { id, push: address, pushAtMs: 0, locale: null };
      const push = { kind: 'push', distributionId: 1, deviceId: id, token, moot: null } as const;
      return { ...base, ...push, ...(more as object), destinationId } as Waiting;
    });
    this.waiting.push(...added);
    return added.map(({ id }) => id);
  }

  outcomes(): string[] {
    return [...this.settled.values()].map(({ outcome }) => outcome);
  }

  claimDestinations: Part['claimDestinations'] = async (...asked) => {
    const [lease, kinds, countMax, failingMax, except] = asked;
    this.#begin('claim');
    let failingCount = 0;
    const found = [...this.destinations.values()]
      .filter(({ id, kind }) => kinds.includes(kind) && !except.includes(id))
      .filter((at) => this.#isFree(at) && this.#due(at.id).length > 0)
      .sort((one, other) => one.servedNo - other.servedNo || one.id - other.id)
      .filter(({ failureCount }) => failureCount === 0 || ++failingCount <= failingMax)
      .slice(0, countMax);
    for (const at of found) {
      at.owner = lease.owner;
      at.leaseUntilMs = this.clock.steadyMs() + lease.leaseMs;
    }
    return found.map((at) => ({ ...at }));
  };

  listDispatches: Part['listDispatches'] = async (destinationId, _nowMs, countMax, after) => {
    this.#begin('list');
    return this.#due(destinationId)
      .filter((dispatch) => after === null || inOrder(after, dispatch) < 0)
      .slice(0, countMax);
  };

  findPushMessage: Part['findPushMessage'] = async (id) => {
    this.#begin('message');
    const nowMs = this.clock.nowMs();
    const payload = { body: 'Hello', type_push: 'optional', expire_days: 1 };
    const times = { createdAtMs: nowMs, expiresAtMs: nowMs + HOUR_MS };
    return { id, providerId: 1, notificationType: PUSH, ...times, payload };
  };

  settleDispatches: Part['settleDispatches'] = async (lease, settlements, health, disables) => {
    // As a commit takes a turn of the event loop.
    await nextTurn();
    this.#begin('settle');
    for (const settlement of settlements) this.#settle(settlement);
    const at = this.#of(lease.destinationId);
    if (disables !== null) this.webhooks.delete(at.webhookId ?? 0);
    if (at.owner !== lease.owner) return false;
    at.leaseUntilMs = this.clock.steadyMs() + lease.leaseMs;
    Object.assign(at, pickHealth(health));
    return true;
  };

  hastenDispatches: Part['hastenDispatches'] = async (destinationId, countMax) => {
    await nextTurn();
    this.#begin('hasten');
    const putOff = this.waiting
      .filter((dispatch) => dispatch.destinationId === destinationId && dispatch.nextAtMs > 0)
      .sort(inOrder)
      .slice(0, countMax);
    for (const dispatch of putOff) dispatch.nextAtMs = 0;
    return putOff.length;
  };

  nameWorker: Part['nameWorker'] = async () => crypto.randomUUID();

  releaseDestinations: Part['releaseDestinations'] = async (owner, destinationId) => {
    await nextTurn();
    this.#begin('release');
    for (const at of this.destinations.values()) {
      if (at.owner !== owner || (destinationId !== null && at.id !== destinationId)) continue;
      at.owner = null;
      at.servedNo = ++this.#servedCount;
    }
  };

  findNextDispatchMs: Part['findNextDispatchMs'] = async (kinds) => {
    this.#begin('next');
    const times = this.waiting.flatMap(({ destinationId, nextAtMs }) => {
      const at = this.#of(destinationId);
      const isAsked = kinds.includes(at.kind) && this.#isEnabled(at);
      return isAsked ? [Math.max(nextAtMs, at.retryAtMs, stoppedUntil(at))] : [];
    });
    return times.length === 0 ? null : Math.min(...times);
  };

  resumeDestinations: Part['resumeDestinations'] = async (kinds) => {
    this.#begin('resume');
    const held = [...this.destinations.values()].filter(
      ({ kind, stoppedAtMs, retryAtMs }) =>
        kinds.includes(kind) && (stoppedAtMs !== null || retryAtMs > 0),
    );
    for (const at of held) Object.assign(at, { stoppedAtMs: null, retryAtMs: 0 });
    return held.length;
  };

  #settle(settlement: Settlement): void {
    const { id, outcome } = settlement;
    if (outcome === 'retry' || outcome === 'wait') {
      const dispatch = this.waiting.find((waiting) => waiting.id === id);
      if (dispatch === undefined) return;
      if (outcome === 'retry') dispatch.attemptCount += 1;
      dispatch.nextAtMs = settlement.nextAtMs;
      dispatch.problem = settlement.problem;
      return;
    }
    if (this.waiting.some((waiting) => waiting.id === id)) this.settled.set(id, settlement);
    this.waiting = this.waiting.filter((waiting) => waiting.id !== id);
  }

  #begin(method: string): void {
    this.calls.push(method);
    if (this.fault?.(method)) throw new Error(`the disk is full: ${method}`);
  }

  #of(id: number): Held {
    const found = this.destinations.get(id);
    if (found === undefined) throw new Error(`there is no destination ${id}`);
    return found;
  }

  #isEnabled({ webhookId }: Held): boolean {
    return webhookId === null || this.webhooks.get(webhookId)?.disabled === null;
  }

  #isFree(at: Held): boolean {
    const isHeld = at.owner !== null && at.leaseUntilMs > this.clock.steadyMs();
    const isPaused = Math.max(at.retryAtMs, stoppedUntil(at)) > this.clock.nowMs();
    return !isHeld && !isPaused && this.#isEnabled(at);
  }

  #due(destinationId: number): Waiting[] {
    const nowMs = this.clock.nowMs();
    const { kind } = this.#of(destinationId);
    return this.waiting
      .filter((dispatch) => dispatch.destinationId === destinationId)
      .filter(({ nextAtMs }) => nextAtMs <= nowMs || nextAtMs > nowMs + WAIT_MAX_MS[kind])
      .sort(inOrder);
  }
}

/** Time at which what was stopped is tried again; 0: it was not stopped. */
const stoppedUntil = ({ stoppedAtMs }: DestinationHealth) =>
  stoppedAtMs === null ? 0 : stoppedAtMs + STOPPED_MS;

/** What was tried already goes first, by its time; then what is new, as it was put in. */
function inOrder(one: DispatchCursor, other: DispatchCursor): number {
  const isNew = Number(one.nextAtMs === 0) - Number(other.nextAtMs === 0);
  return isNew || one.nextAtMs - other.nextAtMs || one.id - other.id;
}

function pickHealth(health: DestinationHealth): DestinationHealth {
  const { failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem } = health;
  return { failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem };
}

function webhookOf(id: number, kind: 'webhook' | 'telegram'): Webhook {
  const target =
    kind === 'webhook'
      ? { kind, url: `https://bot-${id}.example/hook`, scheme: 'v1' as const }
      : { kind, chat: '1', locale: 'en' as const };
  const rest = {
    ...USUAL_WEBHOOK,
    secret: 'whsec_x',
    previous: null,
    createdAtMs: 0,
    disabled: null,
  };
  return { id, providerId: 1, target, ...rest };
}

/** A call of a carrier that waits for its answer. */
export interface Call {
  /** The token, or the webhook's id with the event's. */
  to: string;
  answer(verdict: AttemptVerdict): void;
  signal: AbortSignal;
}

/** A gateway, or an event sender, whose calls wait until the test answers, unless `auto` does. */
export class Scripted implements Gateway, EventSender {
  readonly calls: Call[] = [];
  underWayCount = 0;
  mostUnderWay = 0;
  auto: ((to: string) => AttemptVerdict | null) | null = null;

  constructor(
    readonly concurrency: number,
    readonly spacingMs = 0,
  ) {}

  send: Gateway['send'] = (address, _content, signal) => this.#call(String(address.token), signal);

  deliver: EventSender['deliver'] = (webhook, event, _nowMs, signal) =>
    this.#call(`${webhook.id}: ${event.id}`, signal);

  #call(to: string, signal: AbortSignal): Promise<AttemptVerdict> {
    this.underWayCount += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWayCount);
    return new Promise((resolve) => {
      let isAnswered = false;
      const answer = (verdict: AttemptVerdict) => {
        if (!isAnswered) this.underWayCount -= 1;
        isAnswered = true;
        resolve(verdict);
      };
      signal.addEventListener('abort', () =>
        answer({ verdict: 'retry', afterMs: null, problem: 'the server stops' }),
      );
      this.calls.push({ to, answer, signal });
      const verdict = this.auto?.(to) ?? null;
      if (verdict !== null) answer(verdict);
    });
  }
}

export const ACCEPTED: AttemptVerdict = { verdict: 'accepted' };
export const BUSY: AttemptVerdict = { verdict: 'retry', afterMs: null, problem: 'it is busy' };

/** A worker on an outbox in memory, with a clock that stands still unless it is driven. */
export class OutboxBench {
  readonly clock = new FakeClock();
  readonly outbox = new FakeOutbox(this.clock);
  readonly logLines: string[] = [];
  readonly attempts: string[] = [];
  /** Chats that were followed to another id. */
  readonly moves: string[] = [];
  gateways: Partial<Record<'fcm' | 'apns' | 'webpush', Scripted>> = {
    fcm: new Scripted(64),
    webpush: new Scripted(4),
  };
  readonly webhook = new Scripted(4);
  readonly telegram = new Scripted(1, 1_000);
  readonly signals = new Signals();
  /** As of the guard of the clock; no leap by default. */
  leastMs = noLeap;

  get fcm(): Scripted {
    return this.gateways.fcm as Scripted;
  }

  worker(): Outbox {
    const { outbox, clock, webhook } = this;
    const store = {
      ...outbox,
      onBehalfOf: <T>(_party: string, _name: unknown, work: () => T) => work(),
      findWebhook: async (id: number) => outbox.webhooks.get(id) ?? null,
      updateWebhook: async (id: number, _owner: number, { target }: WebhookChange) => {
        const before = outbox.webhooks.get(id);
        if (before === undefined || target === undefined) return 'webhook_not_found';
        const [from, to] = [before.target, target].map((one) => 'chat' in one && one.chat);
        this.moves.push(`${from} to ${to}`);
        outbox.webhooks.set(id, { ...before, target });
        return { ...before, target };
      },
    } as unknown as Store;
    const core: Core = {
      store,
      signals: this.signals,
      actor: () => ACT.actor,
      limits: WIDE_LIMITS,
      gateways: () => [],
      rides: () => NO_RIDES,
      leastMs: (atMs) => this.leastMs(atMs),
      pushKey: () => null,
    };
    const write = (line: string) => this.logLines.push(line.replace(/^\S+ /, '').trimEnd());
    return new Outbox({
      core,
      clock,
      eventSenders: { webhook, telegram: this.telegram },
      random: () => 0.5,
      log: makeLog({ logFormat: 'human', logLevel: 'info' }, clock.nowMs, write),
      gateways: () => this.gateways,
      settings: { gatewayCarryMessages: false, outputOffsetMinutes: 0 },
      onAttempt: (kind, outcome) => this.attempts.push(`${kind} ${outcome}`),
    });
  }

  /** Lets the worker go on, and its short waits pass, until the test has what it waits for. */
  async until(what: string, probe: () => boolean, stepMs = 20): Promise<void> {
    for (let turns = 0; !probe(); turns++) {
      if (turns > 100_000) throw new Error(`waited in vain: ${what}`);
      if (turns % 5 === 4) this.clock.advance(stepMs);
      await nextTurn();
    }
  }

  /** Stops a worker; what hangs is broken off when its time is over. */
  async stop(worker: Outbox): Promise<void> {
    let hasStopped = false;
    const stopping = worker.stop().then(() => {
      hasStopped = true;
    });
    await this.until('it has stopped', () => hasStopped);
    await stopping;
  }

  /** One turn of the event loop. */
  turn = nextTurn;

  /** Lets the worker do all that it can do without the clock moving by more than a moment. */
  async rest(): Promise<void> {
    for (let turns = 0; turns < 30; turns++) {
      if (turns % 10 === 9) this.clock.advance(20);
      await nextTurn();
    }
  }
}
