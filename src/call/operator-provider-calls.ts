/** Calls of the console about providers, for operators. A key is shown once. */

import { Type } from '@sinclair/typebox';
import { OPERATE } from '../core/account/roles.ts';
import { dateEndingAt } from '../core/calendar.ts';
import { fieldsOf, only } from '../core/field.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import type { OwnMy, OwnMyCut } from '../core/port/my.ts';
import { PLANS, type Provider } from '../core/port/provider.ts';
import { isActive, removeProvider } from '../core/provider.ts';
import {
  addGivenProvider,
  editProvider,
  FORM_TERMS,
  type FormTerms,
  type KeyRotation,
  rotateKeyFor,
  searchProviders,
} from '../core/provider-terms.ts';
import { FIGURE_TERMS, POLICY_FIELDS, RIDE_TERMS } from '../core/terms.ts';
import { type Doer, sharedOperatorCall, watchCall } from './call.ts';
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
  'providers.list': watchCall(
    inputOf({ search: text(64), afterId: nullable(Type.Integer({ minimum: 0 })) }),
    async ({ core, nowMs }, { afterId, search }) => {
      const of = { search, afterId: afterId ?? 0, countMax: PAGE_COUNT };
      const { nextId, providers } = await searchProviders(core, of);
      return { rows: providers.map((one) => viewOf(one, nowMs)), nextId };
    },
  ),
  'providers.show': watchCall(inputOf({ code }), async ({ core, nowMs }, given) => {
    const found = await core.store.findProvider(given.code);
    if (found === null) return new Refused('provider_not_found');
    const oldKeyUntilMs = found.previousKeyUntilMs ?? 0;
    return {
      ...viewOf(found, nowMs),
      createdAtMs: found.createdAtMs,
      own: only(found, POLICY_FIELDS),
      rides: only(found, fieldsOf({ ...RIDE_TERMS, ...FIGURE_TERMS })),
      linkCountDefault: core.limits.linksPerProviderMax,
      oldKeyUntilMs: oldKeyUntilMs > nowMs ? oldKeyUntilMs : null,
    };
  }),
  'providers.add': sharedOperatorCall(
    OPERATE,
    ['provider.add'],
    { commands: ['provider add'] },
    inputOf({
      ...terms,
      name: text(255),
      plan: anyOf(PLANS),
      code: Type.Optional(code),
      authKey: Type.Optional(text(64)),
    }),
    ({ core, nowMs }: Doer, given) => addGivenProvider(core, given, nowMs),
  ),
  'providers.edit': sharedOperatorCall(
    OPERATE,
    ['provider.set', 'provider.suspend', 'provider.resume'],
    { commands: ['provider set', 'provider suspend', 'provider resume'] },
    inputOf({
      code,
      ...terms,
      isSuspended: Type.Optional(Type.Boolean()),
    }),
    /** The page has a form of its own. */
    ({ core, nowMs }: Doer, { code: of, ...given }: { code: string } & Partial<OwnMy & OwnMyCut>) =>
      editProvider(core, of, given, nowMs),
  ),
  'providers.rotate': sharedOperatorCall(
    OPERATE,
    ['provider.rotate-key'],
    { commands: ['provider rotate-key'] },
    inputOf({ code, keepOldHours: Type.Optional(whole) }),
    ({ core, nowMs }: Doer, given: { code: string } & KeyRotation) =>
      rotateKeyFor(core, given.code, given, nowMs),
  ),
  'providers.remove': sharedOperatorCall(
    OPERATE,
    ['provider.remove'],
    { commands: ['provider remove'] },
    inputOf({ code }),
    async ({ core, grantPatience, nowMs }: Doer, given) => {
      grantPatience(REMOVAL_PATIENCE_SECONDS);
      const removed = await removeProvider(core, given.code, nowMs);
      return isRefused(removed) ? removed : ('ok' as const);
    },
  ),
};
