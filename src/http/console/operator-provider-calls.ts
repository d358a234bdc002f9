/** Calls of the console about providers, for operators. A key is shown once. */

import { Type } from '@sinclair/typebox';
import { dateEndingAt } from '../../core/calendar.ts';
import { BUTTON_URL_LENGTH_MAX, RIDE } from '../../core/formats.ts';
import { isRefused, Refused } from '../../core/outcome.ts';
import { PLANS, type Provider } from '../../core/port/provider.ts';
import { SAME_PHONE, WHEN_FULL, WITHOUT_HWID } from '../../core/port/slot.ts';
import { isActive, removeProvider } from '../../core/provider.ts';
import {
  addGivenProvider,
  editProvider,
  rotateKeyFor,
  searchProviders,
} from '../../core/provider-terms.ts';
import { ownerCall } from './call.ts';
import { anyOf, inputOf, nullable, text } from './inputs.ts';

const PAGE_COUNT = 50;
/** The wait for a removal, s: it continues afterwards, and a repeated call completes it. */
const REMOVAL_PATIENCE_SECONDS = 240;

const code = text(8);
const whole = Type.Integer({ minimum: 0, maximum: 999_999_999 });
const terms = {
  lastDay: Type.Optional(nullable(text(10))),
  linkCountMax: Type.Optional(nullable(whole)),
  inactiveDays: Type.Optional(nullable(whole)),
  whenFull: Type.Optional(nullable(anyOf(WHEN_FULL))),
  coolDownHours: Type.Optional(nullable(whole)),
  enforce: Type.Optional(nullable(whole)),
  withoutHwid: Type.Optional(nullable(anyOf(WITHOUT_HWID))),
  samePhone: Type.Optional(nullable(anyOf(SAME_PHONE))),
  ride: Type.Optional(nullable(anyOf(RIDE.values))),
  rideDesktop: Type.Optional(whole),
  supportUrl: Type.Optional(nullable(text(BUTTON_URL_LENGTH_MAX))),
  webPageUrl: Type.Optional(nullable(text(BUTTON_URL_LENGTH_MAX))),
  buttons: Type.Optional(nullable(anyOf(['always'] as const))),
};

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
    const { coolDownHours, createdAtMs, enforce, inactiveDays, whenFull, withoutHwid } = found;
    const oldKeyUntilMs = found.previousKeyUntilMs ?? 0;
    const { buttons, ride, rideDesktop, samePhone, supportUrl, webPageUrl } = found;
    const own = { inactiveDays, whenFull, coolDownHours, enforce, withoutHwid, samePhone };
    const rides = { ride, rideDesktop, supportUrl, webPageUrl, buttons };
    return {
      ...viewOf(found, nowMs),
      createdAtMs,
      own,
      rides,
      linkCountDefault: core.limits.linksPerProviderMax,
      oldKeyUntilMs: oldKeyUntilMs > nowMs ? oldKeyUntilMs : null,
    };
  }),
  'providers.add': ownerCall(
    inputOf({
      name: text(255),
      plan: anyOf(PLANS),
      ...terms,
      code: Type.Optional(code),
      authKey: Type.Optional(text(64)),
    }),
    ({ core, nowMs }, given) => addGivenProvider(core, given, nowMs),
  ),
  'providers.edit': ownerCall(
    inputOf({
      code,
      name: Type.Optional(text(255)),
      plan: Type.Optional(anyOf(PLANS)),
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
