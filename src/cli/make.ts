/** Makes the calls of src/call for commands: the operator may make each of them. */

import type { AnyCall, Doer } from '../call/call.ts';
import type { ServedCalls as Calls, CommandCall } from '../call/table.ts';
import type { Refused } from '../core/outcome.ts';

type Group<N> = N extends `${infer G}.${string}` ? G : never;

/** The calls by the first word of their names, loaded when a command makes one. */
const GROUPS: {
  readonly [G in Group<CommandCall>]: () => Promise<{
    readonly [N in CommandCall as Group<N> extends G ? N : never]: AnyCall;
  }>;
} = {
  accounts: async () => (await import('../call/operator-account-calls.ts')).operatorAccountCalls,
  bots: async () => (await import('../call/bot-calls.ts')).botCalls,
  bars: async () => (await import('../call/cut-calls.ts')).cutCalls,
  cuts: async () => (await import('../call/cut-calls.ts')).cutCalls,
  devices: async () => (await import('../call/operator-record-calls.ts')).operatorRecordCalls,
  domains: async () => (await import('../call/domain-calls.ts')).domainCalls,
  links: async () => ({
    ...(await import('../call/link-panel-calls.ts')).linkPanelCalls,
    ...(await import('../call/link-file-calls.ts')).linkFileCalls,
    ...(await import('../call/direct-calls.ts')).directCalls,
  }),
  phones: async () => (await import('../call/phone-calls.ts')).phoneCalls,
  messages: async () => (await import('../call/message-calls.ts')).messageCalls,
  providers: async () => (await import('../call/operator-provider-calls.ts')).operatorProviderCalls,
  reminders: async () => ({
    ...(await import('../call/reminder-calls.ts')).reminderCalls,
    ...(await import('../call/reminder-round-calls.ts')).reminderRoundCalls,
  }),
  sends: async () => (await import('../call/operator-record-calls.ts')).operatorRecordCalls,
  send: async () => (await import('../call/send-calls.ts')).sendCalls,
  ties: async () => (await import('../call/tie-calls.ts')).tieCalls,
  webhooks: async () => ({
    ...(await import('../call/webhook-calls.ts')).webhookCalls,
    ...(await import('../call/direct-calls.ts')).directCalls,
  }),
};

/** The part of the context that no command has of its own. */
type Added = 'admits' | 'grantPatience';

/** Makes a call. Returns its answer, or the refusal of the core. */
export async function make<N extends CommandCall>(
  name: N,
  doer: Omit<Parameters<Calls[N]['run']>[0], Added>,
  given: Parameters<Calls[N]['run']>[1],
): Promise<
  Exclude<
    Awaited<ReturnType<Calls[N]['run']>>,
    Refused<'too_many_requests'> | Refused<'no_account'>
  >
> {
  const group = name.slice(0, name.indexOf('.')) as Group<CommandCall>;
  const calls: Readonly<Record<string, AnyCall>> = await GROUPS[group]();
  const run = calls[name]?.run as (doer: Doer, given: unknown) => ReturnType<Calls[N]['run']>;
  const added: Pick<Doer, Added> = { admits: () => true, grantPatience: () => {} };
  return run({ ...(doer as Omit<Doer, Added>), ...added }, given) as never;
}
