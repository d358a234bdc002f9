/** Remnawave 3.3.2 and its subscription page (`modules/users`, `modules/subscription`). */

import { bearer, type PanelApi, segmentOf, unexpected } from './api.ts';
import { type HwidSettings, remnawaveLimit } from './limit-rule.ts';
import { countIn, idIn, isEmpty, recordIn, timeIn } from './record.ts';
import type { PanelTraits } from './traits.ts';

/** Reads the settings of the panel or of an external squad; null: it has none. */
function hwidSettingsIn(answer: unknown): HwidSettings | null {
  const { hwidSettings } = recordIn(recordIn(answer)['response']);
  if (typeof hwidSettings !== 'object' || hwidSettings === null) return null;
  const { enabled, fallbackDeviceLimit } = recordIn(hwidSettings);
  return { isOn: enabled === true, fallback: countIn(fallbackDeviceLimit) };
}

const api: PanelApi = {
  // It drops connections that no proxy forwards.
  headersOf: (token) => ({
    ...bearer(token),
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'https',
  }),
  view: null,
  idIn: () => undefined,
  userPath(key) {
    const segment = segmentOf(key);
    return segment ? `/api/users/by-short-uuid/${segment}` : null;
  },
  userIn(answer) {
    if (answer === null) return null;
    const record = recordIn(recordIn(answer)['response']);
    if (isEmpty(record)) throw unexpected();
    return {
      // Older versions call it tId.
      id: idIn(record['id']) || idIn(record['tId']) || idIn(record['uuid']) || null,
      isActive: record['status'] === 'ACTIVE',
      createdAtMs: timeIn(record['createdAt']),
      subscriptionUrl: '',
      record,
    };
  },
  async limitOf(record, settings) {
    const own = countIn(record['hwidDeviceLimit']);
    if (own !== null) return remnawaveLimit(own, null);
    const squad = segmentOf(idIn(record['externalSquadUuid']));
    if (squad === null) throw unexpected();
    const ofSquad = squad && hwidSettingsIn(await settings(`/api/external-squads/${squad}`));
    return remnawaveLimit(
      null,
      ofSquad || hwidSettingsIn(await settings('/api/subscription-settings')),
    );
  },
  strangersKey: () => crypto.randomUUID(),
  strangersRecord: {},
};

export const REMNAWAVE: PanelTraits = {
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: false,
  keysAreExact: false,
  dropsUnknownKeys: true,
  hasOwnButton: false,
  queryNames: [],
  api,
};
