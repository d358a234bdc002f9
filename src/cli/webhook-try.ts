/** `gatepost webhook test`: sends a real event and explains the answer. */

import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { AttemptVerdict } from '../core/outbox/carrier.ts';
import { findWebhook, tryWebhook } from '../core/webhook.ts';
import { type CliContext, type CommonOptions, print, settingsFor, withCore } from './context.ts';
import { granted } from './refusal.ts';
import { webhookIdValue } from './values.ts';

/** The effect of each verdict on an event. */
const CONSEQUENCES: Readonly<Record<Exclude<AttemptVerdict['verdict'], 'accepted'>, string>> = {
  retry: 'An event would be retried, 10 times over about three days.',
  wait: 'An event would be sent after that time.',
  busy: 'An event would wait for its turn.',
  failed: 'An event would fail.',
  dead: 'An event would disable the webhook.',
  credentials: 'An event would disable the webhook.',
};

async function attempt(context: CliContext, id: number, options: CommonOptions): Promise<void> {
  const { webhook, verdict } = await withCore(context, options, async (core) => {
    const webhook = granted(await findWebhook(core, id), id);
    const { eventSenders, close } = await context.openEventSenders(settingsFor(context, options));
    const { signal } = new AbortController();
    const tried = tryWebhook(core, eventSenders, webhook, context.nowMs(), signal);
    return { webhook, verdict: await tried.finally(close) };
  });
  if (verdict.verdict !== 'accepted') {
    const { problem } = verdict;
    const sentence = `webhook ${id} did not accept the test event: ${problem}.`;
    const disabled = webhook.disabled === null ? '' : ' It is disabled and gets no events.';
    throw new OperatorError(
      `${sentence} ${CONSEQUENCES[verdict.verdict]}${disabled}`.replace(/\.$/, ''),
      'test_failed',
    );
  }
  const receiver = webhook.target.kind === 'webhook' ? 'the receiver' : 'the chat';
  const note =
    webhook.disabled === null
      ? ''
      : `\nIt is disabled (${webhook.disabled.why}): 'webhook set --enable' enables it.`;
  const text = `webhook ${id} works: ${receiver} accepted the test event${note}`;
  print(context, options, { id, done: 'delivered' }, text);
}

export function addTryCommand(webhook: Command, context: CliContext): void {
  webhook
    .command('test')
    .description('send a test event now and explain the answer')
    .argument('<id>', '', webhookIdValue)
    .action((id: number, options: CommonOptions) => attempt(context, id, options));
}
