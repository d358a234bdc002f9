/** Calls of API and command line about ties of keys to links: core/link-tie.ts. */

import { Type } from '@sinclair/typebox';
import { LOOK, OWN } from '../core/account/roles.ts';
import { agreeTies, giveKeys, switchTies, undoTies } from '../core/link-tie.ts';
import { TIE_STATES } from '../core/port/link-tie.ts';
import { type DoerFor, sharedAccountCall, sharedCall, sharedStaffCall } from './call.ts';
import { anyOf, atProvider, id, text, timeMs } from './inputs.ts';

/** The most ties, or keys, of a call. */
export const TIES_MAX = 100;
/** The most ties of a page. */
export const TIES_PAGE = 500;

const ids = Type.Array(id, { minItems: 1, maxItems: TIES_MAX });

export const tieCalls = {
  'ties.list': sharedStaffCall(
    LOOK,
    [],
    { api: { path: '/api/list-ties', needs: 'read' } },
    atProvider({
      state: anyOf(TIE_STATES),
      afterId: Type.Optional(id),
      sinceMs: Type.Optional(timeMs),
    }),
    async ({ core: { store }, provider }: DoerFor, { state, afterId = 0, sinceMs = 0 }) => ({
      isOn: (await store.findTiesSwitch(provider.id)) === true,
      ties: await store.listTies(provider.id, state, { afterId, sinceMs, countMax: TIES_PAGE }),
    }),
  ),
  'ties.make': sharedAccountCall(
    OWN,
    ['install.tie', 'install.update', 'install.remove'],
    { api: { path: '/api/tie-keys', needs: 'ties' }, commands: ['link tie'] },
    atProvider({ ids }),
    ({ core, nowMs, provider }: DoerFor, given) => agreeTies(core, provider, given.ids, nowMs),
  ),
  'ties.undo': sharedAccountCall(
    OWN,
    ['install.untie', 'install.update'],
    { api: { path: '/api/untie-keys', needs: 'ties' }, commands: ['link untie'] },
    atProvider({ ids }),
    ({ core, nowMs, provider }: DoerFor, given) => undoTies(core, provider, given.ids, nowMs),
  ),
  /** Lets fetches tie keys, or no longer. */
  'ties.switch': sharedAccountCall(
    OWN,
    ['provider.ties'],
    { commands: ['link ties'] },
    atProvider({ isOn: Type.Boolean() }),
    ({ core, nowMs, provider }: DoerFor, { isOn }) => switchTies(core, provider, isOn, nowMs),
  ),
};

/** Calls of the API that the console does not serve: it has files. */
export const keyCalls = {
  /** Gives links that exist their keys, and joins those that the proxy made for the keys. */
  'links.give-keys': sharedCall(
    OWN,
    ['install.tie', 'install.update', 'install.remove'],
    { api: { path: '/api/set-keys', needs: 'ties' } },
    atProvider({
      links: Type.Array(Type.Object({ installCode: text(64), key: text(1_024) }), {
        minItems: 1,
        maxItems: TIES_MAX,
      }),
    }),
    ({ core, nowMs, provider }: DoerFor, given) => giveKeys(core, provider, given.links, nowMs),
  ),
};
