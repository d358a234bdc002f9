/** Calls of the console about the keys and the staff of a provider. */

import { Type } from '@sinclair/typebox';
import { addKey, opens, removeKey } from '../core/account/keys.ts';
import { OWN } from '../core/account/roles.ts';
import { isOfAppliance } from '../core/account/session.ts';
import { changeRole, invite, removeRole } from '../core/account/sign-in.ts';
import { isRefused } from '../core/outcome.ts';
import { keyed, lookCall, staffCall } from './call.ts';
import { atProvider, id, nullable, role, scope, text } from './inputs.ts';

const DAY_MS = 86_400_000;

export const staffCalls = {
  'keys.list': lookCall(OWN, atProvider({}), async ({ core, provider }) => {
    const keys = await core.store.listKeys(provider.id);
    return keys.map(({ createdAtMs, id: own, name, scope: of, untilMs }) => ({
      id: own,
      name,
      scope: of,
      createdAtMs,
      untilMs,
    }));
  }),
  'keys.add': staffCall(
    OWN,
    ['key.add'],
    atProvider({
      name: text(64),
      scope,
      days: nullable(Type.Integer({ minimum: 1, maximum: 3_650 })),
    }),
    ({ core, nowMs, provider, signedIn }, { days, ...given }) => {
      // The main key makes no key for what it does not open.
      const refused = opens('main', given.scope) ? null : keyed({ signedIn });
      if (refused !== null) return refused;
      const untilMs = days === null ? null : nowMs + days * DAY_MS;
      return addKey(core, provider.id, { ...given, untilMs }, nowMs);
    },
  ),
  'keys.remove': staffCall(
    OWN,
    ['key.remove'],
    atProvider({ id }),
    ({ core, nowMs, provider }, given) => removeKey(core, provider.id, given.id, nowMs),
  ),
  'staff.list': lookCall(OWN, atProvider({}), ({ core, provider }) =>
    core.store.listMembers(provider.id),
  ),
  'staff.invite': staffCall(
    OWN,
    ['account.invite'],
    atProvider({ role }),
    async (caller, given) => {
      const { core, nowMs, provider, signedIn } = caller;
      const isOperators = isOfAppliance(signedIn);
      const draft = { providerId: provider.id, role: given.role, isOperators };
      const secret = await invite(core, draft, nowMs);
      return isRefused(secret) ? secret : { secret };
    },
  ),
  'staff.change-role': staffCall(
    OWN,
    ['account.change-role'],
    atProvider({ id, role }),
    ({ core, nowMs, provider }, given) =>
      changeRole(core, given.id, { providerId: provider.id, role: given.role }, nowMs),
  ),
  'staff.remove': staffCall(
    OWN,
    ['account.remove-role'],
    atProvider({ id }),
    ({ core, nowMs, provider }, given) => removeRole(core, given.id, provider.id, nowMs),
  ),
};
