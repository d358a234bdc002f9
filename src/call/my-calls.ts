/** Calls of the console about a provider's page of users. */

import { LOOK, OWN } from '../core/account/roles.ts';
import { type Fields, fieldsOf, only, readGiven } from '../core/field.ts';
import { myUrlOf } from '../core/my.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import type { OwnMy, OwnMyCut } from '../core/port/my.ts';
import type { OwnRideTerms } from '../core/port/ride.ts';
import { changePolicy } from '../core/provider.ts';
import { seesCodes } from '../core/secret-code.ts';
import { NO_POLICY, policyOf } from '../core/slot.ts';
import { MY_CUT_TERMS, MY_TERMS, RIDE_TERMS } from '../core/terms.ts';
import { lookCall, paidCall } from './call.ts';
import { atProvider, inputsOf } from './inputs.ts';

type Form = OwnMy & OwnMyCut & Pick<OwnRideTerms, 'supportUrl' | 'webPageUrl'>;
const FORM: Fields<Form> = {
  ...MY_TERMS,
  ...MY_CUT_TERMS,
  supportUrl: RIDE_TERMS.supportUrl,
  webPageUrl: RIDE_TERMS.webPageUrl,
};

export const myCalls = {
  'page.show': lookCall(LOOK, atProvider({}), async ({ core, nowMs, provider, signedIn }) => {
    const isWhole = seesCodes(core, provider, signedIn.grants);
    const newest = { id: null, beforeId: null, countMax: 1 };
    const [link] = await core.store.listLinksOf(provider.id, newest);
    return {
      own: only(provider, fieldsOf(FORM)) satisfies Form,
      /** True: the operator has switched the page off for all providers. */
      isForbidden: core.limits.myPath === '',
      /** The address of the newest link's page; null: no link, or the settings lack an address. */
      previewUrl: link === undefined || !isWhole ? null : myUrlOf(core, provider, link, nowMs),
      coolDownHours: policyOf(NO_POLICY, provider).coolDownHours,
    };
  }),
  'page.set': paidCall(
    OWN,
    ['provider.set'],
    atProvider(inputsOf<Form>(FORM)),
    async ({ core, nowMs, provider, signedIn }, given) => {
      // The key of a bot must not let users cut off each link.
      const isOpened = given.myCutOff === 1 && provider.myCutOff === 0;
      if (isOpened && signedIn.account === null) return new Refused('no_account');
      // An empty text means none.
      const tidy = Object.entries(given).map(([field, value]) => [
        field,
        typeof value === 'string' ? value.trim() || null : value,
      ]);
      const read = readGiven<Form>(FORM, Object.fromEntries(tidy));
      if (isRefused(read)) return read;
      await changePolicy(core, provider, read, nowMs);
      return null;
    },
  ),
};
