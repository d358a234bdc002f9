/** Reads the device limit of a user from the APIs of panels. */

import { INSTALL_LIMIT } from '../formats.ts';
import type { PanelKind } from './kind.ts';
import {
  type HwidRole,
  type HwidSettings,
  hiddifyLimit,
  type PanelLimit,
  pasarguardLimit,
  remnawaveLimit,
  threeXUiLimit,
} from './limit-rule.ts';

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

/** Reads the limit for a key. `settings` reads records that many users share. */
type Reader = (key: string, user: AskPanel, settings: AskPanel) => Promise<PanelLimit>;

/** Returns the limit for the link of a key. One above the largest of links becomes the largest. */
export async function panelLimitOf(
  api: PanelKind,
  key: string,
  user: AskPanel,
  settings: AskPanel,
): Promise<PanelLimit> {
  const said = await READERS[api](key, user, settings);
  return typeof said === 'number' ? Math.min(said, INSTALL_LIMIT.maximum) : said;
}

const READERS: Readonly<Record<PanelKind, Reader>> = {
  async remnawave(key, user, settings) {
    const path = `/api/users/by-short-uuid/${encodeURIComponent(key)}`;
    const { response } = recordIn(await user(path));
    const known = recordIn(response);
    if (Object.keys(known).length === 0) return null;
    const own = countIn(known['hwidDeviceLimit']);
    if (own !== null) return remnawaveLimit(own, null);
    const squad = known['externalSquadUuid'];
    const ofSquad =
      typeof squad === 'string'
        ? hwidSettingsIn(await settings(`/api/external-squads/${encodeURIComponent(squad)}`))
        : null;
    return remnawaveLimit(
      null,
      ofSquad ?? hwidSettingsIn(await settings('/api/subscription-settings')),
    );
  },

  async '3x-ui'(key, user) {
    // The search also matches names and comments.
    const query = `search=${encodeURIComponent(key)}&pageSize=200`;
    const { obj } = recordIn(await user(`/panel/api/clients/list/paged?${query}`));
    const { items, filtered } = recordIn(obj);
    if (!Array.isArray(items)) return null;
    const clients = items.map(recordIn).filter((client) => client['subId'] === key);
    if (clients.length === 0 || Number(filtered) > items.length) return null;
    return threeXUiLimit(
      clients.map(({ enable, limitHwid }) => ({
        isEnabled: enable === true,
        limit: countIn(limitHwid),
      })),
    );
  },

  async pasarguard(key, user, settings) {
    const [, id, name] = /^pasarguard\/(?:(\d+)|name\/(.+))$/.exec(key) ?? [];
    if (id === undefined && name === undefined) return null;
    const path = id === undefined ? encodeURIComponent(name ?? '') : `by-id/${id}`;
    const known = recordIn(await user(`/api/user/${path}`));
    if (Object.keys(known).length === 0) return null;
    const own = countIn(known['hwid_limit']);
    if (own !== null) return pasarguardLimit(own, NO_ROLE, hwidIn({}));
    const common = recordIn(recordIn(await settings('/api/settings'))['hwid']);
    return pasarguardLimit(null, await roleOf(known['admin'], settings), hwidIn(common));
  },

  // It knows no devices.
  marzban: async () => null,

  async hiddify(key, user) {
    const known = recordIn(await user(`/api/v2/admin/user/${encodeURIComponent(key)}/`));
    return hiddifyLimit(countIn(known['max_ips']));
  },
};

const NO_ROLE: HwidRole = { mode: null, fallback: null };

/** Reads the settings of PasarGuard. */
const hwidIn = ({ enabled, fallback_limit: limit }: Record<string, unknown>): HwidSettings => ({
  isOn: enabled !== false,
  fallback: countIn(limit),
});

/** Returns the HWID settings in the role of an admin of PasarGuard. */
async function roleOf(admin: unknown, settings: AskPanel): Promise<HwidRole> {
  const { username } = recordIn(admin);
  if (typeof username !== 'string') return NO_ROLE;
  const path = `/api/admins?username=${encodeURIComponent(username)}`;
  const { admins } = recordIn(await settings(path));
  const found = Array.isArray(admins) ? admins.map(recordIn) : [];
  const own = found.find((one) => one['username'] === username);
  const { mode, fallback_limit: limit } = recordIn(recordIn(own?.['role'])['hwid']);
  return { mode, fallback: countIn(limit) };
}

/** Reads the settings of Remnawave or of an external squad; null: it has none. */
function hwidSettingsIn(answer: unknown): HwidSettings | null {
  const { hwidSettings } = recordIn(recordIn(answer)['response']);
  if (typeof hwidSettings !== 'object' || hwidSettings === null) return null;
  const { enabled, fallbackDeviceLimit } = recordIn(hwidSettings);
  return { isOn: enabled === true, fallback: countIn(fallbackDeviceLimit) };
}

const countIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const recordIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
