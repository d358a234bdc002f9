/** Calls of the console about accounts of operators and observers, and their recovery. */

import { endAllSessions, resetAccount } from '../../core/account/operator.ts';
import { invite } from '../../core/account/sign-in.ts';
import { actAt } from '../../core/audit/entry.ts';
import { fromStore, isRefused } from '../../core/outcome.ts';
import { APPLIANCE_ROLES } from '../../core/port/account.ts';
import { freshCall, ownerCall, stale } from './call.ts';
import { anyOf, id, inputOf, text } from './inputs.ts';

const role = anyOf(APPLIANCE_ROLES);

export const operatorAccountCalls = {
  'accounts.list': ownerCall(inputOf({}), async ({ core, signedIn }) => {
    const all = await core.store.listMembers(null);
    return all.map((one) => ({ ...one, isThis: one.id === signedIn.account?.id }));
  }),
  'accounts.invite': freshCall(inputOf({ role }), async (caller, given) => {
    const draft = { providerId: null, role: given.role, isOperators: true };
    const secret = await invite(caller.core, draft, caller.nowMs);
    return isRefused(secret) ? secret : { secret };
  }),
  'accounts.change-role': ownerCall(inputOf({ id, role }), async (caller, given) => {
    const refusal = given.role === 'operator' ? stale(caller) : null;
    if (refusal !== null) return refusal;
    const { core, nowMs } = caller;
    const grant = { providerId: null, role: given.role };
    return fromStore(await core.store.changeRole(given.id, grant, actAt(core, nowMs)));
  }),
  'accounts.remove': ownerCall(inputOf({ id }), async ({ core, nowMs }, given) =>
    fromStore(await core.store.removeRole(given.id, null, actAt(core, nowMs))),
  ),
  'accounts.end-sessions': ownerCall(
    inputOf({ name: text(64) }),
    async ({ core, nowMs }, { name }) => {
      const count = await endAllSessions(core, name, nowMs);
      return isRefused(count) ? count : { count };
    },
  ),
  'accounts.reset': freshCall(inputOf({ name: text(64) }), async (caller, { name }) => {
    const secret = await resetAccount(caller.core, name, caller.nowMs);
    return isRefused(secret) ? secret : { secret };
  }),
};
