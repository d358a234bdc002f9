/** The first use by a key of a further right, which makes one event: core/event/first-use.ts. */

import { afterNaming, keyFirstUsed } from '../../core/event/first-use.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Notes, Statements, Step } from '../backend.ts';
import { noticeMarks } from './notice.ts';
import { shared } from './shared.ts';

type FirstUse = Omit<Parameters<typeof keyFirstUsed>[0], 'providerCode'>;

/** Tells the provider and the operator about a first use. */
export function noteFirstUse(
  notes: Notes,
  { id, code: providerCode }: Pick<Provider, 'id' | 'code'>,
  use: FirstUse,
  atMs: number,
): void {
  for (const owner of [id, null]) {
    notes.event(owner, atMs, () => keyFirstUsed({ ...use, providerCode }));
  }
}

/** The subject of a provider's mark: how many HWIDs its keys named on the last day. */
const SUBJECT = 'named hwids';

/** Steps after HWIDs were named for a link of a locked provider. */
export const namingSteps = shared((statements: Statements) => {
  const marks = noticeMarks(statements);
  return {
    *named(notes: Notes, providerId: number, addedCount: number, act: Act): Step<void> {
      const { kind, key, name: code } = act.actor;
      if (kind !== 'provider' || key === undefined) return;
      const before = yield* marks.get(providerId, SUBJECT);
      const { mark, isFirst } = afterNaming(before, key, addedCount, act.atMs);
      yield* marks.set(providerId, SUBJECT, mark);
      if (!isFirst) return;
      noteFirstUse(
        notes,
        { id: providerId, code },
        { key, keyName: null, right: 'add_hwid' },
        act.atMs,
      );
    },
  };
});
