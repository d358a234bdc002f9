/** Marzban 0.8.4 (`app/routers/user.py`, `app/dependencies.py`). */

import { bearer, type PanelApi, segmentOf, unexpected } from './api.ts';
import { idIn, isEmpty, recordIn, timeIn } from './record.ts';
import type { PanelTraits } from './traits.ts';

const nameIn = (key: string) => /^marzban\/(.+)$/.exec(key)?.[1];

const api: PanelApi = {
  headersOf: bearer,
  view: {
    path: '/api/admin',
    adminIn(answer) {
      const { username, is_sudo: isSudo } = recordIn(answer);
      return isSudo === true ? '' : idIn(username) || 'unknown';
    },
  },
  idIn: nameIn,
  userPath(key) {
    const name = segmentOf(nameIn(key) ?? '');
    return name ? `/api/user/${name}` : null;
  },
  userIn(answer) {
    const record = recordIn(answer);
    if (isEmpty(record)) return null;
    const { status, username } = record;
    if (typeof status !== 'string' || typeof username !== 'string') throw unexpected();
    return {
      id: username,
      // The days of a user on hold begin at the first connection.
      isActive: status === 'active' || status === 'on_hold',
      createdAtMs: timeIn(record['created_at']),
      subscriptionUrl: idIn(record['subscription_url']),
      record,
    };
  },
  // It knows no devices.
  limitOf: async () => null,
  strangersKey: () => 'marzban/gatepost_asks_for_no_user',
  strangersRecord: {},
};

export const MARZBAN: PanelTraits = {
  limitMeaningNone: null,
  givesLimits: false,
  keysHaveDelimiters: false,
  keysAreExact: false,
  dropsUnknownKeys: false,
  hasOwnButton: true,
  queryNames: ['start', 'end'],
  api,
};
