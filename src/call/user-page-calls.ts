/** Calls of the console about a provider's page of users. */

import { Type } from '@sinclair/typebox';
import { LOOK, OWN } from '../core/account/roles.ts';
import { each, type Fields, fieldsOf, readGiven } from '../core/field.ts';
import { pageUrlOf } from '../core/my.ts';
import { isRefused } from '../core/outcome.ts';
import type { OwnMy } from '../core/port/my.ts';
import { changePolicy } from '../core/provider.ts';
import { NO_POLICY, policyOf } from '../core/slot.ts';
import { MY_TERMS, RIDE_TERMS } from '../core/terms.ts';
import { lookCall, paidCall } from './call.ts';
import { atProvider, text } from './inputs.ts';

const { myName, myColor } = MY_TERMS;
type Form = Record<'name' | 'color' | 'supportUrl', string | null>;
const FORM: Fields<Form> = { name: myName, color: myColor, supportUrl: RIDE_TERMS.supportUrl };

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
  'page.set': paidCall(
    OWN,
    ['provider.set'],
    atProvider({
      isOn: Type.Boolean(),
      name: text(255),
      color: text(7),
      supportUrl: text(255),
    }),
    async ({ core, nowMs, provider }, { isOn, ...given }) => {
      // An empty text means none.
      const read = readGiven<Form>(
        FORM,
        each(fieldsOf(FORM), (name) => given[name].trim() || null),
      );
      if (isRefused(read)) return read;
      const { name, color, supportUrl = null } = read;
      const page: OwnMy = { my: isOn ? 1 : 0, myName: name ?? null, myColor: color ?? null };
      await changePolicy(core, provider, { ...page, supportUrl }, nowMs);
      return null;
    },
  ),
};
