/** Calls of the console about a provider's page of users. */

import { LOOK, OWN } from '../core/account/roles.ts';
import { Type } from '@sinclair/typebox';
import { BUTTON_URL, PAGE_COLOR, PAGE_NAME, type TextFormat } from '../core/formats.ts';
import { pageUrlOf } from '../core/my.ts';
import { isRefused, type Misfit, malformed } from '../core/outcome.ts';
import { changePolicy } from '../core/provider.ts';
import { NO_POLICY, policyOf } from '../core/slot.ts';
import { lookCall, paidCall } from './call.ts';
import { atProvider, text } from './inputs.ts';

/** Reads an optional text; an empty one means none. */
function readOptional(format: TextFormat, name: string, given: string): string | null | Misfit {
  if (given === '') return null;
  const read = format.read(given);
  return isRefused(read) ? malformed(`${name} must be ${format.rule}`) : read;
}

export const userPageCalls = {
  'page.show': lookCall(LOOK, atProvider({}), async ({ core, nowMs, provider }) => {
    const newest = { id: null, beforeId: null, countMax: 1 };
    const [link] = await core.store.listInstalls(provider.id, newest);
    const { my, myColor, myName, supportUrl } = provider;
    return {
      isOn: my === 1,
      name: myName,
      color: myColor,
      supportUrl,
      /** True: the operator has switched the page off for all providers. */
      isForbidden: core.limits.myPath === '',
      /** The address of the newest link's page; null: no link, or the settings lack an address. */
      previewUrl: link === undefined ? null : pageUrlOf(core, provider, link.installCode, nowMs),
      coolDownHours: policyOf(NO_POLICY, provider).coolDownHours,
    };
  }),
  'page.set': paidCall(OWN, ['provider.set'], atProvider({
      isOn: Type.Boolean(),
      name: text(255),
      color: text(7),
      supportUrl: text(255),
    }),
    async ({ core, nowMs, provider }, { isOn, ...given }) => {
      const myName = readOptional(PAGE_NAME, 'name', given.name.trim());
      if (isRefused(myName)) return myName;
      const myColor = readOptional(PAGE_COLOR, 'color', given.color);
      if (isRefused(myColor)) return myColor;
      const supportUrl = readOptional(BUTTON_URL, 'supportUrl', given.supportUrl.trim());
      if (isRefused(supportUrl)) return supportUrl;
      const change = { my: isOn ? 1 : 0, myName, myColor, supportUrl } as const;
      await changePolicy(core, provider, change, nowMs);
      return null;
    },
  ),
};
