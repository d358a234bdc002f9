/** `gatepost webhook deliveries` and `replay`: lists and repeats deliveries of events. */

import { type Command, Option } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import { counted } from '../core/counted.ts';
import { DELIVERY_STATES, type Delivery } from '../core/port/webhook.ts';
import { findWebhook, replayEvents } from '../core/webhook.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { granted } from './refusal.ts';
import { eventIdValue, instantValue, SINCE_HELP, showTime, webhookIdValue } from './values.ts';

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
    // An event before its first attempt has no later time.
    state_at: showTime(Math.max(delivery.stateAtMs, delivery.atMs)),
    problem: delivery.problem,
  };
}

async function list(context: CliContext, id: number, options: ListOptions): Promise<void> {
  const countMax = countMaxOf(options);
  const found = await withCore(context, options, async (core) => {
    granted(await findWebhook(core, id), id);
    // One more than shown, to learn whether there are more.
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
  if (found.length > countMax) noteRest(context, countMax, null, 'delivery', 'deliveries');
}

async function replay(context: CliContext, id: number, options: ReplayOptions): Promise<void> {
  const { event: eventId, since } = options;
  if ((eventId === undefined) === (since === undefined)) {
    throw new UsageError('give either --event or --since');
  }
  const nowMs = context.nowMs();
  const { count, isFull } = await withCore(context, options, async (core) => {
    const webhook = granted(await findWebhook(core, id), id);
    const which = eventId === undefined ? { sinceMs: since?.(nowMs) ?? 0 } : { eventId };
    return replayEvents(core, webhook, which, nowMs);
  });
  if (eventId !== undefined && count === 0 && !isFull) {
    throw new OperatorError(
      `webhook ${id} has no event ${eventId} to replay: it is pending, was deleted, or belongs to another owner`,
    );
  }
  const rest = isFull ? '; the rest was omitted, because its queue is full' : '';
  const text = `${counted(count, 'event')} will be sent to webhook ${id} again${rest}`;
  print(context, options, { id, count, is_full: isFull }, text);
}

export function addDeliveryCommands(webhook: Command, context: CliContext): void {
  const listing = webhook
    .command('deliveries')
    .description('list pending, delivered and failed events, the newest first')
    .argument('<id>', '', webhookIdValue)
    .addOption(new Option('--state <state>', 'only in this state').choices(DELIVERY_STATES));
  addLimit(listing).action((id: number, options: ListOptions) => list(context, id, options));

  webhook
    .command('replay')
    .description('send kept events again, with the same ids')
    .argument('<id>', '', webhookIdValue)
    .option('--event <number>', 'only this event', eventIdValue)
    .option('--since <time>', SINCE_HELP, instantValue)
    .action((id: number, options: ReplayOptions) => replay(context, id, options));
}
