/** Calls of the console about accounts of operators and observers, and their recovery. */

import { endAllSessions, resetAccount } from '../core/account/operator.ts';
import { OPERATE } from '../core/account/roles.ts';
import { changeRole, invite, removeRole } from '../core/account/sign-in.ts';
import { isRefused } from '../core/outcome.ts';
import { APPLIANCE_ROLES } from '../core/port/account.ts';
import {
  type Doer,
  freshCall,
  operatorCall,
  sharedFreshCall,
  sharedOperatorCall,
  stale,
  watchCall,
} from './call.ts';
import { anyOf, id, inputOf, text } from './inputs.ts';

const role = anyOf(APPLIANCE_ROLES);

export const operatorAccountCalls = {
  'accounts.list': watchCall(inputOf({}), async ({ core, signedIn }) => {
    const all = await core.store.listMembers(null);
    return all.map((one) => ({ ...one, isThis: one.id === signedIn.account?.id }));
  }),
  'accounts.invite': freshCall(['account.invite'], inputOf({ role }), async (caller, given) => {
    const draft = { providerId: null, role: given.role, isOperators: true };
    const secret = await invite(caller.core, draft, caller.nowMs);
    return isRefused(secret) ? secret : { secret };
  }),
  'accounts.change-role': operatorCall(
    ['account.change-role'],
    inputOf({ id, role }),
    async (caller, given) => {
      const refusal = given.role === 'operator' ? stale(caller) : null;
      if (refusal !== null) return refusal;
      const grant = { providerId: null, role: given.role };
      return changeRole(caller.core, given.id, grant, caller.nowMs);
    },
  ),
  'accounts.remove': operatorCall(
    ['account.remove-role'],
    inputOf({ id }),
    ({ core, nowMs }, given) => removeRole(core, given.id, null, nowMs),
  ),
  'accounts.end-sessions': sharedOperatorCall(
    OPERATE,
    ['session.end'],
    { commands: ['account end-sessions'] },
    inputOf({ name: text(64) }),
    async ({ core, nowMs }: Doer, { name }) => {
      const count = await endAllSessions(core, name, nowMs);
      return isRefused(count) ? count : { count };
    },
  ),
  'accounts.reset': sharedFreshCall(
    OPERATE,
    [
      'account.set-password',
      'account.set-second-factor',
      'account.remove-passkey',
      'session.end',
      'account.invite',
    ],
    { commands: ['account reset'] },
    inputOf({ name: text(64) }),
    async ({ core, nowMs }: Doer, { name }) => {
      const secret = await resetAccount(core, name, nowMs);
      return isRefused(secret) ? secret : { secret };
    },
  ),
};
