import type { Endpoint } from '../endpoint.ts';
import { appEndpoints } from './app.ts';
import { cutOffEndpoints } from './cut-off.ts';
import { domainEndpoints } from './domain.ts';
import { hwidEndpoints } from './hwid.ts';
import { linkEndpoints } from './link.ts';
import { linkEndEndpoints } from './link-end.ts';
import { messagingEndpoints } from './messaging.ts';
import { policyEndpoints } from './policy.ts';
import { receiptEndpoints } from './receipt.ts';
import { reminderEndpoints } from './reminder.ts';
import { roundsEndpoint } from './reminder-round.ts';
import { remoteEndpoints } from './remote.ts';
import { statsEndpoints } from './stats.ts';
import { tieEndpoints } from './tie.ts';
import { webhookEndpoints } from './webhook.ts';

/** A group of endpoints in the documents. */
interface EndpointGroup {
  name: string;
  endpoints: readonly Endpoint[];
}

/** The table of endpoints: the only definition of the API. */
export const groups = [
  {
    name: 'Limited links',
    endpoints: [
      ...linkEndpoints,
      ...linkEndEndpoints,
      ...hwidEndpoints,
      ...policyEndpoints,
      ...tieEndpoints,
      ...cutOffEndpoints,
    ],
  },
  { name: 'Domains', endpoints: domainEndpoints },
  { name: 'Notifications and commands', endpoints: [...remoteEndpoints, ...receiptEndpoints] },
  { name: 'Reminders', endpoints: [...reminderEndpoints, roundsEndpoint] },
  { name: 'Figures', endpoints: statsEndpoints },
  { name: 'Webhooks', endpoints: webhookEndpoints },
  { name: 'Calls that apps make', endpoints: appEndpoints },
  { name: 'Devices that get messages', endpoints: messagingEndpoints },
] as const satisfies readonly EndpointGroup[];

export const endpoints: readonly Endpoint[] = groups.flatMap((group) => group.endpoints);
