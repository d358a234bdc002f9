/**
 * Reads the device limit of a user from the APIs of panels. Written after the sources of Remnawave
 * 3.3.2 (`modules/subscription`), 3x-ui after 3.6.0 (`service/client_hwid.go`) and PasarGuard 5.2.1
 * (`operation/subscription.py`).
 */

import { INSTALL_LIMIT } from '../formats.ts';
import { PANEL_TRAITS } from './index.ts';
import type { PanelKind } from './kind.ts';

/** Returns the JSON of the API at a path; null: no such record. Throws {@link Silent}. */
type AskPanel = (path: string) => Promise<unknown>;

/** The fault of an API that does not answer, or not as documented: the limit is unknown. */
export class Silent extends Error {
  constructor(
    /** The code for the log: `API_401`, `ECONNREFUSED`. */
    readonly code: string,
  ) {
    super(code);
  }
}

/** A limit of devices; `unlimited`; null: the panel has none for this user. */
type Said = number | 'unlimited' | null;

/** Reads the limit for a key. `settings` reads records that many users share. */
type Reader = (key: string, user: AskPanel, settings: AskPanel) => Promise<Said>;

/**
 * Returns the limit for the link of a key; null: the panel sets none. A limit above the largest one
 * of links becomes the largest.
 */
export async function panelLimitOf(
  api: PanelKind,
  key: string,
  user: AskPanel,
  settings: AskPanel,
): Promise<number | null> {
  const said = await READERS[api](key, user, settings);
  if (said === null) return null;
  return said === 'unlimited' ? INSTALL_LIMIT.maximum : Math.min(said, INSTALL_LIMIT.maximum);
}

const READERS: Readonly<Record<PanelKind, Reader>> = {
  async remnawave(key, user, settings) {
    const path = `/api/users/by-short-uuid/${encodeURIComponent(key)}`;
    const { response } = recordIn(await user(path));
    const known = recordIn(response);
    if (Object.keys(known).length === 0) return null;
    const own = countIn(known['hwidDeviceLimit']);
    if (own !== null) return zeroIsUnlimited(own);
    const squad = known['externalSquadUuid'];
    const ofSquad =
      typeof squad === 'string'
        ? hwidSettingsIn(await settings(`/api/external-squads/${encodeURIComponent(squad)}`))
        : null;
    const common = ofSquad ?? hwidSettingsIn(await settings('/api/subscription-settings'));
    if (common === null || common['enabled'] !== true) return null;
    return zeroIsUnlimited(countIn(common['fallbackDeviceLimit']));
  },

  async '3x-ui'(key, user) {
    // The search also matches names and comments.
    const query = `search=${encodeURIComponent(key)}&pageSize=200`;
    const { obj } = recordIn(await user(`/panel/api/clients/list/paged?${query}`));
    const { items, filtered } = recordIn(obj);
    if (!Array.isArray(items)) return null;
    const clients = items.map(recordIn).filter((client) => client['subId'] === key);
    if (clients.length === 0 || Number(filtered) > items.length) return null;
    const enabled = clients.filter((client) => client['enable'] === true);
    const limits = enabled.map((client) => countIn(client['limitHwid']) ?? 0);
    return zeroIsUnlimited(Math.max(0, ...limits));
  },

  async pasarguard(key, user, settings) {
    const [, id, name] = /^pasarguard\/(?:(\d+)|name\/(.+))$/.exec(key) ?? [];
    if (id === undefined && name === undefined) return null;
    const path = id === undefined ? encodeURIComponent(name ?? '') : `by-id/${id}`;
    const known = recordIn(await user(`/api/user/${path}`));
    if (Object.keys(known).length === 0) return null;
    const own = countIn(known['hwid_limit']);
    if (own !== null) return zeroIsUnlimited(own);
    const common = recordIn(recordIn(await settings('/api/settings'))['hwid']);
    const role = await roleOf(known['admin'], settings);
    if (role['mode'] === 'disabled') return null;
    const overrides = role['mode'] === 'override';
    if (!overrides && common['enabled'] === false) return null;
    const ofRole = overrides ? countIn(role['fallback_limit']) : null;
    // Neither has a number: the panel admits all.
    return zeroIsUnlimited(ofRole ?? countIn(common['fallback_limit']) ?? 0);
  },

  // It knows no devices.
  marzban: async () => null,

  async hiddify(key, user) {
    const known = recordIn(await user(`/api/v2/admin/user/${encodeURIComponent(key)}/`));
    const own = countIn(known['max_ips']);
    return own === PANEL_TRAITS.hiddify.limitMeaningNone ? null : zeroIsUnlimited(own);
  },
};

/** Returns the HWID settings in the role of an admin of PasarGuard. */
async function roleOf(admin: unknown, settings: AskPanel): Promise<Record<string, unknown>> {
  const { username } = recordIn(admin);
  if (typeof username !== 'string') return {};
  const path = `/api/admins?username=${encodeURIComponent(username)}`;
  const { admins } = recordIn(await settings(path));
  const found = Array.isArray(admins) ? admins.map(recordIn) : [];
  const own = found.find((one) => one['username'] === username);
  return recordIn(recordIn(own?.['role'])['hwid']);
}

function hwidSettingsIn(answer: unknown): Record<string, unknown> | null {
  const { hwidSettings } = recordIn(recordIn(answer)['response']);
  return typeof hwidSettings === 'object' && hwidSettings !== null ? recordIn(hwidSettings) : null;
}

/** In all panels 0 means no limit. */
const zeroIsUnlimited = (count: number | null): Said => (count === 0 ? 'unlimited' : count);

const countIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const recordIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
