/** PasarGuard 5.2.1 (`app/routers/user.py`, `app/operation/subscription.py`). */

import { type AskPanel, bearer, type PanelApi, segmentOf, unexpected } from './api.ts';
import { type HwidRole, type HwidSettings, pasarguardLimit } from './limit-rule.ts';
import { countIn, idIn, isEmpty, limitIn, type PanelRecord, recordIn, timeIn } from './record.ts';
import type { PanelTraits } from './traits.ts';

const NO_ROLE: HwidRole = { mode: null, fallback: null };

/** Returns the HWID settings in the role of an admin. */
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

const hwidIn = ({ enabled, fallback_limit: limit }: PanelRecord): HwidSettings => ({
  isOn: enabled !== false,
  fallback: countIn(limit),
});

/** The scopes in a role: the users of the admin himself, and those of all. */
const SCOPE = { own: 1, all: 2 };

/**
 * Returns whether a role shows the users of all admins. `read` decides for one user, and
 * `read_simple`, of which nothing means all, for the list.
 */
function seesAll({ is_owner: isOwner, permissions }: PanelRecord): boolean {
  if (isOwner === true) return true;
  const { read, read_simple: list } = recordIn(recordIn(permissions)['users']);
  const isAll = read === true || recordIn(read)['scope'] === SCOPE.all;
  return isAll && recordIn(list)['scope'] !== SCOPE.own;
}

const KEY = /^pasarguard\/(?:(\d+)|name\/(.+))$/;

const api: PanelApi = {
  // It has API keys besides the tokens of admins, which are JWTs.
  headersOf: (token) => ({ ...bearer(token), ...(!token.includes('.') && { 'x-api-key': token }) }),
  view: {
    path: '/api/admin',
    adminIn(answer) {
      const { username, role, is_sudo: isSudo } = recordIn(answer);
      // Older versions have no roles.
      return isSudo === true || seesAll(recordIn(role)) ? '' : idIn(username) || 'unknown';
    },
  },
  idIn: (key) => KEY.exec(key)?.[1],
  userPath(key) {
    const [, id, name = ''] = KEY.exec(key) ?? [];
    const segment = id === undefined ? segmentOf(name) : `by-id/${id}`;
    return segment ? `/api/user/${segment}` : null;
  },
  userIn(answer) {
    const record = recordIn(answer);
    if (isEmpty(record)) return null;
    const { status } = record;
    const id = idIn(record['id']);
    if (typeof status !== 'string' || id === '') throw unexpected();
    return {
      id,
      // The days of a user on hold begin at the first connection.
      isActive: status === 'active' || status === 'on_hold',
      createdAtMs: timeIn(record['created_at']),
      subscriptionUrl: idIn(record['subscription_url']),
      record,
    };
  },
  async limitOf(record, settings) {
    const own = limitIn(record['hwid_limit']);
    if (own !== null) return pasarguardLimit(own, NO_ROLE, hwidIn({}));
    const common = recordIn(recordIn(await settings('/api/settings'))['hwid']);
    return pasarguardLimit(null, await roleOf(record['admin'], settings), hwidIn(common));
  },
  strangersKey: () => 'pasarguard/999999999',
  strangersRecord: { admin: { username: 'gatepost_asks_for_no_admin' } },
};

export const PASARGUARD: PanelTraits = {
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: false,
  keysAreExact: false,
  dropsUnknownKeys: false,
  hasOwnButton: true,
  queryNames: ['period', 'start', 'end'],
  api,
};
