/** 3x-ui after 3.6.0 (`sub/`, `service/client_hwid.go`, main of 2026-08-23). */

import { bearer, type PanelApi, Silent, unexpected } from './api.ts';
import { threeXUiLimit } from './limit-rule.ts';
import { countIn, recordIn, timeIn } from './record.ts';
import type { PanelTraits } from './traits.ts';

const api: PanelApi = {
  headersOf: bearer,
  view: null,
  idIn: () => null,
  // The search also matches names and comments.
  userPath: (key) => `/panel/api/clients/list/paged?search=${encodeURIComponent(key)}&pageSize=200`,
  userIn(answer, key) {
    const { obj, success } = recordIn(answer);
    const { items, filtered } = recordIn(obj);
    if (success !== true || !Array.isArray(items)) throw unexpected();
    const clients = items.map(recordIn).filter((client) => client['subId'] === key);
    // Another page may have more clients of this key.
    if (Number(filtered) > items.length) throw new Silent('API_MANY');
    if (clients.length === 0) return null;
    const times = clients.map((client) => timeIn(client['createdAt']) ?? Number.POSITIVE_INFINITY);
    const createdAtMs = Math.min(...times);
    return {
      id: null,
      isActive: clients.some((client) => client['enable'] === true),
      createdAtMs: Number.isFinite(createdAtMs) ? createdAtMs : null,
      subscriptionUrl: '',
      record: { clients },
    };
  },
  async limitOf({ clients }) {
    const all = Array.isArray(clients) ? clients.map(recordIn) : [];
    return threeXUiLimit(
      all.map(({ enable, limitHwid }) => ({
        isEnabled: enable === true,
        limit: countIn(limitHwid),
      })),
    );
  },
  strangersKey: () => crypto.randomUUID(),
  strangersRecord: {},
};

export const THREE_X_UI: PanelTraits = {
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: true,
  keysAreExact: true,
  dropsUnknownKeys: false,
  hasOwnButton: true,
  queryNames: ['format', 'html', 'view'],
  api,
};
