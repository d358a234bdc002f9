/** Findings of the doctor about webhooks that were disabled for their failures. */

import { about, type Finding } from '../../base/finding.ts';
import type { DisabledWebhooks, Webhook } from '../../core/port/webhook.ts';

const say = about('database');

/**
 * Finds webhooks and chats that were disabled for their failures: each of the operator's, which do
 * not get its own news, and those of each provider together.
 */
export function disabledFindings({ some }: DisabledWebhooks): Finding[] {
  const own = some.filter(({ providerCode }) => providerCode === undefined).map(operatorFinding);
  const others = Map.groupBy(some, ({ providerCode }) => providerCode ?? '');
  others.delete('');
  return [...own, ...[...others].map(([code, webhooks]) => providerFinding(code, webhooks))];
}

function operatorFinding({ id, target, disabled }: Webhook): Finding {
  const what = `the operator's ${NAMES[target.kind]} ${id} is disabled: ${disabled?.why}`;
  const todo = `mend that, then 'gatepost webhook set ${id} --enable'; until then it gets no events`;
  return say.problem('webhook_disabled', what, todo, `${id}`);
}

function providerFinding(code: string, webhooks: readonly Webhook[]): Finding {
  const [first] = webhooks;
  const ids = webhooks.map(({ id }) => id).join(', ');
  const what = `of provider ${code} webhooks are disabled (${ids}), the last one because ${first?.disabled?.why}`;
  const todo = `tell the provider, or see 'gatepost webhook list --provider ${code}'`;
  return say.warning('provider_webhooks_disabled', what, todo, code);
}

const NAMES = { webhook: 'webhook', telegram: 'Telegram chat, webhook' } as const;
