/** The query of a request for a subscription, as the panel gets it. */

import { PANEL_TRAITS } from '../../core/panel/index.ts';
import type { PanelKind } from '../../core/panel/kind.ts';
import { parseQuery } from '../request/query.ts';

/** The name of the code of a link, which no panel reads and a panel's log would keep. */
const CODE_NAME = 'installid';

/**
 * Drops the code of a link, and the parameters that the panel does not read: by another one it
 * could take another user. The rest keeps its bytes. `panel` null: all others may be read.
 */
export function withKnownQuery(target: string, panel: PanelKind | null): string {
  const start = target.indexOf('?');
  if (start < 0) return target;
  const names = panel && PANEL_TRAITS[panel].queryNames;
  const isRead = ([name]: readonly [string, ...unknown[]]) =>
    names === null ? name !== CODE_NAME : names.includes(name);
  const parts = target.slice(start + 1).split('&');
  const kept = parts.filter((part) => [...parseQuery(`?${part}`, true)].every(isRead));
  if (names === null && kept.length === parts.length) return target;
  const query = kept.filter((part) => part !== '').join('&');
  return query === '' ? target.slice(0, start) : `${target.slice(0, start)}?${query}`;
}
