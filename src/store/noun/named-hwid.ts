/** HWIDs that a provider names for a link before they come. */

import * as deeds from '../../core/audit/deeds.ts';
import { NO_FACTS } from '../../core/device-facts.ts';
import * as happenings from '../../core/event/happenings.ts';
import { hwidOfHash } from '../../core/formats.ts';
import type { NamedHwidStore } from '../../core/port/named-hwid.ts';
import { hwidHash } from '../../core/secret.ts';
import type { Backend } from '../backend.ts';
import { namingSteps } from './key-use.ts';
import { linkSelection } from './link.ts';
import { namedRows } from './named-hwid-rows.ts';

export function namedHwidNoun(backend: Backend): NamedHwidStore {
  const on = namedRows(backend);
  const { select, lock } = linkSelection(backend);
  const naming = namingSteps(backend);

  return {
    nameHwids: (providerId, selector, hwids, namedMax, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const found = yield* select(providerId, selector);
        const link = found && (yield* lock(providerId, found.id));
        if (link === null) return 'install_code_error';
        const { id: installId, deviceCount, installLimit } = link;
        const hashed = hwids.map((hwid) => hwidOfHash(hwidHash(hwid)));
        const here = yield* on.onLink.all({ installId, hwids: [...hwids, ...hashed] });
        const known = new Set(here.map(({ hwid }) => hwid));
        const added = hwids.filter((hwid, n) => !known.has(hwid) && !known.has(hashed[n] ?? ''));
        const same = { installId, deviceCount, addedCount: 0 };
        if (added.length === 0) return same;
        if (deviceCount + added.length > installLimit) return 'link_full';
        const countMax = namedMax + 1;
        const named = (yield* on.countOfProvider.get({ providerId, countMax }))?.count ?? 0;
        if (named + added.length > namedMax) return 'named_limit';
        for (const hwid of added) {
          const row = { installId, providerId, hwid, namedAtMs: act.atMs };
          yield* on.add.run({ ...row, ...NO_FACTS });
        }
        yield* on.mark.run({ installId });
        notes.audit(act, deeds.nameHwids(installId, added), providerId);
        yield* naming.named(notes, providerId, added.length, act);
        const after = { id: installId, installLimit, deviceCount: deviceCount + added.length };
        if (after.deviceCount === installLimit) {
          notes.event(providerId, act.atMs, () => happenings.linkFull(after));
        }
        return { installId, deviceCount: after.deviceCount, addedCount: added.length };
      }),

    listNamed: (installId) => backend.read(() => on.list.all({ installId })),
  };
}
