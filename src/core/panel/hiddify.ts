/** Hiddify 10.80.11; its API of the second version (`panel/commercial/restapi/v2/admin`). */

import { type PanelApi, unexpected } from './api.ts';
import { hiddifyLimit, MAX_IPS_MEANING_NONE } from './limit-rule.ts';
import { countIn, idIn, isEmpty, recordIn } from './record.ts';
import type { PanelTraits } from './traits.ts';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const api: PanelApi = {
  headersOf: (token) => ({ 'hiddify-api-key': token }),
  view: {
    path: '/api/v2/admin/me/',
    adminIn(answer) {
      const { mode, uuid } = recordIn(answer);
      return mode === 'super_admin' ? '' : idIn(uuid) || 'unknown';
    },
  },
  idIn: () => undefined,
  // To another key it answers 500.
  userPath: (key) => (UUID.test(key) ? `/api/v2/admin/user/${key}/` : null),
  userIn(answer) {
    const record = recordIn(answer);
    if (isEmpty(record)) return null;
    const { enable, is_active: isActive = true } = record;
    if (typeof enable !== 'boolean') throw unexpected();
    return {
      id: idIn(record['id']) || null,
      // `is_active` is false once days or traffic are used up.
      isActive: enable && isActive === true,
      createdAtMs: null,
      subscriptionUrl: '',
      record,
    };
  },
  limitOf: async (record) => hiddifyLimit(countIn(record['max_ips'])),
  strangersKey: () => crypto.randomUUID(),
  strangersRecord: {},
};

export const HIDDIFY: PanelTraits = {
  limitMeaningNone: MAX_IPS_MEANING_NONE,
  givesLimits: false,
  keysHaveDelimiters: false,
  keysAreExact: false,
  dropsUnknownKeys: false,
  hasOwnButton: true,
  queryNames: [
    'asn',
    'base64',
    'darkmode',
    'domain',
    'fragment',
    'fragment_v1',
    'mode',
    'phttp',
    'ptls',
    'pwa',
  ],
  api,
};
