/** Every scenario. */

import { cutOffScenarios } from './cut-off.ts';
import { deviceScenarios } from './device.ts';
import { domainScenarios } from './domain.ts';
import { hwidScenarios } from './hwid.ts';
import { linkScenarios } from './link.ts';
import { linkEndScenarios } from './link-end.ts';
import { linkNameScenarios } from './link-names.ts';
import { linkTermScenarios } from './link-terms.ts';
import { messagingScenarios } from './messaging.ts';
import { phoneScenarios } from './phone.ts';
import { policyScenarios } from './policy.ts';
import { registerScenarios } from './register.ts';
import { reminderScenarios } from './reminder.ts';
import { remoteScenarios } from './remote.ts';
import { commandScenarios } from './remote-command.ts';
import { formScenarios } from './remote-form.ts';
import { notificationScenarios } from './remote-notification.ts';
import type { Scenario } from './scenario.ts';
import { statsScenarios } from './stats.ts';
import { tieScenarios } from './tie.ts';
import { webhookScenarios } from './webhook.ts';
import { deliveryScenariosOfWebhooks } from './webhook-deliveries.ts';

export const scenarios: readonly Scenario[] = [
  ...linkScenarios,
  ...linkTermScenarios,
  ...linkNameScenarios,
  ...linkEndScenarios,
  ...tieScenarios,
  ...cutOffScenarios,
  ...hwidScenarios,
  ...phoneScenarios,
  ...policyScenarios,
  ...domainScenarios,
  ...deviceScenarios,
  ...notificationScenarios,
  ...formScenarios,
  ...commandScenarios,
  ...remoteScenarios,
  ...registerScenarios,
  ...messagingScenarios,
  ...reminderScenarios,
  ...statsScenarios,
  ...webhookScenarios,
  ...deliveryScenariosOfWebhooks,
];
