/** Calls about the phones that send one HWID: core/phones.ts. */

import { readHwid } from '../core/formats.ts';
import { JOB_ROLES } from '../core/job/right.ts';
import { ignorePhones } from '../core/link.ts';
import { isRefused } from '../core/outcome.ts';
import { type DoerFor, sharedCall } from './call.ts';
import { atProvider, id, nullable, text } from './inputs.ts';

export const phoneCalls = {
  /** Takes the phones of a HWID for those of one person; the right is that of freeing its slot. */
  'phones.ignore': sharedCall(
    JOB_ROLES['link.free'],
    ['hwid.ignore-copies'],
    { api: { path: '/api/ignore-copies', needs: 'links' }, commands: ['link ignore-copies'] },
    atProvider({ installCode: nullable(text(12)), installId: nullable(id), hwid: text(128) }),
    async ({ core, nowMs, provider }: DoerFor, { hwid: given, ...selector }) => {
      const hwid = readHwid(given);
      return isRefused(hwid) ? hwid : ignorePhones(core, provider, selector, hwid, nowMs);
    },
  ),
};
