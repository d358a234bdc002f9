/** Calls of the console: the provider's part of the audit log. */

import { holds, OWN, REVIEW } from '../core/account/roles.ts';
import { ACTION_GROUPS, ACTOR_KINDS, pageAudit } from '../core/audit/page.ts';
import { lookCall } from './call.ts';
import { anyOf, atProvider, id, inputOf, nullable } from './inputs.ts';

const PAGE_COUNT = 50;

export const activityCalls = {
  'activity.list': lookCall(
    REVIEW,
    atProvider({
      who: nullable(anyOf(ACTOR_KINDS)),
      group: nullable(anyOf(ACTION_GROUPS)),
      before: nullable(inputOf({ block: id, entry: id })),
    }),
    async ({ core, provider, signedIn }, { who, group, before }) => {
      const page = { providerCode: provider.code, who, group, before, countMax: PAGE_COUNT };
      const { entries, next } = await pageAudit(core, page);
      // Addresses are personal data: only people who manage the staff see them, and only of the
      // staff.
      const seesAddresses = holds(OWN, signedIn.grants, provider.id);
      const rows = entries.map(({ at, from, who: kind, ...entry }) => ({
        number: entry.number,
        atMs: Date.parse(at),
        who: kind,
        name: entry.name,
        action: entry.action,
        object: entry.object,
        change: entry.change ?? {},
        key: entry.key ?? null,
        from: seesAddresses && kind !== 'operator' ? from : null,
      }));
      return { rows, next };
    },
  ),
};
