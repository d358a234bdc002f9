/** Calls of the console about providers, for operators. A key is shown once. */

import { Type } from '@sinclair/typebox';
import { dateEndingAt } from '../../core/calendar.ts';
import { fieldsOf, only } from '../../core/field.ts';
import { isRefused, Refused } from '../../core/outcome.ts';
import { PLANS, type Provider } from '../../core/port/provider.ts';
import { isActive, removeProvider } from '../../core/provider.ts';
import {
  addGivenProvider,
  editProvider,
  FORM_TERMS,
  type FormTerms,
  rotateKeyFor,
  searchProviders,
} from '../../core/provider-terms.ts';
import { POLICY_FIELDS, RIDE_TERMS } from '../../core/terms.ts';
import { ownerCall } from './call.ts';
import { anyOf, inputOf, inputsOf, nullable, text, whole } from './inputs.ts';

const PAGE_COUNT = 50;
/** The wait for a removal, s: it continues afterwards, and a repeated call completes it. */
const REMOVAL_PATIENCE_SECONDS = 240;

const code = text(8);
const terms = inputsOf<FormTerms>(FORM_TERMS);

/** Returns a provider without its keys. */
function viewOf(provider: Provider, nowMs: number) {
  const { activeUntilMs, installCount, installCountMax, name, plan, suspendedAtMs } = provider;
  return {
    code: provider.code,
    name,
    plan,
    isActive: isActive(provider, nowMs),
    suspendedAtMs,
    lastDay: activeUntilMs === null ? null : dateEndingAt(activeUntilMs),
    linkCount: installCount,
    linkCountMax: installCountMax,
  };
}

export const operatorProviderCalls = {
  'providers.list': ownerCall(
    inputOf({ search: text(64), afterId: nullable(Type.Integer({ minimum: 0 })) }),
    async ({ core, nowMs }, { afterId, search }) => {
      const of = { search, afterId: afterId ?? 0, countMax: PAGE_COUNT };
      const { nextId, providers } = await searchProviders(core, of);
      return { rows: providers.map((one) => viewOf(one, nowMs)), nextId };
    },
  ),
  'providers.show': ownerCall(inputOf({ code }), async ({ core, nowMs }, given) => {
    const found = await core.store.findProvider(given.code);
    if (found === null) return new Refused('provider_not_found');
    const oldKeyUntilMs = found.previousKeyUntilMs ?? 0;
    return {
      ...viewOf(found, nowMs),
      createdAtMs: found.createdAtMs,
      own: only(found, POLICY_FIELDS),
      rides: only(found, fieldsOf(RIDE_TERMS)),
      linkCountDefault: core.limits.linksPerProviderMax,
      oldKeyUntilMs: oldKeyUntilMs > nowMs ? oldKeyUntilMs : null,
    };
  }),
  'providers.add': ownerCall(
    inputOf({
      ...terms,
      name: text(255),
      plan: anyOf(PLANS),
      code: Type.Optional(code),
      authKey: Type.Optional(text(64)),
    }),
    ({ core, nowMs }, given) => addGivenProvider(core, given, nowMs),
  ),
  'providers.edit': ownerCall(
    inputOf({
      code,
      ...terms,
      isSuspended: Type.Optional(Type.Boolean()),
    }),
    ({ core, nowMs }, { code: of, ...given }) => editProvider(core, of, given, nowMs),
  ),
  'providers.rotate': ownerCall(inputOf({ code, keepOldHours: whole }), ({ core, nowMs }, given) =>
    rotateKeyFor(core, given.code, given.keepOldHours, nowMs),
  ),
  'providers.remove': ownerCall(inputOf({ code }), async (caller, given) => {
    caller.grantPatience(REMOVAL_PATIENCE_SECONDS);
    const removed = await removeProvider(caller.core, given.code, caller.nowMs);
    return isRefused(removed) ? removed : ('ok' as const);
  }),
};
