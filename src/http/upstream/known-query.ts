/** The query of a request for a subscription, as a panel that is known gets it. */

import { PANEL_TRAITS } from '../../core/panel/index.ts';
import type { PanelKind } from '../../core/panel/kind.ts';
import { parseQuery } from '../request/query.ts';

/**
 * Drops the parameters that the panel does not read: by another one it could take another
 * user. The rest keeps its bytes. `panel` null: all may be read.
 */
export function withKnownQuery(target: string, panel: PanelKind | null): string {
  const start = target.indexOf('?');
  if (panel === null || start < 0) return target;
  const { queryNames } = PANEL_TRAITS[panel];
  const kept = target
    .slice(start + 1)
    .split('&')
    .filter((part) => parseQuery(`?${part}`, true).every(([name]) => queryNames.includes(name)));
  const query = kept.filter((part) => part !== '').join('&');
  return query === '' ? target.slice(0, start) : `${target.slice(0, start)}?${query}`;
}
