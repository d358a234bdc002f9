/** `gatepost webhook deliveries`, `replay`: what became of events, and telling them again. */

import { type Command, Option } from 'commander';
import { DELIVERY_STATES, type Delivery } from '../core/port/webhook.ts';
import { findWebhook, replayEvents } from '../core/webhook.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { counted } from './confirm.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { granted } from './refusal.ts';
import { eventIdValue, instantValue, showTime, webhookIdValue } from './values.ts';

interface ListOptions extends CommonOptions, LimitOptions {
  state?: Delivery['state'];
}

interface ReplayOptions extends CommonOptions {
  event?: number;
  since?: (nowMs: number) => number;
}

function view(delivery: Delivery) {
  return {
    event_id: delivery.eventId,
    type: delivery.kind,
    happened_at: showTime(delivery.atMs),
    state: delivery.state,
    attempts: delivery.attemptCount,
    // What waits for its first attempt is due since ever.
    state_at: showTime(Math.max(delivery.stateAtMs, delivery.atMs)),
    problem: delivery.problem,
  };
}

async function list(context: CliContext, id: number, options: ListOptions): Promise<void> {
  const countMax = countMaxOf(options);
  const found = await withCore(context, options, async (core) => {
    granted(await findWebhook(core, id), id);
    // One more tells that there are more.
    return core.store.listDeliveries(id, options.state ?? null, null, countMax + 1);
  });
  printTable(context, options, found.slice(0, countMax).map(view), {
    EVENT: 'event_id',
    TYPE: 'type',
    HAPPENED: 'happened_at',
    STATE: 'state',
    TRIES: 'attempts',
    AT: 'state_at',
    WHY: ({ problem }) => problem ?? '-',
  });
  if (found.length > countMax) noteRest(context, countMax, null, 'deliveries');
}

async function replay(context: CliContext, id: number, options: ReplayOptions): Promise<void> {
  const { event: eventId, since } = options;
  if ((eventId === undefined) === (since === undefined)) {
    throw new UsageError('give --event or --since, one of them');
  }
  const nowMs = context.nowMs();
  const { count, isFull } = await withCore(context, options, async (core) => {
    const webhook = granted(await findWebhook(core, id), id);
    const which = eventId === undefined ? { sinceMs: since?.(nowMs) ?? 0 } : { eventId };
    return replayEvents(core, webhook, which, nowMs);
  });
  if (eventId !== undefined && count === 0 && !isFull) {
    throw new OperatorError(
      `webhook ${id} has no event ${eventId} to send again: it waits already, or is not kept, or is of another owner`,
    );
  }
  const left = isFull ? '; the rest was left out, as so many wait already as may' : '';
  const text = `${counted(count, 'event')} will be sent to webhook ${id} again${left}`;
  print(context, options, { id, count, is_full: isFull }, text);
}

export function addDeliveryCommands(webhook: Command, context: CliContext): void {
  const listing = webhook
    .command('deliveries')
    .description('list what waits, was delivered or given up, the newest event first')
    .argument('<id>', '', webhookIdValue)
    .addOption(new Option('--state <state>', 'only those in this state').choices(DELIVERY_STATES));
  addLimit(listing).action((id: number, options: ListOptions) => list(context, id, options));

  webhook
    .command('replay')
    .description('send events that are kept again, with the ids that they have had')
    .argument('<id>', '', webhookIdValue)
    .option('--event <number>', 'this event', eventIdValue)
    .option(
      '--since <time>',
      'all from then on: a date or time in UTC, or 24h for so long',
      instantValue,
    )
    .action((id: number, options: ReplayOptions) => replay(context, id, options));
}
