/** The table of the console's calls, one record each; `core/account/roles.ts` has their rights. */

import type { CallName } from '../../core/account/roles.ts';
import type { Refused } from '../../core/outcome.ts';
import { activityCalls } from './activity-calls.ts';
import type { AnyCall, GivenTo, GotFrom } from './call.ts';
import { domainCalls } from './domain-calls.ts';
import { jobCalls } from './job-calls.ts';
import { linkCalls } from './link-calls.ts';
import { linkFileCalls } from './link-file-calls.ts';
import { linkPanelCalls } from './link-panel-calls.ts';
import { messageCalls } from './message-calls.ts';
import { operatorAccountCalls } from './operator-account-calls.ts';
import { operatorBackupCalls } from './operator-backup-calls.ts';
import { operatorDeliveryCalls } from './operator-delivery-calls.ts';
import { operatorMachineCalls } from './operator-machine-calls.ts';
import { operatorProviderCalls } from './operator-provider-calls.ts';
import { operatorRecordCalls } from './operator-record-calls.ts';
import { operatorUpstreamCalls } from './operator-upstream-calls.ts';
import { overviewCalls } from './overview-calls.ts';
import { sendCalls } from './send-calls.ts';
import { accountCalls, sessionCalls } from './session-calls.ts';
import { staffCalls } from './staff-calls.ts';
import { userPageCalls } from './user-page-calls.ts';
import { webhookCalls } from './webhook-calls.ts';

const CALLS = {
  ...sessionCalls,
  ...accountCalls,
  ...overviewCalls,
  ...linkCalls,
  ...linkPanelCalls,
  ...jobCalls,
  ...messageCalls,
  ...activityCalls,
  ...linkFileCalls,
  ...domainCalls,
  ...staffCalls,
  ...sendCalls,
  ...webhookCalls,
  ...userPageCalls,
  ...operatorProviderCalls,
  ...operatorMachineCalls,
  ...operatorRecordCalls,
  ...operatorDeliveryCalls,
  ...operatorBackupCalls,
  ...operatorAccountCalls,
  ...operatorUpstreamCalls,
} satisfies Record<CallName, AnyCall>;

type Calls = typeof CALLS;

/** The input of a call, by its name. */
export type Given<N extends CallName> = GivenTo<Calls[N]>;
/** The answer of a call unless it refuses. */
export type Got<N extends CallName> = GotFrom<Calls[N]>;

/** The path of a call. */
export const pathOf = (name: string): `/${string}` => `/console/call/${name}`;

/** Each record as the server reads it, by its name. */
export const RECORDS: readonly (readonly [CallName, AnyCall])[] = Object.entries<AnyCall>(
  CALLS,
) as unknown as [CallName, AnyCall][];

type RefusalOf<C> = C extends { handle(caller: never, given: never): infer O }
  ? Extract<Awaited<O>, Refused<string>>['says']
  : never;

/** The refusals of all calls, besides a malformed input, which has a detail. */
export type Says = Exclude<{ [N in CallName]: RefusalOf<Calls[N]> }[CallName], 'malformed'>;
