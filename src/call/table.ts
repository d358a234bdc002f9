/** The table of the console's calls, one record each. */

import type { Role } from '../core/port/account.ts';
import { activityCalls } from './activity-calls.ts';
import { botCalls } from './bot-calls.ts';
import type { AnyCall, GivenTo, GotFrom, SaysOf } from './call.ts';
import { cutCalls } from './cut-calls.ts';
import type { directCalls } from './direct-calls.ts';
import { domainCalls } from './domain-calls.ts';
import { jobCalls } from './job-calls.ts';
import { linkCalls } from './link-calls.ts';
import { linkFileCalls } from './link-file-calls.ts';
import { linkPanelCalls } from './link-panel-calls.ts';
import { messageCalls } from './message-calls.ts';
import { myCalls } from './my-calls.ts';
import { operatorAccountCalls } from './operator-account-calls.ts';
import { operatorBackupCalls } from './operator-backup-calls.ts';
import { operatorDeliveryCalls } from './operator-delivery-calls.ts';
import { operatorMachineCalls } from './operator-machine-calls.ts';
import { operatorProviderCalls } from './operator-provider-calls.ts';
import { operatorRecordCalls } from './operator-record-calls.ts';
import { operatorUpstreamCalls } from './operator-upstream-calls.ts';
import { overviewCalls } from './overview-calls.ts';
import { phoneCalls } from './phone-calls.ts';
import { reminderCalls } from './reminder-calls.ts';
import { reminderRoundCalls } from './reminder-round-calls.ts';
import { sendCalls } from './send-calls.ts';
import { accountCalls, sessionCalls } from './session-calls.ts';
import { staffCalls } from './staff-calls.ts';
import { tieCalls } from './tie-calls.ts';
import { webhookCalls } from './webhook-calls.ts';

const CALLS = {
  ...sessionCalls,
  ...accountCalls,
  ...overviewCalls,
  ...linkCalls,
  ...linkPanelCalls,
  ...tieCalls,
  ...phoneCalls,
  ...cutCalls,
  ...jobCalls,
  ...messageCalls,
  ...activityCalls,
  ...linkFileCalls,
  ...domainCalls,
  ...botCalls,
  ...staffCalls,
  ...sendCalls,
  ...reminderCalls,
  ...reminderRoundCalls,
  ...webhookCalls,
  ...myCalls,
  ...operatorProviderCalls,
  ...operatorMachineCalls,
  ...operatorRecordCalls,
  ...operatorDeliveryCalls,
  ...operatorBackupCalls,
  ...operatorAccountCalls,
  ...operatorUpstreamCalls,
} satisfies Record<string, AnyCall>;

type Calls = typeof CALLS;

/** The names of the console's calls. */
export type CallName = keyof Calls;

/** The calls of all surfaces. */
export type ServedCalls = Calls & typeof directCalls;

/** The calls that commands make. */
export type CommandCall = {
  [N in keyof ServedCalls]: ServedCalls[N]['serves'] extends { commands: readonly string[] }
    ? N
    : never;
}[keyof ServedCalls];

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

/** Returns the calls about a provider and the appliance that a role may make. */
export const callsOf = (role: Role): CallName[] =>
  RECORDS.flatMap(([name, { may }]) => (may?.includes(role) ? [name] : []));

/** The refusals of all calls, besides a malformed input, which has a detail. */
export type Says = Exclude<{ [N in CallName]: SaysOf<Calls[N]> }[CallName], 'malformed'>;
